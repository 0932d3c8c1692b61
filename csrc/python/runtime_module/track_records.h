// How the automatic track writes its records, and whether the process records at all.
#ifndef RLSCOPE_PYTHON_RUNTIME_MODULE_TRACK_RECORDS_H_
#define RLSCOPE_PYTHON_RUNTIME_MODULE_TRACK_RECORDS_H_

#define PY_SSIZE_T_CLEAN
#include <Python.h>
#include <stdint.h>

#include "native_calls/call.h"
#include "native_calls/test_delay.h"
#include "python/runtime_module/module_state.h"
#include "python/runtime_module/probe.h"
#include "runtime/hot.h"
#include "runtime/probe.h"

namespace rlscope::python {

// Hooks are process-wide, and so is what they feed. Null before the first event.
extern ModuleState* track_phases;

// Once the window may have changed.
bool FollowWindow();

inline bool IsRecordingNow() {
  const bool usual =
      runtime::Load(rlscope_process.state) == RLSCOPE_RECORDING && !runtime::HasWindowChanged();
  return __builtin_expect(usual, 1) || (!runtime::IsIdleOrTimed() && FollowWindow());
}

// The first record of a thread, or of a ring.
bool MakeRoom();

// Room for the two records that one event may write at one time.
inline bool HasRoomForTwo() {
  const struct rlscope_thread* self = &rlscope_self;
  const bool usual = self->limit - self->cursor >= 2 &&
                     self->generation == runtime::Load(rlscope_process.generation) &&
                     self->call_start == 0;
  return __builtin_expect(usual, 1) || MakeRoom();
}

inline void ProbeIfDue(uint64_t ticks) {
  if (runtime::IsProbeDue(ticks)) RunProbe(track_phases, ticks);
}

inline void WriteRecord(uint32_t kind, uint32_t id) {
  if (!HasRoomForTwo()) return;
  native_calls::DelayRecord(native_calls::Delayed::kAutomaticEvent);
  const uint64_t ticks = runtime::ReadTicks();
  runtime::Publish(kind, id, ticks, 0);
  ProbeIfDue(ticks);
}

// A resolve and a segment at one time: nothing lies between what the resolve ends and the segment.
inline void WriteBoth(uint32_t resolve, uint32_t state) {
  if (!HasRoomForTwo()) return;
  for (int record = 0; record < 2; record++) {
    native_calls::DelayRecord(native_calls::Delayed::kAutomaticEvent);
  }
  const uint64_t ticks = runtime::ReadTicks();
  runtime::Publish(trace::kAutoResolve, resolve, ticks, 0);
  runtime::Publish(trace::kAutoSegment, state, ticks, 0);
  ProbeIfDue(ticks);
}

// Begins an automatic iteration, whether the process records or not: windows may wait for it. True:
// the program should end here.
bool BeginIteration();

// The id of an operation's name; 0: there are too many.
uint32_t NameOfOperation(const char* operation);

}  // namespace rlscope::python

#endif  // RLSCOPE_PYTHON_RUNTIME_MODULE_TRACK_RECORDS_H_
