#include "python/runtime_module/probe.h"

#include <stddef.h>

#include "native_calls/probe_stub.h"
#include "runtime/hot.h"

namespace rlscope::python {

namespace {

using native_calls::Function;

struct Measured {
  uint64_t start;
  uint64_t end;
};

// One piece of code for what records and what does not: the caches know it equally well.
__attribute__((noinline)) Measured MeasureCall(Function function) {
  Measured measured;
  measured.start = runtime::ReadCounter();
  function(nullptr, nullptr, nullptr, nullptr, nullptr);
  measured.end = runtime::ReadCounter();
  return measured;
}

inline __attribute__((always_inline)) void EnterAndExit(PyObject* operation,
                                                        const ProbeMethods& methods) {
  Py_DECREF(methods.enter(operation, nullptr));
  Py_DECREF(methods.exit(operation, nullptr, 0));
}

__attribute__((noinline)) Measured MeasureOperation(PyObject* operation,
                                                    const ProbeMethods& methods) {
  Measured measured;
  measured.start = runtime::ReadCounter();
  EnterAndExit(operation, methods);
  measured.end = runtime::ReadCounter();
  return measured;
}

__attribute__((noinline)) Measured MeasureNothing() {
  Measured measured;
  measured.start = runtime::ReadCounter();
  measured.end = runtime::ReadCounter();
  return measured;
}

// The copy of a path that no program takes is always cold; the path itself would be as warm as any
// operation of the program leaves it. So it is taken once before either probe, and the code that
// both paths begin with is looked at: what only a record needs stays as the program left it.
void PrepareOperation(PyObject* operation) {
  EnterAndExit(operation, idle_probe);
  __atomic_load_n(reinterpret_cast<const uint32_t*>(recorded_probe.enter), __ATOMIC_RELAXED);
}

Measured Measure(const ModuleState* state, uint32_t probe) {
  switch (probe) {
    case trace::kProbePlainCall:
      return MeasureCall(native_calls::probe_functions.plain);
    case trace::kProbeRecordedCall:
      return MeasureCall(native_calls::probe_functions.recorded);
    case trace::kProbeIdleOperation:
      PrepareOperation(state->probe);
      return MeasureOperation(state->probe, idle_probe);
    case trace::kProbeRecordedOperation:
      PrepareOperation(state->probe);
      return MeasureOperation(state->probe, recorded_probe);
    default:
      return MeasureNothing();
  }
}

// Inside a native call no other one is recorded.
bool CanProbeCalls() { return native_calls::HasProbeStub() && rlscope_self.call == 0; }

// A thread without an operation has not said which task it runs: it has none to measure, either.
bool CanProbeOperations(const ModuleState* state) {
  return state != nullptr && state->probe != nullptr && !HasSwitched(CurrentThreadState());
}

// One of those that can run, by a random number of 32 bits; kProbeKinds: none can.
uint32_t Choose(const ModuleState* state, uint32_t random) {
  uint32_t kinds[trace::kProbeKinds];
  uint64_t count = 0;
  if (CanProbeCalls()) {
    kinds[count++] = trace::kProbePlainCall;
    kinds[count++] = trace::kProbeRecordedCall;
  }
  if (CanProbeOperations(state)) {
    kinds[count++] = trace::kProbeIdleOperation;
    kinds[count++] = trace::kProbeRecordedOperation;
  }
  if (count == 0) return trace::kProbeKinds;
  kinds[count++] = trace::kProbeEmpty;
  return kinds[random * count >> 32];
}

}  // namespace

int AddProbes(ModuleState* state) {
  PyObject* name = PyUnicode_FromString("probe");
  if (name == nullptr) return -1;
  state->probe = NewOperation(state, name, /*lasting=*/false);
  Py_DECREF(name);
  if (state->probe == nullptr) return -1;
  AsOperation(state->probe)->shifted_id = trace::kProbeOperation << trace::kIdShift;
  return 0;
}

void RunProbe(ModuleState* state, uint64_t ticks) {
  const uint32_t random = rlscope_begin_probe(ticks);
  if (random == 0) return;
  const uint32_t probe = Choose(state, random);
  const Measured measured = probe < trace::kProbeKinds ? Measure(state, probe) : Measured{0, 0};
  rlscope_end_probe(probe, measured.start, measured.end, ticks);
}

void RunProbe(const OperationObject* operation, uint64_t ticks) {
  RunProbe(static_cast<ModuleState*>(PyType_GetModuleState(Py_TYPE(operation))), ticks);
}

}  // namespace rlscope::python
