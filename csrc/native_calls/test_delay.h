// Test hook: records that take a known time longer, so that tests know what a correction must find.
//
//   RLSCOPE_TEST_DELAY="operation=500,native call=1400,native call inside=600"
//
// Nanoseconds of CPU time, by kind: around an operation and in it, before an automatic event and a
// native call, in that call, at the end of a wait.
// Where it is not set, native calls and operations take the same path as without this file: what
// delays them is chosen when functions are patched and types are made. An automatic event and a
// wait that is recorded test one number.
#ifndef RLSCOPE_NATIVE_CALLS_TEST_DELAY_H_
#define RLSCOPE_NATIVE_CALLS_TEST_DELAY_H_

#include <stdint.h>

#include "native_calls/entries.h"
#include "runtime/hot.h"

namespace rlscope::native_calls {

// Kinds of records as the relation `calibration` names them; those that can be delayed.
enum class Delayed : uint8_t { kOperation, kAutomaticEvent, kNativeCall, kInsideCall, kWait };
constexpr int kDelayedKinds = 5;

// By kind, as the variable had them when the library was loaded; 0: no delay.
extern const uint64_t (&test_delays_ns)[kDelayedKinds];

inline uint64_t TestDelayNs(Delayed kind) { return test_delays_ns[static_cast<int>(kind)]; }

// What the entry of a function says of it whose calls are recorded (entries.h).
inline uint32_t DelayFlag() {
  const uint64_t either = TestDelayNs(Delayed::kNativeCall) | TestDelayNs(Delayed::kInsideCall);
  return either != 0 ? kDelayed : 0;
}

// Spends so much CPU time.
void Spend(uint64_t nanoseconds);

// What a record of the kind takes longer; nothing in the usual case.
inline __attribute__((always_inline)) void DelayRecord(Delayed kind) {
  const uint64_t nanoseconds = TestDelayNs(kind);
  if (runtime::IsRare(nanoseconds != 0)) Spend(nanoseconds);
}

}  // namespace rlscope::native_calls

#endif  // RLSCOPE_NATIVE_CALLS_TEST_DELAY_H_
