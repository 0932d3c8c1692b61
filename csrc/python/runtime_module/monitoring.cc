// Native calls by sys.monitoring: the engine for interpreters whose pointers cannot be patched.
//
//   CALL                 a call in Python source begins: opens the thread's native call if the
//                        callable is one whose code is watched
//   C_RETURN, C_RAISE    it has ended: closes it
//
// Only what the source calls by name is seen: no operators, no attributes, no indexing, and no
// Python code that native code calls back. Needs Python 3.12.
#include "python/runtime_module/monitoring.h"

#include <memory>

#include "python/runtime_module/module_state.h"

#if PY_VERSION_HEX >= 0x030C0000

#include <opcode.h>

#include "native_calls/pointers.h"
#include "native_calls/watched_code.h"
#include "python/runtime_module/monitored_callees.h"
#include "python/runtime_module/monitored_sites.h"
#include "python/runtime_module/phase.h"
#include "python/runtime_module/thread_name.h"
#include "runtime/native_call.h"

namespace rlscope::python {
namespace {

// The ids that have no meaning of their own (debugger 0, coverage 1, profiler 2, optimizer 5): a
// tool that the program brings finds its own one free.
constexpr long kToolIds[] = {4, 3};
constexpr const char* kEvents[] = {"CALL", "C_RETURN", "C_RAISE"};
constexpr int kDeepest = 64;

// Process-wide, as the engine is: begun and ended by the main interpreter.
struct Monitoring {
  PyObject* module;   // sys.monitoring
  PyObject* disable;  // sys.monitoring.DISABLE
  long tool;
  bool listening = false;
  uint64_t calls = 0;     // recorded
  uint64_t unpaired = 0;  // calls whose return was not seen
  MonitoredSites sites;
  MonitoredCallees callees;
};
std::unique_ptr<Monitoring> monitoring;

// The watched calls that a thread is in, outermost first; those beyond kDeepest are only counted.
struct OpenCalls {
  int depth;
  bool recorded;  // the outermost one is open in the trace
  const PyObject* callee[kDeepest];
};
thread_local OpenCalls open_calls;

// As RecordWithRoom() of the annotations: everything but the record itself.
bool PrepareToRecord(ModuleState* state) {
  const uint32_t thread = rlscope_self.thread;
  if (!IsRecordingInPhase(state) || !runtime::HasRoom()) return false;
  if (rlscope_self.thread != thread) NameThread();
  return runtime::HasRoom();
}

void Open(ModuleState* state, const PyObject* callee, uint32_t word) {
  OpenCalls* open = &open_calls;
  if (open->depth < kDeepest) open->callee[open->depth] = callee;
  if (open->depth++ > 0) return;
  open->recorded = !runtime::IsInCall() && PrepareToRecord(state);
  if (!open->recorded) return;
  monitoring->calls++;
  runtime::BeginCall(&rlscope_self, word, runtime::ReadTicks());
}

// The depth before the innermost open call of this callee; -1 if there is none.
int DepthBefore(const OpenCalls& open, const PyObject* callee) {
  if (open.depth > kDeepest) return open.depth - 1;
  int at = open.depth - 1;
  while (at >= 0 && open.callee[at] != callee) at--;
  return at;
}

void Close(const PyObject* callee, uint64_t ticks) {
  OpenCalls* open = &open_calls;
  const int depth = DepthBefore(*open, callee);
  if (depth < 0) return;
  monitoring->unpaired += static_cast<uint64_t>(open->depth - 1 - depth);
  open->depth = depth;
  if (depth == 0 && open->recorded) {
    runtime::EndCall(&rlscope_self, runtime::Load(rlscope_process.generation), ticks);
  }
}

// Whether no return will be reported: CALL_FUNCTION_EX takes every bound method for one of a Python
// function, those over builtins (SWIG's) too. Other calls unwrap it first.
bool EndsUnseen(PyObject* callable, PyObject* code, uint32_t offset) {
  if (!PyMethod_Check(callable)) return false;
  PyObject* bytes = PyCode_GetCode(reinterpret_cast<PyCodeObject*>(code));
  const bool unpacks =
      bytes != nullptr && offset < static_cast<uint32_t>(PyBytes_GET_SIZE(bytes)) &&
      static_cast<unsigned char>(PyBytes_AS_STRING(bytes)[offset]) == CALL_FUNCTION_EX;
  if (bytes == nullptr) PyErr_Clear();
  Py_XDECREF(bytes);
  return unpacks;
}

// CALL(code, instruction_offset, callable, arg0).
PyObject* OnCall(PyObject* module, PyObject* const* arguments, Py_ssize_t count) {
  if (monitoring == nullptr || count < 3) Py_RETURN_NONE;
  const auto offset = static_cast<uint32_t>(PyLong_AsLong(arguments[1]));
  const uint32_t word = monitoring->callees.WordOf(arguments[2]);
  if (word == 0) {
    const bool off = monitoring->sites.Miss(arguments[0], offset);
    return Py_NewRef(off ? monitoring->disable : Py_None);
  }
  monitoring->sites.Keep(arguments[0], offset);
  if (EndsUnseen(arguments[2], arguments[0], offset)) Py_RETURN_NONE;
  Open(StateOf(module), native_calls::Unwrap(arguments[2]), word);
  Py_RETURN_NONE;
}

// C_RETURN and C_RAISE(code, instruction_offset, callable, arg0). A bound method is unwrapped by
// the interpreter before the call, so that its return reports the function inside.
PyObject* OnReturn(PyObject*, PyObject* const* arguments, Py_ssize_t count) {
  const uint64_t ticks = runtime::ReadTicks();
  if (monitoring == nullptr || count < 3 || open_calls.depth == 0) Py_RETURN_NONE;
  Close(native_calls::Unwrap(arguments[2]), ticks);
  Py_RETURN_NONE;
}

PyCFunction Fast(PyObject* (*function)(PyObject*, PyObject* const*, Py_ssize_t)) {
  return reinterpret_cast<PyCFunction>(reinterpret_cast<void (*)()>(function));
}

PyMethodDef on_call = {"on_call", Fast(OnCall), METH_FASTCALL, nullptr};
PyMethodDef on_return = {"on_return", Fast(OnReturn), METH_FASTCALL, nullptr};

// monitoring.<method>(tool, ...); false with an error set.
template <typename... Arguments>
bool Tell(const char* method, const char* format, Arguments... arguments) {
  PyObject* done =
      PyObject_CallMethod(monitoring->module, method, format, monitoring->tool, arguments...);
  Py_XDECREF(done);
  return done != nullptr;
}

// The number of an event, or -1 with an error set.
long EventNamed(const char* name) {
  PyObject* events = PyObject_GetAttrString(monitoring->module, "events");
  PyObject* number = events == nullptr ? nullptr : PyObject_GetAttrString(events, name);
  const long event = number == nullptr ? -1 : PyLong_AsLong(number);
  Py_XDECREF(number);
  Py_XDECREF(events);
  return event;
}

bool TakeTool() {
  for (const long tool : kToolIds) {
    monitoring->tool = tool;
    if (Tell("use_tool_id", "ls", "rlscope")) return true;
    PyErr_Clear();  // somebody's already
  }
  return false;
}

bool Register(PyObject* module) {
  for (const char* name : kEvents) {
    PyMethodDef* definition = name == kEvents[0] ? &on_call : &on_return;
    PyObject* callback = PyCFunction_New(definition, module);
    const long event = EventNamed(name);
    const bool done =
        callback != nullptr && event >= 0 && Tell("register_callback", "llO", event, callback);
    Py_XDECREF(callback);
    if (!done) return false;
  }
  return true;
}

void Forget() {
  if (monitoring->listening) Tell("set_events", "ll", 0L);
  for (const char* name : kEvents) Tell("register_callback", "llO", EventNamed(name), Py_None);
  Tell("free_tool_id", "l");
  PyErr_Clear();
  Py_DECREF(monitoring->disable);
  Py_DECREF(monitoring->module);
  monitoring.reset();
}

PyObject* Refused(const char* reason) {
  PyErr_Clear();
  return PyUnicode_FromString(reason);
}

PyObject* MonitoringBegin(PyObject* module, PyObject*) {
  if (PyInterpreterState_Get() != PyInterpreterState_Main()) {
    return Refused("rlscope does not record native calls of a sub-interpreter");
  }
  if (monitoring != nullptr) Py_RETURN_NONE;
  PyObject* sys_monitoring = PySys_GetObject("monitoring");
  PyObject* disable =
      sys_monitoring == nullptr ? nullptr : PyObject_GetAttrString(sys_monitoring, "DISABLE");
  if (disable == nullptr) return Refused("this interpreter has no sys.monitoring");
  monitoring = std::make_unique<Monitoring>();
  monitoring->module = Py_NewRef(sys_monitoring);
  monitoring->disable = disable;
  if (!TakeTool()) {
    Py_DECREF(disable);
    Py_DECREF(sys_monitoring);
    monitoring.reset();
    return Refused("other tools use all free ids of sys.monitoring");
  }
  if (Register(module)) Py_RETURN_NONE;
  Forget();
  return Refused("sys.monitoring refused a callback");
}

// Starts to listen once there is a library to listen for; sites that were switched off before the
// next one was loaded are looked at again.
PyObject* MonitoringRefresh(PyObject*, PyObject*) {
  if (monitoring == nullptr || native_calls::RefreshWatchedCode().empty()) Py_RETURN_NONE;
  if (monitoring->listening) return PyObject_CallMethod(monitoring->module, "restart_events", "");
  const long call = EventNamed(kEvents[0]);
  if (call < 0 || !Tell("set_events", "ll", call)) return nullptr;
  monitoring->listening = true;
  Py_RETURN_NONE;
}

PyObject* MonitoringEnd(PyObject*, PyObject*) {
  if (monitoring != nullptr) Forget();
  Py_RETURN_NONE;
}

PyObject* MonitoringCounts(PyObject*, PyObject*) {
  if (monitoring == nullptr) return PyDict_New();
  return Py_BuildValue("{sKsIsIsK}", "calls", monitoring->calls, "sites", monitoring->sites.kept(),
                       "switched_off", monitoring->sites.switched_off(), "unpaired",
                       monitoring->unpaired);
}

}  // namespace
}  // namespace rlscope::python

#else  // Python 3.11 and older

namespace rlscope::python {
namespace {

PyObject* MonitoringBegin(PyObject*, PyObject*) {
  return PyUnicode_FromString("sys.monitoring needs Python 3.12");
}
PyObject* MonitoringRefresh(PyObject*, PyObject*) { Py_RETURN_NONE; }
PyObject* MonitoringEnd(PyObject*, PyObject*) { Py_RETURN_NONE; }
PyObject* MonitoringCounts(PyObject*, PyObject*) { return PyDict_New(); }

}  // namespace
}  // namespace rlscope::python

#endif

namespace rlscope::python {

int AddMonitoring(PyObject* module) {
  static PyMethodDef methods[] = {{"monitoring_begin", MonitoringBegin, METH_NOARGS, nullptr},
                                  {"monitoring_refresh", MonitoringRefresh, METH_NOARGS, nullptr},
                                  {"monitoring_end", MonitoringEnd, METH_NOARGS, nullptr},
                                  {"monitoring_counts", MonitoringCounts, METH_NOARGS, nullptr},
                                  {nullptr, nullptr, 0, nullptr}};
  return PyModule_AddFunctions(module, methods);
}

}  // namespace rlscope::python
