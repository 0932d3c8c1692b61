#include "python/runtime_module/operation_table.h"

#include <stddef.h>

#include "python/runtime_module/name_text.h"
#include "python/runtime_module/operation.h"
#include "trace/layout/shared_pages.h"

namespace rlscope::python {

namespace {

// Operations found by the address of their name: a literal in a `with` statement is one interned
// string for ever. 256 slots hold every name of a usual program; two names that share a slot take
// turns in it and fall back to the dictionary (8 ns more).
constexpr size_t kCacheSlots = 256;

struct TableObject {
  PyObject ob_base;
  PyObject* module;      // keeps the state below
  PyObject* operations;  // dict: name -> Operation, never shrinks
  ModuleState* state;
  OperationObject* cache[kCacheSlots];  // borrowed: the dictionary owns operation and name
};

TableObject* AsTable(PyObject* self) { return reinterpret_cast<TableObject*>(self); }

size_t SlotOf(PyObject* name) { return (reinterpret_cast<uintptr_t>(name) >> 4) % kCacheSlots; }

void Remember(TableObject* table, PyObject* operation) {
  OperationObject* object = AsOperation(operation);
  __atomic_store_n(&table->cache[SlotOf(object->name)], object, __ATOMIC_RELEASE);
}

// A new operation called `name`, an exact str; new reference. A program that makes up names
// without end gets an object of its own each time past the cap of the name table.
PyObject* Make(TableObject* table, PyObject* name) {
  if (PyDict_GET_SIZE(table->operations) >= trace::kMaxNames) {
    return NewOperation(table->state, name, /*lasting=*/false);
  }
  Py_INCREF(name);
  PyUnicode_InternInPlace(&name);
  PyObject* operation = NewOperation(table->state, name, /*lasting=*/true);
  PyObject* kept =
      operation == nullptr ? nullptr : PyDict_SetDefault(table->operations, name, operation);
  Py_DECREF(name);
  Py_XINCREF(kept);
  Py_XDECREF(operation);
  if (kept != nullptr) Remember(table, kept);
  return kept;
}

__attribute__((noinline)) PyObject* FindByValue(TableObject* table, PyObject* name) {
  if (!IsName(name, "name of an operation")) return nullptr;
  PyObject* exact = PyUnicode_FromObject(name);
  if (exact == nullptr) return nullptr;
  PyObject* operation = PyDict_GetItemWithError(table->operations, exact);
  if (operation != nullptr) {
    Py_INCREF(operation);
    if (PyUnicode_CHECK_INTERNED(exact)) Remember(table, operation);
  } else if (!PyErr_Occurred()) {
    operation = Make(table, exact);
  }
  Py_DECREF(exact);
  return operation;
}

inline OperationObject* FindCached(TableObject* table, PyObject* name) {
  OperationObject* cached = __atomic_load_n(&table->cache[SlotOf(name)], __ATOMIC_ACQUIRE);
  return cached != nullptr && cached->name == name ? cached : nullptr;
}

PyObject* FindOperation(PyObject* self, PyObject* name) {
  OperationObject* cached = FindCached(AsTable(self), name);
  if (__builtin_expect(cached == nullptr, 0)) return FindByValue(AsTable(self), name);
  return Py_NewRef(reinterpret_cast<PyObject*>(cached));
}

PyObject* RecordByName(PyObject* self, PyObject* name, uint32_t kind) {
  PyObject* operation = FindOperation(self, name);
  if (operation == nullptr) return nullptr;
  Record(kind, AsOperation(operation));
  Py_DECREF(operation);
  Py_RETURN_NONE;
}

PyObject* SetOperation(PyObject* self, PyObject* name) {
  return RecordByName(self, name, trace::kOperationEnter);
}

PyObject* EndOperation(PyObject* self, PyObject* name) {
  return RecordByName(self, name, trace::kOperationExit);
}

// No tp_clear: the module's own, which drops the functions that hold the table, breaks the cycle.
int Traverse(PyObject* self, visitproc visit, void* arg) {
  Py_VISIT(AsTable(self)->module);
  Py_VISIT(AsTable(self)->operations);
  Py_VISIT(Py_TYPE(self));
  return 0;
}

void Deallocate(PyObject* self) {
  PyTypeObject* type = Py_TYPE(self);
  PyObject_GC_UnTrack(self);
  Py_XDECREF(AsTable(self)->operations);
  Py_XDECREF(AsTable(self)->module);
  type->tp_free(self);
  Py_DECREF(type);
}

PyType_Slot object_slots[] = {{Py_tp_traverse, reinterpret_cast<void*>(Traverse)},
                              {Py_tp_dealloc, reinterpret_cast<void*>(Deallocate)},
                              {0, nullptr}};

PyType_Spec object_spec = {"rlscope._runtime.OperationTable", sizeof(TableObject), 0,
                           Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_GC |
                               Py_TPFLAGS_DISALLOW_INSTANTIATION | Py_TPFLAGS_IMMUTABLETYPE,
                           object_slots};

PyDoc_STRVAR(
    operation_doc,
    "operation(name, /)\n--\n\n"
    "An operation of the algorithm, such as inference, simulation or backprop.\n\n"
    "Context manager and decorator in one object. Operations nest; the innermost one owns\n"
    "the time of its thread or asyncio task:\n\n"
    "    with rls.operation(\"inference\"):\n"
    "        action = policy(observation)\n\n"
    "    @rls.operation(\"simulation\")\n"
    "    def step(env, action): ...\n\n"
    "A decorated generator or coroutine is in the operation from its first step to its\n"
    "end. A name is cut at 1,024 bytes of UTF-8.\n\n"
    "Raises:\n"
    "    TypeError: name is not a str.\n");
PyDoc_STRVAR(set_operation_doc,
             "set_operation(name, /)\n--\n\n"
             "Enters an operation, for code that cannot use `with`; pair it with end_operation:\n\n"
             "    rls.set_operation(\"inference\")\n"
             "    action = policy(observation)\n"
             "    rls.end_operation(\"inference\")\n");
PyDoc_STRVAR(end_operation_doc,
             "end_operation(name, /)\n--\n\n"
             "Leaves the innermost open operation of that name on this thread or asyncio task.\n");

PyMethodDef definitions[] = {{"operation", FindOperation, METH_O, operation_doc},
                             {"set_operation", SetOperation, METH_O, set_operation_doc},
                             {"end_operation", EndOperation, METH_O, end_operation_doc}};

PyObject* NewTable(PyObject* module) {
  PyObject* type = PyType_FromModuleAndSpec(module, &object_spec, nullptr);
  if (type == nullptr) return nullptr;
  PyObject* self =
      reinterpret_cast<PyTypeObject*>(type)->tp_alloc(reinterpret_cast<PyTypeObject*>(type), 0);
  Py_DECREF(type);
  if (self == nullptr) return nullptr;
  AsTable(self)->module = Py_NewRef(module);
  AsTable(self)->state = StateOf(module);
  AsTable(self)->operations = PyDict_New();
  if (AsTable(self)->operations != nullptr) return self;
  Py_DECREF(self);
  return nullptr;
}

int AddFunction(PyObject* module, PyObject* table, PyMethodDef* definition) {
  PyObject* home = PyModule_GetNameObject(module);
  PyObject* function = home == nullptr ? nullptr : PyCFunction_NewEx(definition, table, home);
  Py_XDECREF(home);
  if (function == nullptr) return -1;
  const int failed = PyModule_AddObjectRef(module, definition->ml_name, function);
  Py_DECREF(function);
  return failed;
}

}  // namespace

int AddOperationTable(PyObject* module) {
  PyObject* table = NewTable(module);
  if (table == nullptr) return -1;
  int failed = 0;
  for (PyMethodDef& definition : definitions) {
    failed = failed != 0 ? failed : AddFunction(module, table, &definition);
  }
  Py_DECREF(table);
  return failed;
}

}  // namespace rlscope::python
