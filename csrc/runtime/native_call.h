// Native calls as records. Only the outermost call of a stretch of Python is one; while it is open
// its thread holds its begin back, so that it ends as one complete record:
//
//   Python  ----.                          .-----    kCall [start, end)
//   native      '--------------------------'
//
//   Python  ----.       .--- enter ---.    .-----    kCallBegin, kCallbackBegin, kOperationEnter,
//   native      '-------'             '----'         kCallbackEnd, kCallEnd
//
// A record inside, a callback's begin too, goes through HasRoom(), and so writes
// the begin that was held back first.
#ifndef RLSCOPE_RUNTIME_NATIVE_CALL_H_
#define RLSCOPE_RUNTIME_NATIVE_CALL_H_

#include <stdint.h>

#include "runtime/hot.h"

namespace rlscope::runtime {

inline bool IsInCall() { return rlscope_self.call != 0; }

// A native call begins on the thread `self`, the calling one; `word` =
// trace::MakeWord(trace::kCall, name, 0). Only after IsRecording() and HasRoom(), and not
// IsInCall().
inline __attribute__((always_inline)) void BeginCall(struct rlscope_thread* self, uint32_t word,
                                                     uint64_t ticks) {
  self->call = word;
  self->call_start = ticks;
}

// A call that was held back and has returned: its record, but for the duration.
struct HeldCall {
  struct rlscope_slot* slot;
  uint64_t start;
  uint32_t word;
};

// Ends the call that BeginCall() began on this C stack, all but WriteHeldCall(). False: it is not
// whole any more, and rlscope_end_call() must follow. One slot is free if nothing was written since
// HasRoom(); a fork or a new session shows in the generation, that of rlscope_process now.
inline __attribute__((always_inline)) bool TakeHeldCall(struct rlscope_thread* self,
                                                        uint32_t generation, HeldCall* held) {
  held->slot = self->cursor;
  held->start = self->call_start;
  held->word = self->call | self->lap;
  if (IsRare(held->start == 0) || IsRare(held->slot == self->limit) ||
      IsRare(self->generation != generation)) {
    return false;
  }
  held->slot->tsc = held->start;
  PrefetchToWrite(held->slot + kSlotsAhead);
  self->cursor = held->slot + 1;
  self->call_start = 0;
  self->call = 0;
  return true;
}

// It returned at `ticks`. False: after more than 2^32 ticks, and EndLongCall() must follow.
inline __attribute__((always_inline)) bool WriteHeldCall(const HeldCall& held, uint64_t ticks) {
  if (IsRare(ticks - held.start > UINT32_MAX)) return false;
  held.slot->duration = static_cast<uint32_t>(ticks - held.start);
  __atomic_store_n(&held.slot->word, held.word, __ATOMIC_RELEASE);
  return true;
}

// The call that BeginCall() began on this C stack returned, and is to leave no record. False: it
// has left one already, or something was recorded inside, and EndCall() must follow.
inline bool DropCall(struct rlscope_thread* self, uint32_t generation) {
  if (self->call_start == 0 || self->generation != generation) return false;
  self->call_start = 0;
  self->call = 0;
  return true;
}

inline void EndLongCall(struct rlscope_thread* self, const HeldCall& held, uint64_t ticks) {
  self->cursor = held.slot;
  self->call_start = held.start;
  self->call = held.word & ~trace::kLapMask;
  rlscope_end_call(ticks);
}

// The call that BeginCall() began on this C stack returned at `ticks`, whatever happened inside.
inline void EndCall(struct rlscope_thread* self, uint32_t generation, uint64_t ticks) {
  HeldCall held;
  if (!TakeHeldCall(self, generation, &held)) return rlscope_end_call(ticks);
  if (!WriteHeldCall(held, ticks)) EndLongCall(self, held, ticks);
}

}  // namespace rlscope::runtime

#endif  // RLSCOPE_RUNTIME_NATIVE_CALL_H_
