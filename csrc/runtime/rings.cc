#include "runtime/rings.h"

#include <errno.h>
#include <string.h>

#include "runtime/detached.h"
#include "runtime/image.h"
#include "runtime/process.h"
#include "runtime/shared_file.h"
#include "runtime/syscalls.h"

namespace rlscope::runtime {
namespace {

using trace::RingPage;
using trace::RingState;

constexpr uint32_t kMaxRings = 1024;  // 64 MiB / 68 KiB = 963

Ring rings[kMaxRings];
uint32_t ring_count = 0;    // places in use, from the start
uint32_t files_made = 0;    // of this image; rings are numbered from 1
uint64_t bytes_mapped = 0;  // of this image

uint64_t MappedBytes(uint64_t slot_bytes) { return trace::kPageSize + slot_bytes; }

struct NewRing {
  const char* path;
  uint64_t bytes;
  void* address;
};
void CreateRingFile(void* argument) {
  auto* ring = static_cast<NewRing*>(argument);
  int error = 0;
  ring->address = CreateShared(ring->path, ring->bytes, &error);
}

// A ring whose records are all in the file, and which no thread writes.
bool IsFree(const Ring& ring, trace::RingUse use) {
  return ring.page != nullptr && !ring.attached && ring.page->use == static_cast<uint32_t>(use) &&
         ring.generation == rlscope_process.generation &&
         __atomic_load_n(&ring.page->tail, __ATOMIC_ACQUIRE) == ring.page->head;
}

Ring* EmptyPlace() {
  for (uint32_t i = 0; i < ring_count; i++) {
    if (rings[i].page == nullptr) return &rings[i];
  }
  return ring_count == kMaxRings ? nullptr : &rings[ring_count++];
}

void FillPage(RingPage* page, uint64_t slot_bytes, trace::RingUse use) {
  page->abi_version = trace::kAbiVersion;
  page->number = files_made;
  page->use = static_cast<uint32_t>(use);
  page->capacity = slot_bytes / sizeof(rlscope_slot);
  page->began_ns = static_cast<uint64_t>(process.began_ns);
}

Ring* CreateRing(uint64_t slot_bytes, trace::RingUse use) {
  const uint64_t bytes = MappedBytes(slot_bytes);
  Ring* ring = EmptyPlace();
  if (ring == nullptr || bytes_mapped + bytes > trace::kProcessRingBytes) return nullptr;
  char path[kImagePathBytes];
  MakeImagePath(path, files_made + 1, ".ring");
  NewRing file = {path, bytes, nullptr};
  RunDetached(&CreateRingFile, &file);
  if (file.address == nullptr) return nullptr;
  Prefault(file.address, bytes, /*dont_fork=*/process.wipes_on_fork);
  files_made++;
  bytes_mapped += bytes;
  __atomic_store_n(&image.page->ring_bytes, bytes_mapped, __ATOMIC_RELAXED);
  auto* page = static_cast<RingPage*>(file.address);
  FillPage(page, slot_bytes, use);
  *ring = Ring();
  ring->page = page;
  ring->slots =
      reinterpret_cast<rlscope_slot*>(static_cast<char*>(file.address) + trace::kPageSize);
  ring->capacity = page->capacity;
  ring->generation = rlscope_process.generation;
  return ring;
}

Ring* Attach(Ring* ring) {
  ring->attached = true;
  ring->lost = 0;
  ring->short_waits = 0;
  ring->calls = nullptr;
  ring->os_tid = 0;
  __atomic_store_n(&ring->page->state, static_cast<uint32_t>(RingState::kActive), __ATOMIC_RELEASE);
  return ring;
}

}  // namespace

Ring* TakeRecycledRing(uint64_t least_bytes, trace::RingUse use) {
  Ring* smallest = nullptr;
  for (uint32_t i = 0; i < ring_count; i++) {
    if (!IsFree(rings[i], use) || rings[i].capacity * sizeof(rlscope_slot) < least_bytes) continue;
    if (smallest == nullptr || rings[i].capacity < smallest->capacity) smallest = &rings[i];
  }
  return smallest == nullptr ? nullptr : Attach(smallest);
}

Ring* TakeRing(uint64_t bytes, trace::RingUse use) {
  if (Ring* ring = TakeRecycledRing(bytes, use)) return ring;
  Ring* ring = CreateRing(bytes, use);
  return ring == nullptr ? nullptr : Attach(ring);
}

void ForEachThread(void (*visit)(uint32_t thread, uint32_t os_tid, void* argument),
                   void* argument) {
  for (uint32_t i = 0; i < ring_count; i++) {
    const Ring& ring = rings[i];
    const bool has_thread = ring.page != nullptr && ring.attached && ring.os_tid != 0 &&
                            ring.generation == rlscope_process.generation;
    if (has_thread) visit(static_cast<uint32_t>(ring.page->thread), ring.os_tid, argument);
  }
}

void GiveRingBack(Ring* ring, uint64_t end) {
  __atomic_store_n(&ring->page->wait_word, 0, __ATOMIC_RELEASE);
  __atomic_store_n(&ring->page->head, end, __ATOMIC_RELEASE);
  __atomic_store_n(&ring->page->state, static_cast<uint32_t>(RingState::kThreadEnded),
                   __ATOMIC_RELEASE);
  ring->attached = false;
}

void DropRing(Ring* ring) {
  if (ring->calls != nullptr) {
    DropRing(static_cast<Ring*>(ring->calls->self.ring));
    FreeWriter(ring->calls);
  }
  SysUnmap(ring->page, MappedBytes(ring->capacity * sizeof(rlscope_slot)));
  *ring = Ring();
}

void DropRings(Ring* own) {
  for (uint32_t i = 0; i < ring_count; i++) {
    Ring* ring = &rings[i];
    if (ring->page != nullptr && (!ring->attached || ring == own)) DropRing(ring);
  }
  files_made = 0;
  bytes_mapped = 0;
}

void ForgetRings() {
  memset(rings, 0, sizeof *rings * ring_count);
  ring_count = 0;
  files_made = 0;
  bytes_mapped = 0;
}

}  // namespace rlscope::runtime
