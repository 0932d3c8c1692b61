#include "python/runtime_module/acting.h"

#include <unordered_set>
#include <vector>

#include "native_calls/owned.h"
#include "python/runtime_module/token_run.h"

namespace rlscope::python {

namespace {

using native_calls::Owned;

constexpr size_t kMostNodes = 8192;
// Of a node that stands for a parameter: none made it.
constexpr uint64_t kNoNumber = UINT64_MAX;

Owned Attribute(PyObject* object, const char* name) {
  Owned found(PyObject_GetAttrString(object, name));
  if (!found) PyErr_Clear();
  return found;
}

uint64_t NumberOf(PyObject* node) {
  const Owned number(PyObject_CallMethod(node, "_sequence_nr", nullptr));
  if (!number) PyErr_Clear();
  return number ? PyLong_AsUnsignedLongLongMask(number.get()) : kNoNumber;
}

// Nodes that were met, each once; those from `next` on are to be followed.
class Nodes {
 public:
  void Add(PyObject* node) {
    if (node == Py_None || !known_.insert(node).second) return;
    met_.emplace_back(Py_NewRef(node));
  }
  PyObject* Next() { return next_ < met_.size() ? met_[next_++].get() : nullptr; }
  size_t size() const { return met_.size(); }

 private:
  std::unordered_set<PyObject*> known_;
  std::vector<Owned> met_;
  size_t next_ = 0;
};

void AddNodeOf(PyObject* tensor, Nodes* nodes) {
  const Owned node = Attribute(tensor, "grad_fn");
  if (node) nodes->Add(node.get());
}

// next_functions: a tuple of pairs of a node, or None, and a number.
void AddNodesBehind(PyObject* node, Nodes* nodes) {
  const Owned pairs = Attribute(node, "next_functions");
  if (!pairs || !PyTuple_Check(pairs.get())) return;
  for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(pairs.get()); i++) {
    PyObject* pair = PyTuple_GET_ITEM(pairs.get(), i);
    if (PyTuple_Check(pair) && PyTuple_GET_SIZE(pair) > 0) nodes->Add(PyTuple_GET_ITEM(pair, 0));
  }
}

// A thread numbers the nodes of its graphs as it makes them. The last one of a forward that
// returned this, 0 if it has none.
uint64_t LastNodeOf(PyObject* result) {
  const Owned tensor(TensorIn(result));
  const Owned node = tensor ? Attribute(tensor.get(), "grad_fn") : Owned();
  if (!node || node.get() == Py_None) return 0;
  const uint64_t number = NumberOf(node.get());
  return number == kNoNumber ? 0 : number;
}

// Whether a backward uses no node up to this one. A graph that is too large may use one.
bool IsGraphYoungerThan(uint64_t number, PyObject* outputs) {
  Nodes nodes;
  const bool is_tuple = PyTuple_Check(outputs);
  for (Py_ssize_t i = 0; is_tuple && i < PyTuple_GET_SIZE(outputs); i++) {
    AddNodeOf(PyTuple_GET_ITEM(outputs, i), &nodes);
  }
  if (!is_tuple) AddNodeOf(outputs, &nodes);
  const bool has_any = nodes.size() > 0;
  while (PyObject* node = nodes.Next()) {
    if (nodes.size() > kMostNodes || NumberOf(node) <= number) return false;
    AddNodesBehind(node, &nodes);
  }
  return has_any;
}

}  // namespace

void Acting::EndFirst(PyObject* result) {
  is_first_ = false;
  if (result == nullptr || IsDecided()) return;
  const native_calls::ErrorAside aside;
  first_node_ = LastNodeOf(result);
}

bool Acting::Judge(PyObject* outputs) {
  if (IsDecided() || repeats_ == 0 || first_node_ == 0 || outputs == nullptr) return false;
  const native_calls::ErrorAside aside;
  ++judged_;
  acts_ = IsGraphYoungerThan(first_node_, outputs);
  return acts_;
}

}  // namespace rlscope::python
