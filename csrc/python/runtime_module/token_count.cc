#include "python/runtime_module/token_count.h"

#include <mutex>
#include <vector>

#include "native_calls/owned.h"
#include "runtime/hot.h"

namespace rlscope::python {

namespace {

using native_calls::Owned;

struct Tokens {
  uint32_t process = 0;  // image that counts: a fork child begins anew
  uint64_t tokens = 0;
  uint64_t generations = 0;
};
Tokens written;
std::mutex written_mutex;
PyObject* counter = nullptr;  // a strong reference for ever

// Under the lock.
Tokens* Written() {
  const uint32_t process = runtime::Load(rlscope_process.generation);
  if (written.process != process) written = {process, 0, 0};
  return &written;
}

// Negative, with a Python error: it cannot tell.
Py_ssize_t TokensOf(PyObject* result, const Arguments& call) {
  const Py_ssize_t positional = PyVectorcall_NARGS(call.flagged_count);
  const Py_ssize_t named = call.keywords == nullptr ? 0 : PyTuple_GET_SIZE(call.keywords);
  std::vector<PyObject*> values = {result};
  values.insert(values.end(), call.values, call.values + positional + named);
  const Owned count(PyObject_Vectorcall(counter, values.data(), positional + 1, call.keywords));
  return count ? PyLong_AsSsize_t(count.get()) : -1;
}

}  // namespace

void AddTokens(uint64_t tokens, bool begins) {
  const std::lock_guard<std::mutex> guard(written_mutex);
  Tokens* count = Written();
  count->tokens += tokens;
  count->generations += begins;
}

void AddTokensOf(PyObject* result, const Arguments& call) {
  if (counter == nullptr || result == nullptr) return;
  const native_calls::ErrorAside aside;
  const Py_ssize_t tokens = TokensOf(result, call);
  if (tokens >= 0) AddTokens(tokens, /*begins=*/true);
}

PyObject* CountTokens(PyObject*, PyObject* count) {
  if (!PyCallable_Check(count)) {
    PyErr_SetString(PyExc_TypeError, "takes a function");
    return nullptr;
  }
  Py_XSETREF(counter, Py_NewRef(count));
  Py_RETURN_NONE;
}

PyObject* WrittenTokens(PyObject*, PyObject*) {
  const std::lock_guard<std::mutex> guard(written_mutex);
  const Tokens* count = Written();
  return Py_BuildValue("KK", static_cast<unsigned long long>(count->tokens),
                       static_cast<unsigned long long>(count->generations));
}

}  // namespace rlscope::python
