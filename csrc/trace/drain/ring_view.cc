#include "trace/drain/ring_view.h"

#include <errno.h>
#include <sys/mman.h>

#include "trace/drain/mapped_file.h"

namespace rlscope::trace {
namespace {

bool IsPowerOfTwo(uint64_t value) { return value != 0 && (value & (value - 1)) == 0; }

constexpr uint64_t kMostBytes = kPageSize + kLargestRingBytes;

// Checked against the file's size, and copied: the page's own value may change at any time.
bool CapacityFits(uint64_t capacity, uint64_t bytes) {
  return IsPowerOfTwo(capacity) && capacity >= 2 && bytes == kPageSize + capacity * sizeof(Slot);
}

}  // namespace

RingView::~RingView() {
  if (page_ != nullptr) munmap(page_, bytes_);
}

int RingView::Open(const char* path, uint32_t number, bool writable) {
  void* address;
  if (const int error = MapFile(path, kMostBytes, writable, &address, &bytes_)) return error;
  page_ = static_cast<RingPage*>(address);
  const uint64_t magic = __atomic_load_n(&page_->magic, __ATOMIC_ACQUIRE);
  number_ = number;
  capacity_ = page_->capacity;
  use_ = static_cast<RingUse>(page_->use);
  slots_ = reinterpret_cast<const Slot*>(static_cast<const char*>(address) + kPageSize);
  if (magic == kRingMagic && IsSane()) return 0;
  munmap(address, bytes_);
  page_ = nullptr;
  return magic == 0 ? EAGAIN : EINVAL;
}

bool RingView::IsSane() const {
  return CapacityFits(capacity_, bytes_) && use_ <= RingUse::kGpu && page_->thread <= kMaxId &&
         TailIsInRing();
}

// Neither end of the unread part is further from the other than the ring is long, and the slot
// before it was written. Both may move on meanwhile, so the head is read before and after the tail.
bool RingView::TailIsInRing() const {
  const uint64_t head_before = head();
  const uint64_t position = tail();
  const uint64_t head_after = head();
  if (head_before > position && head_before - position > capacity_) return false;
  if (position > head_after && position - head_after > capacity_) return false;
  Slot slot;
  return position == 0 || ReadSlot(position, &slot) || ReadSlot(position - 1, &slot) ||
         tail() != position;
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

bool RingView::ReadOpenWait(uint64_t position, Slot* begin) const {
  const uint32_t word = __atomic_load_n(&page_->wait_word, __ATOMIC_ACQUIRE);
  begin->tsc = __atomic_load_n(&page_->wait_ticks, __ATOMIC_ACQUIRE);
  begin->duration = 0;
  begin->word = MakeWord(kCallBegin, IdOf(word), 0);
  // A living thread may be in another wait by now.
  const bool is_same = __atomic_load_n(&page_->wait_word, __ATOMIC_ACQUIRE) == word;
  Slot slot;
  return KindOf(word) == kCall && is_same && !ReadSlot(position, &slot);
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
