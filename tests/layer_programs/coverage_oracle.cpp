// What should have been seen: two witnesses that share nothing with the interception engine.
//
//   record functions    every top-level ATen operator, as PyTorch itself reports it: was its thread
//                       inside a recorded native call (rlscope_self.call)?
//   profile function    every call of a builtin, as CPython reports it: does its C pointer still
//                       lead into PyTorch, and not to a stub?
//   samples             where the program counter of the main thread is, 1,000 times a second of
//                       its CPU time: in PyTorch, and inside a recorded call?
#include <ATen/record_function.h>
#include <Python.h>
#include <dlfcn.h>
#include <signal.h>
#include <sys/time.h>
#include <ucontext.h>

#include <cstring>
#include <map>
#include <memory>
#include <string>

#include "runtime/rlscope.h"

namespace {

// ---- record functions
// ----------------------------------------------------------------------------

at::CallbackHandle handle = 0;
thread_local int depth = 0;
uint64_t top_level = 0;
uint64_t inside = 0;
std::map<std::string, uint64_t> missed;

std::unique_ptr<at::ObserverContext> OperatorBegins(const at::RecordFunction& function) {
  if (depth++ > 0) return nullptr;
  top_level++;
  if (rlscope_self.call != 0) {
    inside++;
  } else {
    missed[function.name()]++;
  }
  return nullptr;
}

void OperatorEnds(const at::RecordFunction&, at::ObserverContext*) { depth--; }

// ---- profile function
// ----------------------------------------------------------------------------

uint64_t builtin_calls = 0;
uint64_t unpatched = 0;

bool IsTorch(const void* code) {
  Dl_info info;
  return dladdr(code, &info) != 0 && std::strstr(info.dli_fname, "/torch/") != nullptr;
}

int OnProfile(PyObject*, PyFrameObject*, int what, PyObject* callee) {
  if (what != PyTrace_C_CALL || callee == nullptr || !PyCFunction_Check(callee)) return 0;
  builtin_calls++;
  if (IsTorch(reinterpret_cast<void*>(PyCFunction_GET_FUNCTION(callee)))) {
    unpatched++;
    missed[reinterpret_cast<PyCFunctionObject*>(callee)->m_ml->ml_name]++;
  }
  return 0;
}

// ---- samples
// -------------------------------------------------------------------------------------

constexpr size_t kMostSamples = 1 << 16;
struct Sample {
  const void* code;
  bool in_call;
};
Sample samples[kMostSamples];
volatile size_t sample_count = 0;
pthread_t sampled;

void OnSample(int, siginfo_t*, void* context) {
  if (!pthread_equal(pthread_self(), sampled) || sample_count >= kMostSamples) return;
  const auto* machine = static_cast<ucontext_t*>(context);
#if defined(__x86_64__)
  const auto at = static_cast<uintptr_t>(machine->uc_mcontext.gregs[REG_RIP]);
#else
  const auto at = static_cast<uintptr_t>(machine->uc_mcontext.pc);
#endif
  samples[sample_count] = {reinterpret_cast<const void*>(at), rlscope_self.call != 0};
  sample_count = sample_count + 1;
}

void SampleEvery(long microseconds) {
  const itimerval period = {{0, microseconds}, {0, microseconds}};
  setitimer(ITIMER_PROF, &period, nullptr);
}

// ---- functions of the module
// ---------------------------------------------------------------------

PyObject* WatchOperators(PyObject*, PyObject*) {
  top_level = inside = 0;
  missed.clear();
  auto callback = at::RecordFunctionCallback(OperatorBegins, OperatorEnds);
  callback.scopes({at::RecordScope::FUNCTION, at::RecordScope::BACKWARD_FUNCTION});
  handle = at::addThreadLocalCallback(callback);
  Py_RETURN_NONE;
}

PyObject* Missed() {
  PyObject* names = PyDict_New();
  for (const auto& [name, count] : missed) {
    PyObject* number = PyLong_FromUnsignedLongLong(count);
    PyDict_SetItemString(names, name.c_str(), number);
    Py_DECREF(number);
  }
  return names;
}

PyObject* TakeOperators(PyObject*, PyObject*) {
  at::removeCallback(handle);
  return Py_BuildValue("KKN", top_level, inside, Missed());
}

PyObject* WatchBuiltins(PyObject*, PyObject*) {
  builtin_calls = unpatched = 0;
  missed.clear();
  PyEval_SetProfile(OnProfile, nullptr);
  Py_RETURN_NONE;
}

PyObject* TakeBuiltins(PyObject*, PyObject*) {
  PyEval_SetProfile(nullptr, nullptr);
  return Py_BuildValue("KKN", builtin_calls, unpatched, Missed());
}

PyObject* WatchSamples(PyObject*, PyObject*) {
  sample_count = 0;
  sampled = pthread_self();
  struct sigaction action = {};
  action.sa_sigaction = OnSample;
  action.sa_flags = SA_SIGINFO | SA_RESTART;
  sigaction(SIGPROF, &action, nullptr);
  SampleEvery(1000);
  Py_RETURN_NONE;
}

// (samples, samples in PyTorch's code, those of them inside a recorded call)
PyObject* TakeSamples(PyObject*, PyObject*) {
  SampleEvery(0);
  uint64_t native = 0, seen = 0;
  for (size_t i = 0; i < sample_count; i++) {
    if (!IsTorch(samples[i].code)) continue;
    native++;
    if (samples[i].in_call) seen++;
  }
  return Py_BuildValue("KKK", static_cast<uint64_t>(sample_count), native, seen);
}

PyMethodDef methods[] = {{"watch_operators", WatchOperators, METH_NOARGS, nullptr},
                         {"take_operators", TakeOperators, METH_NOARGS, nullptr},
                         {"watch_builtins", WatchBuiltins, METH_NOARGS, nullptr},
                         {"take_builtins", TakeBuiltins, METH_NOARGS, nullptr},
                         {"watch_samples", WatchSamples, METH_NOARGS, nullptr},
                         {"take_samples", TakeSamples, METH_NOARGS, nullptr},
                         {nullptr, nullptr, 0, nullptr}};
PyModuleDef definition = {PyModuleDef_HEAD_INIT,
                          "coverage_oracle",
                          nullptr,
                          -1,
                          methods,
                          nullptr,
                          nullptr,
                          nullptr,
                          nullptr};

}  // namespace

PyMODINIT_FUNC PyInit_coverage_oracle() { return PyModule_Create(&definition); }
