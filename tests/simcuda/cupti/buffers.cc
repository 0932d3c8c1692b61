#include "cupti/buffers.h"

#include <atomic>
#include <cstring>
#include <map>
#include <mutex>
#include <string>
#include <utility>

#include "cupti/settings.h"
#include "cupti/status.h"

namespace simcuda {
namespace {

struct Buffer {
  uint8_t* start = nullptr;
  size_t bytes = 0;
  size_t valid = 0;
  size_t records = 0;
  size_t max_records = 0;  // 0: as many as fit

  bool Takes(size_t more) const {
    return valid + more <= bytes && (max_records == 0 || records < max_records);
  }
};

struct Buffers {
  std::recursive_mutex lock;
  std::map<uint32_t, Buffer> by_thread;  // one entry, 0, when threads share
  BufferRequested requested = nullptr;
  BufferCompleted completed = nullptr;
  bool per_thread = GetSettings().version->number >= 21;  // 12.3
  uint64_t records = 0;
  size_t dropped = 0;
};

Buffers& All() {
  static Buffers& buffers = *new Buffers;
  return buffers;
}

Buffer& BufferOf(uint32_t thread) {
  Buffers& all = All();
  Buffer& buffer = all.by_thread[all.per_thread ? thread : 0];
  if (buffer.start == nullptr && all.requested != nullptr) {
    all.requested(&buffer.start, &buffer.bytes, &buffer.max_records);
  }
  return buffer;
}

void Complete(Buffer* buffer) {
  Buffer full = *buffer;
  *buffer = Buffer{};
  if (All().completed != nullptr) All().completed(nullptr, 0, full.start, full.bytes, full.valid);
}

void WriteDrop(const Bytes& record) {
  uint32_t kind = 0;
  memcpy(&kind, record.data(), sizeof(kind));
  std::string line =
      "{\"type\":\"cupti\",\"event\":\"dropped\",\"kind\":" + std::to_string(kind) + "}\n";
  FindCore()->write_truth(line.data(), line.size());
}

void Drop(const Bytes& record) {
  ++All().dropped;
  WriteDrop(record);
}

bool LosesNext() {
  uint32_t every = GetSettings().drop_every;
  return every != 0 && ++All().records % every == 0;
}

}  // namespace

int SetBufferFunctions(BufferRequested requested, BufferCompleted completed) {
  if (requested == nullptr || completed == nullptr) return kCuptiInvalidParameter;
  std::lock_guard<std::recursive_mutex> guard(All().lock);
  All().requested = requested;
  All().completed = completed;
  return kCuptiSuccess;
}

bool HaveBufferFunctions() {
  std::lock_guard<std::recursive_mutex> guard(All().lock);
  return All().requested != nullptr;
}

void SetPerThreadBuffers(bool on) {
  std::lock_guard<std::recursive_mutex> guard(All().lock);
  All().per_thread = on;
}

bool PerThreadBuffers() {
  std::lock_guard<std::recursive_mutex> guard(All().lock);
  return All().per_thread;
}

void PrepareBuffer(uint32_t thread) {
  std::lock_guard<std::recursive_mutex> guard(All().lock);
  BufferOf(thread);
}

void PutRecord(uint32_t thread, const Bytes& record) {
  if (record.empty()) return;
  std::lock_guard<std::recursive_mutex> guard(All().lock);
  if (LosesNext()) return Drop(record);
  Buffer* buffer = &BufferOf(thread);
  if (buffer->start != nullptr && !buffer->Takes(record.size())) {
    Complete(buffer);
    buffer = &BufferOf(thread);
  }
  if (buffer->start == nullptr || !buffer->Takes(record.size())) return Drop(record);
  memcpy(buffer->start + buffer->valid, record.data(), record.size());
  buffer->valid += record.size();
  ++buffer->records;
}

void CompleteBuffers() {
  std::lock_guard<std::recursive_mutex> guard(All().lock);
  for (auto& [thread, buffer] : All().by_thread) {
    if (buffer.start != nullptr && buffer.valid > 0) Complete(&buffer);
  }
}

size_t TakeDroppedRecords() {
  std::lock_guard<std::recursive_mutex> guard(All().lock);
  return std::exchange(All().dropped, 0);
}

}  // namespace simcuda
