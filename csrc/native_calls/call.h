// The one function behind all stubs.
#ifndef RLSCOPE_NATIVE_CALLS_CALL_H_
#define RLSCOPE_NATIVE_CALLS_CALL_H_

#include <stdint.h>

namespace rlscope::native_calls {

// Calls that a stub needs, as recorded, until it counts as hot: fewer than a training loop makes in
// its first iterations, more than imports and set-up do.
constexpr uint16_t kCallsUntilHot = 64;

// A wait, a serialization or a collection that takes less leaves no record.
constexpr uint64_t kShortestWaitNs = 5000;

// Calls entries[index].original with the same arguments and returns what it returns, all 64 bits.
// If the process records and no native call is open on this thread, the call is one complete record
// (runtime/native_call.h). Errors are the callee's own: nothing here looks at them. May be unwound
// through.
extern "C" __attribute__((visibility("hidden"))) void* rlscope_call(void* a, void* b, void* c,
                                                                    void* d, void* e,
                                                                    uint64_t index);

// Hooks of others on calls; set before the first patch. All but the first may be null.
struct CallHooks {
  void (*result)(void* result);  // of functions with kResultHook, recorded or not
  void (*hot)(uint32_t index);   // a stub was called kCallsUntilHot times
  void (*window_began)();        // a call is the first to see that recording has started
  void (*thread_began)();        // a call is its thread's first record
  // Whether the calling thread runs the main interpreter. Asked for functions with kSerializes,
  // which other interpreters share with it.
  bool (*in_main_interpreter)();
  // Calls the original of an entry with kWait.
  void* (*wait)(void* a, void* b, void* c, void* d, void* e, const struct Entry* entry);
};
extern CallHooks call_hooks;

// Makes ready whatever a record needs: a window that changed, a ring. True: the process records,
// and the calling thread has room for a record.
bool PrepareToRecord();

// A call that leaves no record if it was short. `word` = trace::MakeWord(trace::kCall, name, 0).
// False: it is not recorded, as where another call is open; else EndIfLong() follows on the same C
// stack.
bool BeginIfLong(uint32_t word);
// One that was short is only counted, unless something was recorded inside.
void EndIfLong();

// From now on calls of functions with kSerializes are recorded. Call it when the process has
// entered an operation: what it unpickles before, as a spawned process does, is its start-up.
void RecordSerialization();

// Calls of stubs whose patches are taken out.
uint64_t PassedThrough();

}  // namespace rlscope::native_calls

#endif  // RLSCOPE_NATIVE_CALLS_CALL_H_
