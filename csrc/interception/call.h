// What happens behind all stubs.
#ifndef RLSCOPE_INTERCEPTION_CALL_H_
#define RLSCOPE_INTERCEPTION_CALL_H_

#include <stdint.h>

#include "interception/entries.h"

namespace rlscope::interception {

// Calls that a stub needs, as recorded, until it counts as hot: fewer than a training loop makes in
// its first iterations, more than imports and set-up do.
constexpr uint16_t kCallsUntilHot = 64;

// A stub calls entries[index].original with the same arguments and returns what it returns, all 64
// bits. If the process records and no native call is open on this thread, the call is one complete
// record (runtime/native_call.h). Errors are the callee's own: nothing here looks at them. May be
// unwound through.
//
// What comes before and after the call is in assembler on x86-64 (stubs_x86_64.S) and in
// rlscope_call() elsewhere, as far as it is usual. The rest is here.
extern "C" {

// Before a call that is not usual: 0 if nothing is to be done after it, else what
// rlscope_end_rarely() must be told, with the sign bit set.
uint64_t rlscope_begin_rarely(const Entry* entry);

// After the call; each returns its result.
void* rlscope_end_rarely(void* result, uint32_t begun);
// Something was recorded inside, or the call is not whole any more.
void* rlscope_end_unusually(void* result);
// It took longer than 2^32 ticks: the record in the slot, which lacks its duration and the word
// that makes it valid, is taken back.
void* rlscope_end_long(void* result, struct rlscope_slot* slot, uint64_t start, uint32_t word,
                       uint64_t end);
void* rlscope_look_at(void* result);

}  // extern "C"

// What others want to know of calls; set before the first patch. All but the first may be null.
struct CallHooks {
  void (*result)(void* result);  // of functions with kResultHook, recorded or not
  void (*hot)(uint32_t index);   // a stub was called kCallsUntilHot times
  void (*window_began)();        // a call is the first to see that recording has started
  void (*thread_began)();        // a call is its thread's first record
};
extern CallHooks call_hooks;

// Calls of stubs whose patches are taken out.
uint64_t PassedThrough();

}  // namespace rlscope::interception

#endif  // RLSCOPE_INTERCEPTION_CALL_H_
