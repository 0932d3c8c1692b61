#include "python/runtime_module/compiled.h"

#include "native_calls/owned.h"
#include "python/runtime_module/automatic_track.h"
#include "python/runtime_module/compiled_table.h"
#include "python/runtime_module/iterations.h"
#include "python/runtime_module/results.h"
#include "python/runtime_module/vectorcall.h"

namespace rlscope::python {

namespace {

using native_calls::Owned;

// A call that waits for results: whose they are, its first argument says.
PyObject* CallWaiting(const CompiledSlot& slot, PyObject* function, PyObject* const* arguments,
                      size_t flagged_count, PyObject* keywords) {
  Track* track = &own_track;
  PyObject* first = PyVectorcall_NARGS(flagged_count) > 0 ? arguments[0] : nullptr;
  track->EnterResult(MakerOf(first));
  PyObject* result = slot.call(function, arguments, flagged_count, keywords);
  track->LeaveResult();
  return result;
}

PyObject* Call(PyObject* function, PyObject* const* arguments, size_t flagged_count,
               PyObject* keywords) {
  Track* track = &own_track;
  const CompiledSlot* slot = FindCompiled(function);
  if (slot->waits != 0) return CallWaiting(*slot, function, arguments, flagged_count, keywords);
  if (__builtin_expect(track->EndsWithCompiled(function), 0)) return EndProgram(), nullptr;
  const bool is_outermost = track->EnterCompiled(function, {arguments, flagged_count, keywords});
  PyObject* result = slot->call(function, arguments, flagged_count, keywords);
  track->LeaveCompiled();
  if (is_outermost) {
    NoteReturned(function, result);
    NameOfCompiled(function);  // for those who wait for its results
    NoteResult(result, slot);
  }
  return result;
}

// The buffer of an array: what NumPy asks of it.
getbufferproc plain_buffer = nullptr;

int GetBuffer(PyObject* array, Py_buffer* view, int flags) {
  Track* track = &own_track;
  track->EnterResult(MakerOf(array));
  const int done = plain_buffer(array, view, flags);
  track->LeaveResult();
  return done;
}

bool WatchBuffer(PyTypeObject* type) {
  PyBufferProcs* buffer = type->tp_as_buffer;
  if (buffer == nullptr || buffer->bf_getbuffer == nullptr) return false;
  if (buffer->bf_getbuffer == GetBuffer) return true;
  if (plain_buffer != nullptr) return false;
  plain_buffer = buffer->bf_getbuffer;
  buffer->bf_getbuffer = GetBuffer;
  return true;
}

// ---- PyTorch ------------------------------------------------------------------------------------

// The findings of tracing about the forwards in a function; several may be.
enum Forwards : uint32_t {
  kAsCalled = 1,  // with the gradient mode that the function was called in
  kOff = 2,       // the function switches gradients off for them
  kOn = 4,        // or on
};

// The innermost call of a watched function on this thread. A slot lives for ever, so that nothing
// here dangles, whatever switches stacks.
struct TorchCall {
  CompiledSlot* slot;
  bool has_gradients;  // when it was called
};
__thread TorchCall torch_call = {nullptr, false};

PyObject* CallTorch(PyObject* function, PyObject* const* arguments, size_t flagged_count,
                    PyObject* keywords) {
  Track* track = &own_track;
  CompiledSlot* slot = FindCompiled(function);
  const TorchCall outer = torch_call;
  const bool has_gradients = HasGradients(/*if_unknown=*/true);
  torch_call = {slot, has_gradients};
  const uint32_t forwards = __atomic_load_n(&slot->note, __ATOMIC_RELAXED);
  track->EnterBlock(function);
  if (forwards != 0) {
    track->NoteForward((forwards & kOn) != 0 || ((forwards & kAsCalled) != 0 && has_gradients));
  }
  PyObject* result = plain_vectorcall(function, arguments, flagged_count, keywords);
  track->LeaveBlock(function);
  torch_call = outer;
  return result;
}

// The function whose calls are seen wherever they come from. CPython 3.11 does not tell of calls of
// the one that torch.compile() returns, but that calls the program's own function with *args.
// Module's own, which Module.compile() compiles, is inside a forward anyway.
Owned SeenFunction(PyObject* function) {
  if (!PyFunction_Check(function)) return Owned();
#if PY_VERSION_HEX >= 0x030C0000 || PY_VERSION_HEX < 0x030B0000
  return Owned(Py_NewRef(function));
#else
  const Owned own(PyObject_GetAttrString(function, "_torchdynamo_orig_callable"));
  PyObject* called = own.get();
  if (called != nullptr && PyMethod_Check(called)) called = PyMethod_GET_FUNCTION(called);
  if (called == nullptr || !PyFunction_Check(called)) return Owned();
  PyObject* module = PyFunction_GetModule(called);  // borrowed
  if (module != nullptr && PyUnicode_Check(module) &&
      PyUnicode_CompareWithASCIIString(module, "torch.nn.modules.module") == 0) {
    return Owned();
  }
  return Owned(Py_NewRef(called));
#endif
}

}  // namespace

void WatchTorchFunction(PyObject* function) {
  if (function == nullptr) return;
  const native_calls::ErrorAside aside;
  const Owned seen = SeenFunction(function);
  if (!seen) return;
  if (reinterpret_cast<PyFunctionObject*>(seen.get())->vectorcall != plain_vectorcall) return;
  if (AddCompiled(seen.get(), plain_vectorcall)) SetVectorcall(seen.get(), CallTorch);
}

void NoteTracedModule() {
  if (torch_call.slot == nullptr) return;
  const bool has_gradients = HasGradients(/*if_unknown=*/true);
  const uint32_t forwards =
      has_gradients == torch_call.has_gradients ? kAsCalled : (has_gradients ? kOn : kOff);
  __atomic_fetch_or(&torch_call.slot->note, forwards, __ATOMIC_RELAXED);
  own_track.NoteForward(has_gradients);
}

bool WatchCompiled(PyObject* function) { return ReplaceCall(function, Call); }

PyObject* WatchWaitingFunction(PyObject*, PyObject* object) {
  if (PyType_Check(object)) {
    return PyBool_FromLong(WatchBuffer(reinterpret_cast<PyTypeObject*>(object)));
  }
  if (!ReplaceCall(object, Call)) Py_RETURN_FALSE;
  __atomic_store_n(&FindCompiled(object)->waits, 1, __ATOMIC_RELAXED);
  Py_RETURN_TRUE;
}

PyObject* WatchCompiledFunction(PyObject*, PyObject* function) {
  return PyBool_FromLong(WatchCompiled(function));
}

}  // namespace rlscope::python
