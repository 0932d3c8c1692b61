#include "core/memory.h"

#include <sys/mman.h>

#include <cstdlib>
#include <map>
#include <mutex>

namespace simcuda {
namespace {

struct Ranges {
  std::mutex lock;
  std::map<uintptr_t, MemoryRange> by_start;
  std::map<int, uint64_t> used_bytes;  // by device
};

Ranges& All() {
  static Ranges& ranges = *new Ranges;
  return ranges;
}

size_t Rounded(size_t bytes) { return bytes == 0 ? 512 : (bytes + 511) / 512 * 512; }

// Small blocks come from the heap; large ones are mapped, so that a program may reserve more than
// the machine has.
constexpr size_t kMappedBytes = 1 << 16;

void* Reserve(size_t bytes) {
  if (bytes < kMappedBytes) return aligned_alloc(512, bytes);
  void* block = mmap(nullptr, bytes, PROT_READ | PROT_WRITE,
                     MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  return block == MAP_FAILED ? nullptr : block;
}

void Release(const MemoryRange& range) {
  void* block = reinterpret_cast<void*>(range.start);
  range.bytes < kMappedBytes ? free(block) : static_cast<void>(munmap(block, range.bytes));
}

bool OnDevice(MemoryKind kind) {
  return kind == MemoryKind::kDevice || kind == MemoryKind::kManaged;
}

}  // namespace

void* AllocateMemory(size_t bytes, MemoryKind kind, int device) {
  Ranges& all = All();
  std::lock_guard<std::mutex> guard(all.lock);
  size_t rounded = Rounded(bytes);
  bool counted = OnDevice(kind);
  if (rounded < bytes || (counted && rounded > kDeviceBytes - all.used_bytes[device]))
    return nullptr;
  void* block = Reserve(rounded);
  if (block == nullptr) return nullptr;
  if (counted) all.used_bytes[device] += rounded;
  auto start = reinterpret_cast<uintptr_t>(block);
  all.by_start[start] = {start, rounded, kind, device, false};
  return block;
}

bool FreeMemory(void* pointer, bool pinned) {
  Ranges& all = All();
  std::lock_guard<std::mutex> guard(all.lock);
  auto found = all.by_start.find(reinterpret_cast<uintptr_t>(pointer));
  if (found == all.by_start.end() || found->second.registered) return false;
  const MemoryRange range = found->second;
  if (pinned != (range.kind == MemoryKind::kPinned)) return false;
  if (OnDevice(range.kind)) all.used_bytes[range.device] -= range.bytes;
  all.by_start.erase(found);
  Release(range);
  return true;
}

bool RegisterMemory(void* pointer, size_t bytes) {
  Ranges& all = All();
  std::lock_guard<std::mutex> guard(all.lock);
  auto start = reinterpret_cast<uintptr_t>(pointer);
  return all.by_start.insert({start, {start, bytes, MemoryKind::kPinned, 0, true}}).second;
}

bool UnregisterMemory(void* pointer) {
  Ranges& all = All();
  std::lock_guard<std::mutex> guard(all.lock);
  auto found = all.by_start.find(reinterpret_cast<uintptr_t>(pointer));
  if (found == all.by_start.end() || !found->second.registered) return false;
  all.by_start.erase(found);
  return true;
}

MemoryRange FindMemory(const void* pointer) {
  Ranges& all = All();
  std::lock_guard<std::mutex> guard(all.lock);
  auto address = reinterpret_cast<uintptr_t>(pointer);
  auto next = all.by_start.upper_bound(address);
  if (next != all.by_start.begin()) {
    const MemoryRange& range = std::prev(next)->second;
    if (address - range.start < range.bytes) return range;
  }
  return {address, 0, MemoryKind::kPageable, 0, false};
}

uint64_t FreeBytes(int device) {
  Ranges& all = All();
  std::lock_guard<std::mutex> guard(all.lock);
  return kDeviceBytes - all.used_bytes[device];
}

}  // namespace simcuda
