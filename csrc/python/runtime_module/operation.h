// The hot path of the annotations: an operation's enter and exit as one 16-byte record each.
#ifndef RLSCOPE_PYTHON_RUNTIME_MODULE_OPERATION_H_
#define RLSCOPE_PYTHON_RUNTIME_MODULE_OPERATION_H_

#include "python/runtime_module/module_state.h"
#include "runtime/hot.h"
#include "runtime/probe.h"
#include "trace/layout/shared_pages.h"

namespace rlscope::python {

// One per name, immutable but for the id, re-enterable: it knows nothing of the threads inside.
struct OperationObject {
  PyObject ob_base;
  uint32_t shifted_id;  // of the name in this process, where a record has it; 0 until recorded
  PyObject* name;       // exact str, interned unless there are too many
  vectorcallfunc vectorcall;  // as a decorator
  PyObject* enter;            // __enter__ and __exit__, bound (binder.h); may be null
  PyObject* exit;
};

inline OperationObject* AsOperation(PyObject* self) {
  return reinterpret_cast<OperationObject*>(self);
}

// A new operation called `name`, an exact str; new reference, or null with a Python error set.
// `lasting`: worth methods bound ahead, which keep it alive until the collector finds the cycle.
PyObject* NewOperation(ModuleState* state, PyObject* name, bool lasting);

#if defined(__x86_64__)
// Without the branch of runtime::ReadTicks(), whose clock_gettime() costs the usual case a frame.
inline uint64_t ReadTsc() { return __builtin_ia32_rdtsc(); }
#else
inline uint64_t ReadTsc() { return runtime::ReadTicks(); }
#endif
constexpr auto kUsualClock = static_cast<uint32_t>(base::kCounterKind);

// kSwapped: a process that records takes the path of one that never does, through code that differs
// in two numbers (python/runtime_module/probe.h).
enum States : uint8_t { kRealStates, kSwappedStates };
constexpr uint32_t RecordingState(States states) {
  return states == kRealStates ? RLSCOPE_RECORDING : RLSCOPE_OFF;
}
constexpr uint32_t OffState(States states) {
  return states == kRealStates ? RLSCOPE_OFF : RLSCOPE_RECORDING;
}

// Writes kOperationEnter or kOperationExit if the process records, and if this is the usual case:
// room in the ring, no switch of window or task, a name with an id. Nothing is to be written where
// the process does not record. False: call RecordSlowly().
// `*ticks`: of the record, 0 if none was written.
// The interpreter spends 70 ns on a `with` of its own; a few tests in a row and no call at all
// are what fits beside that unnoticed.
template <States states = kRealStates>
inline __attribute__((always_inline)) bool RecordAtOnce(uint32_t kind,
                                                        const OperationObject* operation,
                                                        uint64_t* ticks) {
  const struct rlscope_process_state* process = &rlscope_process;
  using runtime::Load;
  *ticks = 0;
  if (runtime::IsRare(Load(process->state) != RecordingState(states))) {
    return runtime::IsIdle(OffState(states));
  }
  const struct rlscope_thread* self = &rlscope_self;
  const uint32_t id = operation->shifted_id;
  // As in runtime::IsRecording() and runtime::HasRoom().
  const bool usual = Load(*Load(process->window_word)) == Load(process->window_seen) &&
                     self->cursor != self->limit && self->generation == Load(process->generation) &&
                     self->call_start == 0 && Load(process->clock) == kUsualClock && id != 0 &&
                     !HasSwitched(CurrentThreadState());
  if (__builtin_expect(!usual, 0)) return false;
  *ticks = ReadTsc();
  runtime::Publish(kind, id >> trace::kIdShift, *ticks, 0);
  return true;
}

// The same in every case: follows the window and the task, makes room, names the thread and the
// operation.
void RecordSlowly(uint32_t kind, OperationObject* operation);

// Runs the probe that a record of `operation` made due, if it is its turn
// (python/runtime_module/probe.h).
void RunProbe(const OperationObject* operation, uint64_t ticks);

inline void Record(uint32_t kind, OperationObject* operation) {
  uint64_t ticks;
  if (!RecordAtOnce(kind, operation, &ticks)) RecordSlowly(kind, operation);
  if (kind == trace::kOperationExit && runtime::IsProbeDue(ticks)) RunProbe(operation, ticks);
}

}  // namespace rlscope::python

#endif  // RLSCOPE_PYTHON_RUNTIME_MODULE_OPERATION_H_
