#include "core/copy_work.h"

#include <cstring>

#include "core/context.h"
#include "core/memory.h"

namespace simcuda {
namespace {

bool OnDevice(const MemoryRange& range) {
  return range.kind == MemoryKind::kDevice || range.kind == MemoryKind::kManaged;
}

Direction DirectionOf(const MemoryRange& source, const MemoryRange& destination) {
  if (OnDevice(source) && OnDevice(destination)) {
    return source.device == destination.device ? kDeviceToDevice : kPeer;
  }
  if (OnDevice(source)) return kDeviceToHost;
  return OnDevice(destination) ? kHostToDevice : kHostToHost;
}

uint32_t PrimaryContextId(int device) {
  std::lock_guard<std::mutex> guard(ModelLock());
  const Context* context = PrimaryContext(device, false);
  return context == nullptr ? 0 : context->id;
}

void Move(const Rows& rows) {
  for (size_t row = 0; row < rows.height; ++row) {
    memmove(static_cast<char*>(rows.destination) + row * rows.destination_pitch,
            static_cast<const char*>(rows.source) + row * rows.source_pitch, rows.width);
  }
}

void Fill(char* destination, uint32_t value, size_t element_bytes, size_t count) {
  for (size_t i = 0; i < count; ++i) memcpy(destination + i * element_bytes, &value, element_bytes);
}

}  // namespace

Rows OneRow(void* destination, const void* source, size_t bytes) {
  return {destination, bytes, source, bytes, bytes, 1};
}

Work CopyWork(const Rows& rows, bool asynchronous) {
  MemoryRange source = FindMemory(rows.source);
  MemoryRange destination = FindMemory(rows.destination);
  Work work;
  work.type = NodeType::kMemcpy;
  DeviceOperation& operation = work.operation;
  operation.direction = DirectionOf(source, destination);
  operation.kind =
      operation.direction == kPeer ? OperationKind::kPeerMemcpy : OperationKind::kMemcpy;
  operation.bytes = rows.width * rows.height;
  operation.source = source.kind;
  operation.destination = destination.kind;
  operation.asynchronous = asynchronous;
  operation.source_device = static_cast<uint32_t>(source.device);
  operation.destination_device = static_cast<uint32_t>(destination.device);
  if (operation.direction == kPeer) {
    operation.source_context = PrimaryContextId(source.device);
    operation.destination_context = PrimaryContextId(destination.device);
  }
  work.effect = [rows] { Move(rows); };
  return work;
}

bool WaitsForPageable(const Work& copy) {
  const DeviceOperation& operation = copy.operation;
  return operation.direction == kDeviceToHost && operation.destination == MemoryKind::kPageable;
}

Work MemsetWork(void* destination, size_t pitch, uint32_t value, size_t element_bytes, size_t width,
                size_t height, bool asynchronous) {
  Work work;
  work.type = NodeType::kMemset;
  work.operation.kind = OperationKind::kMemset;
  work.operation.bytes = element_bytes * width * height;
  work.operation.value = value;
  work.operation.destination = FindMemory(destination).kind;
  work.operation.asynchronous = asynchronous;
  work.effect = [=] {
    for (size_t row = 0; row < height; ++row) {
      Fill(static_cast<char*>(destination) + row * pitch, value, element_bytes, width);
    }
  };
  return work;
}

}  // namespace simcuda
