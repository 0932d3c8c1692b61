#include "python/runtime_module/operations.h"

#include <stddef.h>
#include <structmember.h>

#include "native_calls/call.h"
#include "native_calls/owned.h"
#include "native_calls/test_delay.h"
#include "python/runtime_module/automatic_track.h"
#include "python/runtime_module/binder.h"
#include "python/runtime_module/name_text.h"
#include "python/runtime_module/operation.h"
#include "python/runtime_module/phase.h"
#include "python/runtime_module/probe.h"
#include "python/runtime_module/stopwatch.h"
#include "python/runtime_module/thread_name.h"
#include "trace/layout/shared_pages.h"

namespace rlscope::python {

namespace {

uint32_t IdOf(OperationObject* operation) {
  if (operation->shifted_id == 0) {
    const NameText text(operation->name);
    const auto kind = static_cast<uint32_t>(trace::EntryKind::kOperationName);
    operation->shifted_id = rlscope_intern_name(kind, 0, text.data(), text.size())
                            << trace::kIdShift;
  }
  return operation->shifted_id >> trace::kIdShift;
}

void RecordWithRoom(uint32_t kind, OperationObject* operation) {
  auto* state = static_cast<ModuleState*>(PyType_GetModuleState(Py_TYPE(operation)));
  const uint32_t thread = rlscope_self.thread;
  if (!IsRecordingInPhase(state) || !runtime::HasRoom()) return;
  if (rlscope_self.thread != thread) NameThread();
  FollowTask(state->tasks);
  const uint32_t id = IdOf(operation);
  // The first one of a thread comes here: NumberThread() sees to it.
  if (kind == trace::kOperationEnter) {
    EndTracks();
    native_calls::RecordSerialization();
  }
  if (id != 0) runtime::Write(kind, id);
}

}  // namespace

// A decorated function that raises is left with its exception pending: it is put aside, for
// nothing in here may see, replace or clear it.
__attribute__((noinline)) void RecordSlowly(uint32_t kind, OperationObject* operation) {
  if (TimeOperation(kind, *operation)) return;
  if (IsProbe(*operation)) return;  // what is not usual is not measured, and changes nothing
  const native_calls::ErrorAside aside;
  RecordWithRoom(kind, operation);
}

namespace {

__attribute__((noinline)) PyObject* EnterSlowly(PyObject* self) {
  RecordSlowly(trace::kOperationEnter, AsOperation(self));
  return Py_NewRef(self);
}

__attribute__((noinline)) PyObject* ExitSlowly(PyObject* self) {
  RecordSlowly(trace::kOperationExit, AsOperation(self));
  Py_RETURN_NONE;
}

__attribute__((noinline, cold)) PyObject* ExitWithProbe(PyObject* self, uint64_t ticks) {
  RunProbe(AsOperation(self), ticks);
  Py_RETURN_NONE;
}

// The slow halves are tail calls: these two save no register and make no frame.
template <States states = kRealStates>
PyObject* Enter(PyObject* self, PyObject*) {
  uint64_t ticks;
  if (!RecordAtOnce<states>(trace::kOperationEnter, AsOperation(self), &ticks)) {
    return EnterSlowly(self);
  }
  return Py_NewRef(self);
}

template <States states = kRealStates>
PyObject* Exit(PyObject* self, PyObject* const*, Py_ssize_t) {
  uint64_t ticks;
  if (!RecordAtOnce<states>(trace::kOperationExit, AsOperation(self), &ticks)) {
    return ExitSlowly(self);
  }
  if (runtime::IsProbeDue(ticks)) return ExitWithProbe(self, ticks);
  Py_RETURN_NONE;
}

// A test's delay (test_delay.h): it does not lie in the two above, but makes methods of its own.
void DelayOperation() {
  const bool records = runtime::Load(rlscope_process.state) == RLSCOPE_RECORDING;
  if (records) native_calls::DelayRecord(native_calls::Delayed::kOperation);
}

PyObject* EnterDelayed(PyObject* self, PyObject* argument) {
  DelayOperation();
  return Enter<>(self, argument);
}

PyObject* ExitDelayed(PyObject* self, PyObject* const* arguments, Py_ssize_t count) {
  DelayOperation();
  return Exit<>(self, arguments, count);
}

// Copies and pickles are the operation of that name in the process that loads them.
PyObject* Reduce(PyObject* self, PyObject*) {
  PyObject* native = PyImport_ImportModule("rlscope.recorder");
  if (native == nullptr) return nullptr;
  PyObject* function = PyObject_GetAttrString(native, "operation_named");
  Py_DECREF(native);
  return function == nullptr ? nullptr : Py_BuildValue("N(O)", function, AsOperation(self)->name);
}

// As a decorator. Functions that suspend, and whatever is not a plain function, are sorted
// in Python: decorating happens once.
PyObject* Decorate(PyObject* self, PyObject* const* arguments, size_t flagged_count,
                   PyObject* keywords) {
  if (PyVectorcall_NARGS(flagged_count) != 1 || keywords != nullptr) {
    PyErr_SetString(PyExc_TypeError, "an operation decorates one function");
    return nullptr;
  }
  PyObject* annotate_calls =
      PyObject_GetAttrString(PyType_GetModule(Py_TYPE(self)), "annotate_calls");
  if (annotate_calls == nullptr) return nullptr;
  PyObject* decorated = PyImport_ImportModule("rlscope.recorder.decorator");
  PyObject* result = decorated == nullptr ? nullptr
                                          : PyObject_CallMethod(decorated, "decorate", "OOO", self,
                                                                arguments[0], annotate_calls);
  Py_XDECREF(decorated);
  Py_DECREF(annotate_calls);
  return result;
}

PyObject* Represent(PyObject* self) {
  return PyUnicode_FromFormat("rlscope.operation(%R)", AsOperation(self)->name);
}

int Traverse(PyObject* self, visitproc visit, void* arg) {
  Py_VISIT(AsOperation(self)->enter);
  Py_VISIT(AsOperation(self)->exit);
  Py_VISIT(Py_TYPE(self));
  return 0;
}

int Clear(PyObject* self) {
  Py_CLEAR(AsOperation(self)->enter);
  Py_CLEAR(AsOperation(self)->exit);
  return 0;
}

void Deallocate(PyObject* self) {
  PyTypeObject* type = Py_TYPE(self);
  PyObject_GC_UnTrack(self);
  Clear(self);
  Py_XDECREF(AsOperation(self)->name);
  type->tp_free(self);
  Py_DECREF(type);
}

PyCFunction AsMethod(decltype(&Exit<>) exit) {
  return reinterpret_cast<PyCFunction>(reinterpret_cast<void (*)()>(exit));
}

PyMethodDef object_methods[] = {{"__enter__", Enter<>, METH_NOARGS, nullptr},
                                {"__exit__", AsMethod(Exit<>), METH_FASTCALL, nullptr},
                                {"__reduce__", Reduce, METH_NOARGS, nullptr},
                                {nullptr, nullptr, 0, nullptr}};

void UseDelayedMethods() {
  object_methods[0].ml_meth = EnterDelayed;
  object_methods[1].ml_meth = AsMethod(ExitDelayed);
  recorded_probe = {EnterDelayed, ExitDelayed};
}

PyMemberDef object_members[] = {
    {"name", T_OBJECT, offsetof(OperationObject, name), READONLY, nullptr},
    {"__vectorcalloffset__", T_PYSSIZET, offsetof(OperationObject, vectorcall), READONLY, nullptr},
    {nullptr, 0, 0, 0, nullptr}};

PyType_Slot object_slots[] = {
    {Py_tp_doc, const_cast<char*>("One operation by name: context manager and decorator in one "
                                  "object, re-enterable, for any thread.")},
    {Py_tp_methods, object_methods},
    {Py_tp_members, object_members},
    {Py_tp_call, reinterpret_cast<void*>(PyVectorcall_Call)},
    {Py_tp_repr, reinterpret_cast<void*>(Represent)},
    {Py_tp_traverse, reinterpret_cast<void*>(Traverse)},
    {Py_tp_clear, reinterpret_cast<void*>(Clear)},
    {Py_tp_dealloc, reinterpret_cast<void*>(Deallocate)},
    {0, nullptr}};

PyType_Spec object_spec = {"rlscope._runtime.Operation", sizeof(OperationObject), 0,
                           Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_VECTORCALL | Py_TPFLAGS_HAVE_GC |
                               Py_TPFLAGS_DISALLOW_INSTANTIATION | Py_TPFLAGS_IMMUTABLETYPE,
                           object_slots};

// From 3.14 on the interpreter calls the methods without binding them.
constexpr bool kBindsAhead = PY_VERSION_HEX < 0x030E0000;

bool BindMethods(PyObject* self) {
  AsOperation(self)->enter = BindNow(self, "__enter__");
  AsOperation(self)->exit =
      AsOperation(self)->enter == nullptr ? nullptr : BindNow(self, "__exit__");
  return AsOperation(self)->exit != nullptr;
}

int UseBinders(PyObject* module, PyTypeObject* type) {
  PyObject* binder_type = NewBinderType(module);
  if (binder_type == nullptr) return -1;
  const bool failed =
      BindAhead(binder_type, type, "__enter__", offsetof(OperationObject, enter)) != 0 ||
      BindAhead(binder_type, type, "__exit__", offsetof(OperationObject, exit)) != 0;
  Py_DECREF(binder_type);
  return failed ? -1 : 0;
}

}  // namespace

PyObject* NewOperation(ModuleState* state, PyObject* name, bool lasting) {
  if (state->operation_type == nullptr) {
    PyErr_SetString(PyExc_RuntimeError, "the interpreter has ended");
    return nullptr;
  }
  auto* operation = PyObject_GC_New(OperationObject, state->operation_type);
  if (operation == nullptr) return nullptr;
  operation->shifted_id = 0;
  operation->name = Py_NewRef(name);
  operation->vectorcall = Decorate;
  operation->enter = nullptr;
  operation->exit = nullptr;
  PyObject* object = reinterpret_cast<PyObject*>(operation);
  PyObject_GC_Track(object);
  if (!kBindsAhead || !lasting || BindMethods(object)) return object;
  Py_DECREF(object);
  return nullptr;
}

ProbeMethods recorded_probe = {Enter<>, Exit<>};
const ProbeMethods idle_probe = {Enter<kSwappedStates>, Exit<kSwappedStates>};

int AddOperations(PyObject* module) {
  if (native_calls::TestDelayNs(native_calls::Delayed::kOperation) != 0) UseDelayedMethods();
  PyObject* object = PyType_FromModuleAndSpec(module, &object_spec, nullptr);
  if (object == nullptr) return -1;
  auto* type = reinterpret_cast<PyTypeObject*>(object);
  StateOf(module)->operation_type = type;
  if (kBindsAhead && UseBinders(module, type) != 0) return -1;
  if (AddProbes(StateOf(module)) != 0) return -1;
  return PyModule_AddObjectRef(module, "Operation", object);
}

}  // namespace rlscope::python
