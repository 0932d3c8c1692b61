#include "python/runtime_module/precision.h"

#include "python/runtime_module/tensors.h"

namespace rlscope::python {

int precisions_left = 256;

namespace {

// Forwards that may tell nothing before no more are asked.
int silent_left = 4096;
int in_double = 0;
int in_other = 0;

// Of the first tensor that a module is given.
Numbers GivenNumbers(const Arguments& call) {
  const Py_ssize_t positional = PyVectorcall_NARGS(call.flagged_count);
  const Py_ssize_t named = call.keywords == nullptr ? 0 : PyTuple_GET_SIZE(call.keywords);
  for (Py_ssize_t i = 1; i < positional + named; i++) {
    if (ShapeOf(call.values[i])) return NumbersOf(call.values[i]);
  }
  return Numbers::kUnknown;
}

}  // namespace

void AddPrecision(const Arguments& call) {
  const native_calls::ErrorAside aside;
  const Numbers numbers = call.values == nullptr ? Numbers::kUnknown : GivenNumbers(call);
  if (numbers == Numbers::kUnknown) {
    if (--silent_left == 0) precisions_left = 0;
    return;
  }
  --precisions_left;
  ++(numbers == Numbers::kDouble ? in_double : in_other);
}

PyObject* GivenPrecisions(PyObject*, PyObject*) {
  return Py_BuildValue("(ii)", in_double, in_other);
}

}  // namespace rlscope::python
