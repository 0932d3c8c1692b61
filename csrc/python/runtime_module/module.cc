// The extension module rlscope._runtime: conversions between Python and librlscope.so's C ABI.
// Contract: rlscope/_runtime.pyi.
#define PY_SSIZE_T_CLEAN
#include <Python.h>
#include <errno.h>
#include <string.h>

#include "native_calls/frames.h"
#include "python/runtime_module/annotated.h"
#include "python/runtime_module/automatic.h"
#include "python/runtime_module/automatic_track.h"
#include "python/runtime_module/call_sites.h"
#include "python/runtime_module/collections.h"
#include "python/runtime_module/drainer.h"
#include "python/runtime_module/interpreter_stacks.h"
#include "python/runtime_module/iterations.h"
#include "python/runtime_module/module_state.h"
#include "python/runtime_module/monitoring.h"
#include "python/runtime_module/name_text.h"
#include "python/runtime_module/native_calls.h"
#include "python/runtime_module/operation_table.h"
#include "python/runtime_module/operations.h"
#include "python/runtime_module/phase.h"
#include "python/runtime_module/process_log.h"
#include "python/runtime_module/stopwatch.h"
#include "runtime/hot.h"
#include "trace/layout/shared_pages.h"

namespace rlscope::python {

namespace {

PyObject* ProcessName(PyObject*, PyObject* name) {
  if (!IsName(name, "name of a process")) return nullptr;
  const NameText text(name);
  rlscope_set_process_name(text.data(), text.size());
  Py_RETURN_NONE;
}

PyObject* BeginThread(PyObject*, PyObject*) {
  rlscope_begin_thread();
  Py_RETURN_NONE;
}

PyObject* Metadata(PyObject*, PyObject* const* arguments, Py_ssize_t count) {
  if (count != 2) {
    PyErr_SetString(PyExc_TypeError, "metadata takes a key and its JSON text");
    return nullptr;
  }
  if (!IsName(arguments[0], "key of metadata") || !IsName(arguments[1], "JSON text")) {
    return nullptr;
  }
  const NameText key(arguments[0]);
  PyObject* json = PyUnicode_AsEncodedString(arguments[1], "utf-8", "replace");
  if (json == nullptr) return nullptr;
  rlscope_add_metadata(key.data(), key.size(), PyBytes_AS_STRING(json),
                       static_cast<uint64_t>(PyBytes_GET_SIZE(json)));
  Py_DECREF(json);
  Py_RETURN_NONE;
}

uint64_t BitsOf(double value) {
  uint64_t bits;
  memcpy(&bits, &value, sizeof bits);
  return bits;
}

PyObject* Progress(PyObject* module, PyObject* const* arguments, Py_ssize_t count) {
  if (count != 2) {
    PyErr_SetString(PyExc_TypeError, "progress takes two numbers: how much is done, and the total");
    return nullptr;
  }
  const double done = PyFloat_AsDouble(arguments[0]);
  if (done == -1.0 && PyErr_Occurred()) return nullptr;
  const double total = PyFloat_AsDouble(arguments[1]);
  if (total == -1.0 && PyErr_Occurred()) return nullptr;
  if (IsRecordingInPhase(StateOf(module))) {
    rlscope_record_value(trace::kProgressTotal, 0, BitsOf(total));
    rlscope_record_value(trace::kProgressDone, 0, BitsOf(done));
  }
  Py_RETURN_NONE;
}

PyObject* Start(PyObject* module, PyObject*) {
  InPhase(StateOf(module), [] { rlscope_start(); });
  Py_RETURN_NONE;
}

PyObject* Stop(PyObject*, PyObject*) {
  rlscope_stop();
  Py_RETURN_NONE;
}

PyObject* IsRecordingNow(PyObject*, PyObject*) { return PyBool_FromLong(runtime::IsRecording()); }

PyObject* Windows(PyObject*, PyObject*) {
  return PyLong_FromUnsignedLong(runtime::Load(rlscope_process.window));
}

PyObject* State(PyObject*, PyObject*) {
  switch (rlscope_initialize()) {
    case RLSCOPE_RECORDING:
      return PyUnicode_FromString("recording");
    case RLSCOPE_PAUSED:
      return PyUnicode_FromString("paused");
    case RLSCOPE_TIMED:
      return PyUnicode_FromString("timed");
    case RLSCOPE_OFF:
      return PyUnicode_FromString("off");
    default:
      return PyUnicode_FromString("unknown");
  }
}

PyObject* PythonEnd(PyObject*, PyObject*) {
  own_track.End();
  LeaveCallSites();
  rlscope_python_end();
  Py_RETURN_NONE;
}

PyMethodDef python_end_definition = {"python_end", PythonEnd, METH_NOARGS, nullptr};

// Calls python_end when the interpreter is finalised. Hooks run last in, first out: registered
// first, it runs after the program's own.
int RegisterEnd() {
  PyObject* atexit = PyImport_ImportModule("atexit");
  if (atexit == nullptr) return -1;
  PyObject* end = PyCFunction_New(&python_end_definition, nullptr);
  PyObject* done = end == nullptr ? nullptr : PyObject_CallMethod(atexit, "register", "O", end);
  Py_XDECREF(end);
  Py_DECREF(atexit);
  Py_XDECREF(done);
  return done == nullptr ? -1 : 0;
}

// Sub-interpreters come and go inside the process: its Python begins and ends with the main one.
PyObject* PythonBegin(PyObject* module, PyObject* const* arguments, Py_ssize_t count) {
  if (count != 2 || !PyUnicode_Check(arguments[0]) || !PyUnicode_Check(arguments[1])) {
    PyErr_SetString(PyExc_TypeError, "python_begin takes a version and an executable, both str");
    return nullptr;
  }
  if (PyInterpreterState_Get() != PyInterpreterState_Main()) Py_RETURN_NONE;
  ModuleState* state = StateOf(module);
  if (!state->python_begun && RegisterEnd() != 0) return nullptr;
  state->python_begun = true;
  const NameText version(arguments[0]);
  const NameText executable(arguments[1]);
  rlscope_python_begin(version.data(), executable.data());
  DescribeInterpreter();
  if (runtime::IsRecording()) ReportTasks();
  Py_RETURN_NONE;
}

// raise_in_thread(identifier, exception class).
PyObject* RaiseInThread(PyObject*, PyObject* const* arguments, Py_ssize_t count) {
  if (count != 2) {
    PyErr_SetString(PyExc_TypeError, "raise_in_thread takes a thread and an exception");
    return nullptr;
  }
  const unsigned long identifier = PyLong_AsUnsignedLong(arguments[0]);
  if (identifier == static_cast<unsigned long>(-1) && PyErr_Occurred()) return nullptr;
  PyThreadState_SetAsyncExc(identifier, arguments[1]);
  Py_RETURN_NONE;
}

PyObject* ProfileBegin(PyObject*, PyObject* directory) {
  PyObject* path = nullptr;
  if (!PyUnicode_FSConverter(directory, &path)) return nullptr;
  int error;
  Py_BEGIN_ALLOW_THREADS error = rlscope_profile_begin(PyBytes_AS_STRING(path));
  Py_END_ALLOW_THREADS Py_DECREF(path);
  if (error == 0) Py_RETURN_NONE;
  errno = error;
  return PyErr_SetFromErrnoWithFilenameObject(PyExc_OSError, directory);
}

PyObject* ProfileEnd(PyObject*, PyObject*) {
  Py_BEGIN_ALLOW_THREADS rlscope_profile_end();
  Py_END_ALLOW_THREADS Py_RETURN_NONE;
}

PyObject* PauseCuda(PyObject*, PyObject*) {
  Py_BEGIN_ALLOW_THREADS rlscope_pause_cuda();
  Py_END_ALLOW_THREADS Py_RETURN_NONE;
}

PyObject* ResumeCuda(PyObject*, PyObject*) {
  Py_BEGIN_ALLOW_THREADS rlscope_resume_cuda();
  Py_END_ALLOW_THREADS Py_RETURN_NONE;
}

PyObject* HasCuda(PyObject*, PyObject*) { return PyBool_FromLong(rlscope_has_cuda()); }

// switch_cuda(calls, work).
PyObject* SwitchCuda(PyObject*, PyObject* const* arguments, Py_ssize_t count) {
  if (count != 2) {
    PyErr_SetString(PyExc_TypeError, "switch_cuda takes whether calls and work are recorded");
    return nullptr;
  }
  const int calls = PyObject_IsTrue(arguments[0]), work = PyObject_IsTrue(arguments[1]);
  if (calls < 0 || work < 0) return nullptr;
  const uint32_t parts =
      (calls != 0 ? RLSCOPE_CUDA_CALLS : 0) | (work != 0 ? RLSCOPE_CUDA_WORK : 0);
  int done;
  Py_BEGIN_ALLOW_THREADS done = rlscope_switch_cuda(parts);
  Py_END_ALLOW_THREADS return PyBool_FromLong(done);
}

// turn_gpu(recorded).
PyObject* TurnGpu(PyObject*, PyObject* wanted) {
  const int recorded = PyObject_IsTrue(wanted);
  if (recorded < 0) return nullptr;
  rlscope_gpu_state state;
  Py_BEGIN_ALLOW_THREADS state = rlscope_turn_gpu(recorded);
  Py_END_ALLOW_THREADS return PyLong_FromLong(state);
}

// keep_cupti(kept).
PyObject* KeepCupti(PyObject*, PyObject* wanted) {
  const int kept = PyObject_IsTrue(wanted);
  if (kept < 0) return nullptr;
  Py_BEGIN_ALLOW_THREADS rlscope_keep_cupti(kept);
  Py_END_ALLOW_THREADS Py_RETURN_NONE;
}

PyObject* GpuLaunches(PyObject*, PyObject*) {
  return PyLong_FromUnsignedLongLong(rlscope_gpu_launches());
}

PyObject* HasTracedGraphs(PyObject*, PyObject*) {
  return PyBool_FromLong(rlscope_has_traced_graphs());
}

PyObject* ThreadSlots(PyObject*, PyObject*) {
  return PyLong_FromUnsignedLongLong(rlscope_slots_of_thread());
}

PyCFunction Fast(PyObject* (*function)(PyObject*, PyObject* const*, Py_ssize_t)) {
  return reinterpret_cast<PyCFunction>(reinterpret_cast<void (*)()>(function));
}

PyMethodDef module_methods[] = {{"begin_phase", BeginPhase, METH_O, nullptr},
                                {"process_name", ProcessName, METH_O, nullptr},
                                {"begin_thread", BeginThread, METH_NOARGS, nullptr},
                                {"metadata", Fast(Metadata), METH_FASTCALL, nullptr},
                                {"progress", Fast(Progress), METH_FASTCALL, nullptr},
                                {"start", Start, METH_NOARGS, nullptr},
                                {"stop", Stop, METH_NOARGS, nullptr},
                                {"is_recording", IsRecordingNow, METH_NOARGS, nullptr},
                                {"windows", Windows, METH_NOARGS, nullptr},
                                {"state", State, METH_NOARGS, nullptr},
                                {"python_begin", Fast(PythonBegin), METH_FASTCALL, nullptr},
                                {"python_end", PythonEnd, METH_NOARGS, nullptr},
                                {"raise_in_thread", Fast(RaiseInThread), METH_FASTCALL, nullptr},
                                {"profile_begin", ProfileBegin, METH_O, nullptr},
                                {"profile_end", ProfileEnd, METH_NOARGS, nullptr},
                                {"pause_cuda", PauseCuda, METH_NOARGS, nullptr},
                                {"resume_cuda", ResumeCuda, METH_NOARGS, nullptr},
                                {"has_cuda", HasCuda, METH_NOARGS, nullptr},
                                {"switch_cuda", Fast(SwitchCuda), METH_FASTCALL, nullptr},
                                {"turn_gpu", TurnGpu, METH_O, nullptr},
                                {"keep_cupti", KeepCupti, METH_O, nullptr},
                                {"gpu_launches", GpuLaunches, METH_NOARGS, nullptr},
                                {"has_traced_graphs", HasTracedGraphs, METH_NOARGS, nullptr},
                                {"thread_slots", ThreadSlots, METH_NOARGS, nullptr},
                                {"process_records", ProcessRecords, METH_O, nullptr},
                                {"note_collection", Fast(NoteCollection), METH_FASTCALL, nullptr},
                                {nullptr, nullptr, 0, nullptr}};

// A preloaded library of another version has the same name and so is the one that is linked.
int CheckAbi() {
  const uint32_t version = rlscope_abi_version();
  if (version == RLSCOPE_INTERFACE) return 0;
  PyErr_Format(PyExc_ImportError,
               "the loaded librlscope.so has version %u of the interface, but rlscope needs %u; "
               "start the program with the rls-prof of its own environment",
               version, RLSCOPE_INTERFACE);
  return -1;
}

// Whether the calling thread runs no Python; it may not hold the interpreter's lock.
int RunsNoPython() {
  const PyThreadState* thread = PyGILState_GetThisThreadState();
  return thread == nullptr || !native_calls::HasFrame(thread) ? 1 : 0;
}

int Execute(PyObject* module) {
  if (CheckAbi() != 0 || CheckContextLayout() != 0) return -1;
  rlscope_initialize();
  rlscope_set_outside_test(&RunsNoPython);
  StateOf(module)->tasks = NewTaskTable();
  if (StateOf(module)->tasks == nullptr) {
    PyErr_NoMemory();
    return -1;
  }
  const bool failed =
      AddOperations(module) != 0 || AddOperationTable(module) != 0 || AddAnnotated(module) != 0 ||
      AddAutomatic(module) != 0 || AddIterations(module) != 0 || AddStopwatch(module) != 0 ||
      AddDrainer(module) != 0 || AddNativeCalls(module) != 0 || AddMonitoring(module) != 0;
  return failed ? -1 : 0;
}

int Traverse(PyObject* module, visitproc visit, void* arg) {
  ModuleState* state = StateOf(module);
  Py_VISIT(state->operation_type);
  Py_VISIT(state->annotated_type);
  Py_VISIT(state->drainer_type);
  Py_VISIT(state->probe);
  return 0;
}

int Clear(PyObject* module) {
  ModuleState* state = StateOf(module);
  Py_CLEAR(state->probe);
  Py_CLEAR(state->operation_type);
  Py_CLEAR(state->annotated_type);
  Py_CLEAR(state->drainer_type);
  Py_CLEAR(state->phase);
  return 0;
}

void Free(void* module) {
  Clear(static_cast<PyObject*>(module));
  DeleteTaskTable(StateOf(static_cast<PyObject*>(module))->tasks);
}

PyModuleDef_Slot module_slots[] = {
    {Py_mod_exec, reinterpret_cast<void*>(Execute)},
#if PY_VERSION_HEX >= 0x030C0000
    {Py_mod_multiple_interpreters, Py_MOD_PER_INTERPRETER_GIL_SUPPORTED},
#endif
#if PY_VERSION_HEX >= 0x030D0000
    {Py_mod_gil, Py_MOD_GIL_NOT_USED},
#endif
    {0, nullptr}};

PyModuleDef module_definition = {PyModuleDef_HEAD_INIT,
                                 "_runtime",
                                 nullptr,
                                 sizeof(ModuleState),
                                 module_methods,
                                 module_slots,
                                 Traverse,
                                 Clear,
                                 Free};

}  // namespace

}  // namespace rlscope::python

PyMODINIT_FUNC PyInit__runtime(void) {
  return PyModuleDef_Init(&rlscope::python::module_definition);
}
