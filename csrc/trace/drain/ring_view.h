// A ring seen from the draining side: a mapped file that a producer goes on writing and that may
// hold anything. Every slot is copied once and only the copy is looked at.
#ifndef RLSCOPE_TRACE_DRAIN_RING_VIEW_H_
#define RLSCOPE_TRACE_DRAIN_RING_VIEW_H_

#include <stdint.h>

#include "trace/layout/record.h"
#include "trace/layout/shared_pages.h"

namespace rlscope::trace {

// One record as found in a ring.
struct RingRecord {
  Slot first;
  Slot more[kMostSlots - 1];  // further slots
  uint32_t slots;             // SlotsOf(kind): how far the position moves
};

class RingView {
 public:
  RingView() = default;
  ~RingView();
  RingView(const RingView&) = delete;
  RingView& operator=(const RingView&) = delete;

  // Maps the file of ring `number`. 0 or an errno: ENOENT, EAGAIN (not complete yet), EINVAL (not a
  // ring, or a damaged one), or what else OpenRegular() found.
  int Open(const char* path, uint32_t number, bool writable);

  // The record at `position`; false when the producer has not written it (or what is there is of
  // another lap, or half of a record).
  bool Read(uint64_t position, RingRecord* record) const;

  // The begin of the wait that the thread is in and has no record of, as the record that would come
  // at `position`; false: there is none, or it has one by now.
  bool ReadOpenWait(uint64_t position, Slot* begin) const;

  // Whether the slot at `position` may be left over at the end of the ring.
  bool MayBePadded(uint64_t position) const {
    return (position & (capacity_ - 1)) + kMostSlots > capacity_;
  }

  uint32_t number() const { return number_; }
  uint64_t capacity() const { return capacity_; }
  uint64_t tail() const { return __atomic_load_n(&page_->tail, __ATOMIC_ACQUIRE); }
  uint32_t thread() const { return static_cast<uint32_t>(page_->thread); }
  RingUse use() const { return use_; }
  uint32_t previous() const { return page_->previous; }
  uint64_t head() const { return __atomic_load_n(&page_->head, __ATOMIC_ACQUIRE); }
  // Where a chunk must end that begins at `position`: another drainer was about to write it.
  // UINT64_MAX: nowhere.
  uint64_t CutAfter(uint64_t position) const;

  // Writable views only. Says that the chunk from the tail to `end` is about to be written.
  void SetIntent(uint64_t end) { __atomic_store_n(&page_->intent, end, __ATOMIC_RELEASE); }
  // Gives all slots below `position` back to the producer. Never moves back: a drainer that was
  // stopped while another took over wakes up with an old position.
  void MoveTail(uint64_t position) {
    if (position > tail()) __atomic_store_n(&page_->tail, position, __ATOMIC_RELEASE);
  }

 private:
  bool IsSane() const;
  bool TailIsInRing() const;
  bool ReadSlot(uint64_t position, Slot* slot) const;

  RingPage* page_ = nullptr;
  uint32_t number_ = 0;
  RingUse use_ = RingUse::kThread;
  const Slot* slots_ = nullptr;
  uint64_t capacity_ = 0;
  uint64_t bytes_ = 0;
};

}  // namespace rlscope::trace

#endif  // RLSCOPE_TRACE_DRAIN_RING_VIEW_H_
