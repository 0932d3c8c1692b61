#include "python/runtime_module/held_variables.h"

#include "python/runtime_module/frame_variables.h"

namespace rlscope::python {

namespace {

constexpr uintptr_t kTag = 3;           // bits of a word of a frame that are no address
constexpr Py_ssize_t kMostNames = 512;  // of a script that are looked at

// What a word of a frame refers to; a variable that an inner function shares lies in a cell.
const PyObject* ObjectAt(const rlscope_frame_variables& variables, Py_ssize_t place) {
  const uintptr_t word = variables.fast[place];
  if ((word & kTag) == kTag) return nullptr;  // a number
  auto* const object = reinterpret_cast<PyObject*>(word & ~kTag);
  return object != nullptr && PyCell_Check(object) ? PyCell_GET(object) : object;
}

// What a script's variable refers to; null if another one has its place.
const PyObject* ObjectNamed(const rlscope_frame_variables& variables, Py_ssize_t place,
                            const PyObject* name) {
  PyObject *found, *object;
  if (!PyDict_Check(variables.by_name)) return nullptr;
  return PyDict_Next(variables.by_name, &place, &found, &object) && found == name ? object
                                                                                  : nullptr;
}

const PyObject* ObjectOf(const rlscope_frame_variables& variables, Py_ssize_t place,
                         const PyObject* name) {
  if (variables.by_name != nullptr) return ObjectNamed(variables, place, name);
  return name == nullptr && place < variables.fast_count ? ObjectAt(variables, place) : nullptr;
}

struct Found {
  Py_ssize_t place = -1;
  const PyObject* name = nullptr;
};

Found FindNamed(PyObject* by_name, const PyObject* object) {
  PyObject *name, *value;
  Py_ssize_t next = 0;
  if (!PyDict_Check(by_name)) return {};
  for (Py_ssize_t place = 0; PyDict_Next(by_name, &next, &name, &value); place = next) {
    if (value == object) return {place, name};
    if (next > kMostNames) break;
  }
  return {};
}

Found Find(const rlscope_frame_variables& variables, const PyObject* object) {
  if (variables.by_name != nullptr) return FindNamed(variables.by_name, object);
  for (Py_ssize_t place = 0; place < variables.fast_count; place++) {
    if (ObjectAt(variables, place) == object) return {place, nullptr};
  }
  return {};
}

}  // namespace

void HeldVariables::EndBlock() {
  rlscope_frame_variables now;
  frame_ = nullptr;
  if (count_ == 0 || rlscope_find_variables(&now) == 0 || now.code != code_) return;
  frame_ = now.frame;
  for (int i = 0; i < count_; i++) {
    Variable& each = variables_[i];
    each.held = ObjectOf(now, each.place, each.name);
  }
}

bool HeldVariables::Hold(const PyObject* object) {
  rlscope_frame_variables now;
  if (object == nullptr || rlscope_find_variables(&now) == 0) return false;
  if (now.code != code_) {
    code_ = now.code;
    frame_ = nullptr;
    count_ = searches_ = 0;
  }
  for (int i = 0; i < count_; i++) {
    const Variable& each = variables_[i];
    if (ObjectOf(now, each.place, each.name) != object) continue;
    return frame_ == now.frame && each.held == object;
  }
  if (count_ < kMostVariables && searches_ < kMostSearches) Learn(object);
  return false;
}

void HeldVariables::Learn(const PyObject* object) {
  rlscope_frame_variables now;
  ++searches_;
  if (rlscope_find_variables(&now) == 0) return;
  const Found found = Find(now, object);
  if (found.place >= 0) variables_[count_++] = {found.place, found.name, nullptr};
}

}  // namespace rlscope::python
