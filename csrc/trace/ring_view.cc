#include "trace/ring_view.h"

#include <errno.h>
#include <sys/mman.h>

#include "trace/mapped_file.h"

namespace rlscope::trace {
namespace {

bool IsPowerOfTwo(uint64_t value) { return value != 0 && (value & (value - 1)) == 0; }

// Checked against the file's size, and copied: the page's own value may change at any time.
bool CapacityFits(uint64_t capacity, uint64_t bytes) {
  return IsPowerOfTwo(capacity) && capacity >= 2 && bytes >= kPageSize &&
         capacity <= (bytes - kPageSize) / sizeof(Slot);
}

}  // namespace

RingView::~RingView() {
  if (page_ != nullptr) munmap(page_, bytes_);
}

int RingView::Open(const char* path, bool writable) {
  void* address;
  uint64_t bytes;
  if (const int error = MapFile(path, kPageSize, writable, &address, &bytes)) return error;
  auto* page = static_cast<RingPage*>(address);
  const uint64_t magic = __atomic_load_n(&page->magic, __ATOMIC_ACQUIRE);
  const uint64_t capacity = page->capacity;
  if (magic != kRingMagic || !CapacityFits(capacity, bytes)) {
    munmap(address, bytes);
    return magic == 0 ? EAGAIN : EINVAL;
  }
  page_ = page;
  bytes_ = bytes;
  number_ = page->number;
  use_ = static_cast<RingUse>(page->use);
  capacity_ = capacity;
  slots_ = reinterpret_cast<const Slot*>(static_cast<const char*>(address) + kPageSize);
  return 0;
}

uint64_t RingView::CutAfter(uint64_t position) const {
  const uint64_t intent = __atomic_load_n(&page_->intent, __ATOMIC_ACQUIRE);
  return intent > position && intent - position <= capacity_ ? intent : UINT64_MAX;
}

bool RingView::ReadSlot(uint64_t position, Slot* slot) const {
  const Slot* source = &slots_[position & (capacity_ - 1)];
  slot->word = __atomic_load_n(&source->word, __ATOMIC_ACQUIRE);
  slot->tsc = source->tsc;
  slot->duration = source->duration;
  return (slot->word & kLapMask) == LapOf(position, capacity_);
}

bool RingView::Read(uint64_t position, RingRecord* record) const {
  if (!ReadSlot(position, &record->first)) return false;
  record->slots = SlotsOf(KindOf(record->first.word));
  for (uint32_t i = 1; i < record->slots; i++) {
    Slot* slot = &record->more[i - 1];
    if (!ReadSlot(position + i, slot) || KindOf(slot->word) != kContinued) return false;
  }
  return true;
}

}  // namespace rlscope::trace
