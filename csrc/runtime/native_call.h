// Native calls as records. Only the outermost call of a stretch of Python is one; while it is open
// its thread holds its begin back, so that it ends as one complete record:
//
//   Python  ----.                          .-----    kCall [start, end)
//   native      '--------------------------'
//
//   Python  ----.       .--- enter ---.    .-----    kCallBegin, kCallbackBegin, kOperationEnter,
//   native      '-------'             '----'         kCallbackEnd, kCallEnd
//
// Whoever records something inside, be it a callback's begin, goes through HasRoom(), and so writes
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

// The call that BeginCall() began on this C stack returned at `ticks`, whatever happened inside.
// One slot is free if nothing was written since HasRoom(); a fork or a new session shows in the
// generation, that of rlscope_process now. A call longer than 2^32 ticks is left to the slow half.
inline __attribute__((always_inline)) void EndCall(struct rlscope_thread* self, uint32_t generation,
                                                   uint64_t ticks) {
  const uint64_t start = self->call_start;
  struct rlscope_slot* slot = self->cursor;
  if (IsRare(start == 0) || IsRare(slot == self->limit) || IsRare(self->generation != generation) ||
      IsRare(ticks - start > UINT32_MAX)) {
    return rlscope_end_call(ticks);
  }
  slot->tsc = start;
  slot->duration = static_cast<uint32_t>(ticks - start);
  __atomic_store_n(&slot->word, self->call | self->lap, __ATOMIC_RELEASE);
  self->cursor = slot + 1;
  self->call_start = 0;
  self->call = 0;
}

}  // namespace rlscope::runtime

#endif  // RLSCOPE_RUNTIME_NATIVE_CALL_H_
