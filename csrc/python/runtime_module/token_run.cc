#include "python/runtime_module/token_run.h"

#include <algorithm>

#include "python/runtime_module/tensors.h"

namespace rlscope::python {

namespace {

using native_calls::Owned;

bool IsValue(PyObject* object) {
  return object == Py_None || PyLong_Check(object) || PyFloat_Check(object) ||
         PyUnicode_Check(object);
}

bool IsWhole(PyObject* tensor) { return NumbersOf(tensor) == Numbers::kWhole; }

// In which dimension a sequence lies: the batch comes first.
int SequenceOf(int dimensions) { return dimensions > 1 ? 1 : 0; }

}  // namespace

// The first tensor is the input.
void TokenRun::Given::Read(PyObject* argument) {
  if (argument == nullptr || IsValue(argument)) return;
  const Owned shape = ShapeOf(argument);
  if (!shape) {
    if (caches < kMostCaches) cache[caches++] = argument;
    return;
  }
  const Py_ssize_t count = PyTuple_GET_SIZE(shape.get());
  if (first != nullptr && others < kMostCaches) other[others++] = argument;
  if (first == nullptr) first = argument;
  if (dimensions > 0 || count > kMostDimensions) return;
  for (Py_ssize_t i = 0; i < count; i++) {
    length[i] = PyLong_AsSsize_t(PyTuple_GET_ITEM(shape.get(), i));
  }
  PyErr_Clear();
  dimensions = static_cast<int>(count);
}

TokenRun::Given::Given(const Arguments& call) {
  const Py_ssize_t positional = PyVectorcall_NARGS(call.flagged_count);
  const Py_ssize_t named = call.keywords == nullptr ? 0 : PyTuple_GET_SIZE(call.keywords);
  for (Py_ssize_t i = 1; i < positional + named; i++) Read(call.values[i]);
}

// By one item, in the dimension of the sequence, or in the one before where the batch is second.
int TokenRun::Input::Grown(const Input& before) const {
  if (dimensions == 0 || dimensions != before.dimensions) return -1;
  int grown = -1;
  for (int i = 0; i < dimensions; i++) {
    if (length[i] == before.length[i]) continue;
    if (grown >= 0 || length[i] != before.length[i] + 1) return -1;
    grown = i;
  }
  const bool is_sequence = grown == SequenceOf(dimensions) || (grown == 0 && dimensions > 2);
  return is_sequence ? grown : -1;
}

// One item, with a cache that the forward before was given, too.
bool TokenRun::Input::GoesOnWith(const Input& before) const {
  if (dimensions < 2 || dimensions != before.dimensions || length[SequenceOf(dimensions)] != 1) {
    return false;
  }
  const PyObject* const* end = before.cache + before.caches;
  return std::any_of(cache, cache + caches, [&](const PyObject* each) {
    return std::find(before.cache, end, each) != end;
  });
}

// One whole number, with something that the forward before returned.
bool TokenRun::GoesOnWithReturned(const Given& given) const {
  const int dimensions = given.dimensions;
  if (on_ || dimensions < 1 || (dimensions > 1 && given.length[SequenceOf(dimensions)] != 1))
    return false;
  const PyObject* const* end = returned_ + returned_count_;
  const auto is_returned = [&](const PyObject* each) {
    return std::find(returned_, end, each) != end;
  };
  return (std::any_of(given.cache, given.cache + given.caches, is_returned) ||
          std::any_of(given.other, given.other + given.others, is_returned)) &&
         IsWhole(given.first);
}

void TokenRun::NoteItems(PyObject* tuple) {
  const Py_ssize_t count = std::min<Py_ssize_t>(PyTuple_GET_SIZE(tuple), kMostCaches);
  for (Py_ssize_t i = 0; i < count; i++) returned_[i] = PyTuple_GET_ITEM(tuple, i);
  returned_count_ = static_cast<int>(count);
}

bool IsGivenTexts(const Arguments& call) {
  if (call.values == nullptr) return false;
  const native_calls::ErrorAside aside;
  const TokenRun::Given given(call);
  return given.dimensions == 2 && given.length[1] > 1 && IsWhole(given.first);
}

bool TokenRun::IsLonger(const Arguments& call) {
  const native_calls::ErrorAside aside;
  const Given input(call);
  const int grown = has_input_ ? input.Grown(input_) : -1;
  const bool is_returned = GoesOnWithReturned(input);
  const bool follows = !has_input_ || grown >= 0 || input.GoesOnWith(input_) || is_returned;
  if (input.dimensions < 2) {
    texts_ = is_returned ? input.length[0] : 1;
  } else {
    texts_ = input.length[grown == 0 ? 1 : 0];
  }
  forwards_ = follows ? std::min(forwards_ + 1, kShortest) : 1;
  in_block_ = follows ? in_block_ + 1 : 1;
  has_input_ = true;
  input_ = input;
  return follows && forwards_ == kShortest;
}

// A forward of another module than the one before, without gradients. `begins`: it is the first
// one, or something came between that no run goes on after.
bool TokenRun::IsPart(const Arguments& call, bool begins) {
  const PyObject* const module = *call.values;
  if (parts_.first == nullptr) {
    parts_ = Parts();
    parts_.may_be = true;
    parts_.first = module;
    parts_.calls = 1;
    return false;
  }
  if (begins) {
    parts_.may_be = false;
    return false;
  }
  if (module == parts_.first) return IsFirstPart(call);
  const bool is_run = parts_.calls == kShortest;
  parts_.may_be = parts_.others++ < parts_.count || !is_run;
  texts_ = 0;
  return is_run && parts_.may_be;
}

// Whether the run is long enough by now.
bool TokenRun::IsFirstPart(const Arguments& call) {
  const native_calls::ErrorAside aside;
  const Given input(call);
  const bool is_text = input.dimensions == 2 && IsWhole(input.first);
  const bool is_longer =
      !parts_.has_input || input.length[1] == 1 || input.Grown(parts_.input) >= 0;
  const bool is_alike = parts_.calls == 1 || parts_.others == parts_.count;
  parts_.calls = is_text && is_longer && is_alike ? std::min(parts_.calls + 1, kShortest) : 1;
  parts_.count = parts_.others;
  parts_.others = 0;
  parts_.has_input = true;
  parts_.input = input;
  texts_ = input.length[0];
  return parts_.calls == kShortest;
}

PyObject* TensorIn(PyObject* result) {
  PyObject* found = result;
  if (PyTuple_CheckExact(result) && PyTuple_GET_SIZE(result) > 0) {
    found = PyTuple_GET_ITEM(result, 0);
  } else if (PyDict_Check(result)) {
    found = PyDict_GetItemString(result, "logits");
  }
  return found != nullptr && ShapeOf(found) ? Py_NewRef(found) : nullptr;
}

bool GivesScores(PyObject* result) {
  if (result == nullptr) return false;
  const native_calls::ErrorAside aside;
  const Owned tensor(TensorIn(result));
  const Owned shape = tensor ? ShapeOf(tensor.get()) : Owned();
  const Py_ssize_t dimensions = shape ? PyTuple_GET_SIZE(shape.get()) : 0;
  if (dimensions != 2) return dimensions == 1;
  return PyLong_AsLong(PyTuple_GET_ITEM(shape.get(), 1)) == 1;
}

}  // namespace rlscope::python
