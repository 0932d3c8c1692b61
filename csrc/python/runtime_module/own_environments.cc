#include "python/runtime_module/own_environments.h"

#include "native_calls/owned.h"

namespace rlscope::python {

namespace {

using native_calls::Owned;

constexpr int kMostClasses = 64;
OwnClass classes[kMostClasses];
int class_count = 0;
PyObject* finder = nullptr;  // null: none, or it was called
PyObject* told = nullptr;
PyObject* is_transition = nullptr;

// Whether the answer is true. The program does not see a failure, nor a pending exception of its
// own disappear.
bool CallQuietly(PyObject* callable, PyObject* argument) {
  const native_calls::ErrorAside aside;
  const Owned done(argument == nullptr ? PyObject_CallNoArgs(callable)
                                       : PyObject_CallOneArg(callable, argument));
  return done.get() == Py_True;
}

// Nothing, a number and a text are none: what else has a step returns those.
bool MayBeObservation(PyObject* result) {
  return result != Py_None && !PyLong_Check(result) && !PyFloat_Check(result) &&
         !PyUnicode_Check(result);
}

}  // namespace

void OwnClass::Judge(const PolicyCalls& before, const PolicyCalls& after, bool given, bool is_first,
                     PyObject* result) {
  if (result == nullptr || !is_open()) return;
  const bool calls_policy = after.forwards != before.forwards || after.updates != before.updates;
  if (calls_policy || !given || !MayBeObservation(result)) {
    verdict_ = Verdict::kOther;
    return;
  }
  if (has_stepped_ && before.forwards != forwards_) ++alternations_;
  has_stepped_ = true;
  forwards_ = after.forwards;
  const bool has_policy = after.forwards != 0 || after.updates != 0;
  if (is_first && !has_policy && ReturnsTransition(result)) ++transitions_;
  if (alternations_ < kEnough && transitions_ < kEnoughTransitions) return;
  verdict_ = Verdict::kEnvironment;
  if (told != nullptr) CallQuietly(told, reinterpret_cast<PyObject*>(type_));
}

// A class is asked until it says no.
bool OwnClass::ReturnsTransition(PyObject* result) {
  if (returns_other_ || is_transition == nullptr) return false;
  returns_other_ = !CallQuietly(is_transition, result);
  return !returns_other_;
}

OwnClass* FindOwnClass(PyTypeObject* type) {
  for (int number = 0; number < class_count; number++) {
    if (classes[number].type_ == type) return &classes[number];
  }
  if (class_count == kMostClasses) return nullptr;
  OwnClass* own = &classes[class_count++];  // the GIL keeps others out
  own->type_ = type;
  Py_INCREF(type);
  return own;
}

void SetEnvironmentFinder(PyObject* finds, PyObject* found, PyObject* transition) {
  if (told != nullptr) return;
  finder = Py_NewRef(finds);
  told = Py_NewRef(found);
  is_transition = Py_NewRef(transition);
}

void TellExchanges() {
  if (told != nullptr) CallQuietly(told, Py_None);
}

void LookForEnvironments() {
  if (finder == nullptr) return;
  const Owned called(finder);
  finder = nullptr;
  CallQuietly(called.get(), nullptr);
}

}  // namespace rlscope::python
