#include "python/runtime_module/rewards.h"

#include "native_calls/owned.h"

namespace rlscope::python {

int rewards_left = 256;

namespace {

// (observation, reward, end, ...), as Gym's; also (kind, reward, discount, observation).
constexpr Py_ssize_t kFewestItems = 3;
constexpr Py_ssize_t kReward = 1;

// Steps that may tell nothing before no more are asked.
int silent_left = 4096;
int with_one = 0;
int with_several = 0;
const PyObject* stepped_first = nullptr;  // never dereferenced

bool HasLength(PyTypeObject* type) {
  return (type->tp_as_sequence != nullptr && type->tp_as_sequence->sq_length != nullptr) ||
         (type->tp_as_mapping != nullptr && type->tp_as_mapping->mp_length != nullptr);
}

// Negative: it has none, as an array of no dimension.
Py_ssize_t LengthOf(PyObject* object) {
  if (!HasLength(Py_TYPE(object))) return -1;
  const Py_ssize_t length = PyObject_Size(object);
  PyErr_Clear();
  return length;
}

bool IsNumber(PyObject* object) {
  const PyNumberMethods* const number = Py_TYPE(object)->tp_as_number;
  return number != nullptr && number->nb_float != nullptr;
}

// Negative: the result tells no number of rewards.
Py_ssize_t RewardsIn(PyObject* result) {
  if (result == nullptr || !PyTuple_Check(result)) return -1;
  if (PyTuple_GET_SIZE(result) < kFewestItems) return -1;
  PyObject* const reward = PyTuple_GET_ITEM(result, kReward);
  const Py_ssize_t length = LengthOf(reward);
  return length < 0 && IsNumber(reward) ? 1 : length;
}

}  // namespace

void AddReward(const PyObject* environment, PyObject* result) {
  const native_calls::ErrorAside aside;
  const Py_ssize_t count = RewardsIn(result);
  if (count < 0) {
    if (--silent_left == 0) rewards_left = 0;
    return;
  }
  --rewards_left;
  if (stepped_first == nullptr) stepped_first = environment;
  ++(count > 1 || environment != stepped_first ? with_several : with_one);
}

// A text or a tuple is one of some that are no numbers.
bool IsBatch(PyObject* drawn) {
  if (drawn == nullptr || with_one == 0 || with_several != 0) return false;
  if (PyUnicode_Check(drawn) || PyTuple_Check(drawn)) return false;
  const native_calls::ErrorAside aside;
  return LengthOf(drawn) > 1;
}

PyObject* ReturnedRewards(PyObject*, PyObject*) {
  return Py_BuildValue("(ii)", with_one, with_several);
}

}  // namespace rlscope::python
