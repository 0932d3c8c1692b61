#include "native_calls/pointers.h"

namespace rlscope::native_calls {
namespace {

#define RLSCOPE_SLOT(structure, suite, slot, name, makes_object) \
  {name, offsetof(structure, slot), Suite::suite, makes_object}
#define TYPE(slot, name) RLSCOPE_SLOT(PyTypeObject, kType, slot, name, false)
#define MAKER(slot, name) RLSCOPE_SLOT(PyTypeObject, kType, slot, name, true)
#define NUMBER(slot, name) RLSCOPE_SLOT(PyNumberMethods, kNumber, slot, name, false)
#define SEQUENCE(slot, name) RLSCOPE_SLOT(PySequenceMethods, kSequence, slot, name, false)
#define MAPPING(slot, name) RLSCOPE_SLOT(PyMappingMethods, kMapping, slot, name, false)

// CPython's private wrappers around a callable begin alike, from 3.10 on.
struct MethodWrapper {
  PyObject ob_base;
  PyObject* callable;
};

constexpr int kDeepestWrapping = 8;

// Of SetVectorcallBehind(); guarded by the GIL.
void* vectorcall_front = nullptr;
void** (*vectorcall_behind)(PyObject* object) = nullptr;

}  // namespace

const Slot kSlots[] = {
    MAKER(tp_call, "__call__"),
    MAKER(tp_new, "__new__"),
    MAKER(tp_vectorcall, "__new__"),
    TYPE(tp_init, "__init__"),
    TYPE(tp_iter, "__iter__"),
    TYPE(tp_iternext, "__next__"),
    TYPE(tp_richcompare, "__eq__"),
    TYPE(tp_repr, "__repr__"),
    TYPE(tp_str, "__str__"),
    TYPE(tp_hash, "__hash__"),
    NUMBER(nb_add, "__add__"),
    NUMBER(nb_subtract, "__sub__"),
    NUMBER(nb_multiply, "__mul__"),
    NUMBER(nb_remainder, "__mod__"),
    NUMBER(nb_divmod, "__divmod__"),
    NUMBER(nb_power, "__pow__"),
    NUMBER(nb_negative, "__neg__"),
    NUMBER(nb_positive, "__pos__"),
    NUMBER(nb_absolute, "__abs__"),
    NUMBER(nb_bool, "__bool__"),
    NUMBER(nb_invert, "__invert__"),
    NUMBER(nb_lshift, "__lshift__"),
    NUMBER(nb_rshift, "__rshift__"),
    NUMBER(nb_and, "__and__"),
    NUMBER(nb_xor, "__xor__"),
    NUMBER(nb_or, "__or__"),
    NUMBER(nb_int, "__int__"),
    NUMBER(nb_float, "__float__"),
    NUMBER(nb_inplace_add, "__iadd__"),
    NUMBER(nb_inplace_subtract, "__isub__"),
    NUMBER(nb_inplace_multiply, "__imul__"),
    NUMBER(nb_inplace_remainder, "__imod__"),
    NUMBER(nb_inplace_power, "__ipow__"),
    NUMBER(nb_inplace_lshift, "__ilshift__"),
    NUMBER(nb_inplace_rshift, "__irshift__"),
    NUMBER(nb_inplace_and, "__iand__"),
    NUMBER(nb_inplace_xor, "__ixor__"),
    NUMBER(nb_inplace_or, "__ior__"),
    NUMBER(nb_floor_divide, "__floordiv__"),
    NUMBER(nb_true_divide, "__truediv__"),
    NUMBER(nb_inplace_floor_divide, "__ifloordiv__"),
    NUMBER(nb_inplace_true_divide, "__itruediv__"),
    NUMBER(nb_index, "__index__"),
    NUMBER(nb_matrix_multiply, "__matmul__"),
    NUMBER(nb_inplace_matrix_multiply, "__imatmul__"),
    SEQUENCE(sq_length, "__len__"),
    SEQUENCE(sq_concat, "__add__"),
    SEQUENCE(sq_repeat, "__mul__"),
    SEQUENCE(sq_item, "__getitem__"),
    SEQUENCE(sq_ass_item, "__setitem__"),
    SEQUENCE(sq_contains, "__contains__"),
    SEQUENCE(sq_inplace_concat, "__iadd__"),
    SEQUENCE(sq_inplace_repeat, "__imul__"),
    MAPPING(mp_length, "__len__"),
    MAPPING(mp_subscript, "__getitem__"),
    MAPPING(mp_ass_subscript, "__setitem__"),
};
const size_t kSlotCount = sizeof kSlots / sizeof kSlots[0];

void** SlotOf(PyTypeObject* type, const Slot& slot) {
  void* suite = type;
  switch (slot.suite) {
    case Suite::kType:
      break;
    case Suite::kNumber:
      suite = type->tp_as_number;
      break;
    case Suite::kSequence:
      suite = type->tp_as_sequence;
      break;
    case Suite::kMapping:
      suite = type->tp_as_mapping;
      break;
  }
  if (suite == nullptr) return nullptr;
  return reinterpret_cast<void**>(static_cast<char*>(suite) + slot.offset);
}

void** VectorcallOf(PyObject* object) {
  PyTypeObject* type = Py_TYPE(object);
  const bool has_own = PyType_HasFeature(type, Py_TPFLAGS_HAVE_VECTORCALL) &&
                       type->tp_vectorcall_offset > 0 && type != &PyFunction_Type &&
                       type != &PyMethod_Type && !PyType_Check(object);
  if (!has_own) return nullptr;
  return reinterpret_cast<void**>(reinterpret_cast<char*>(object) + type->tp_vectorcall_offset);
}

void SetVectorcallBehind(void* front, void** (*behind)(PyObject* object)) {
  vectorcall_behind = behind;
  vectorcall_front = front;
}

Holder HolderOf(PyObject* object) {
  PyTypeObject* type = Py_TYPE(object);
  if (type == &PyCFunction_Type || type == &PyCMethod_Type) return Holder::kFunction;
  if (type == &PyMethodDescr_Type || type == &PyClassMethodDescr_Type) return Holder::kMethod;
  if (type == &PyGetSetDescr_Type) return Holder::kGetSet;
  if (type == &PyWrapperDescr_Type) return Holder::kWrapper;
  return VectorcallOf(object) == nullptr ? Holder::kNothing : Holder::kVectorcall;
}

Pointers PointersOf(PyObject* object, Holder holder) {
  Pointers pointers;
  switch (holder) {
    case Holder::kNothing:
      break;
    case Holder::kFunction: {
      PyMethodDef* method = reinterpret_cast<PyCFunctionObject*>(object)->m_ml;
      pointers.location[0] = reinterpret_cast<void**>(&method->ml_meth);
      break;
    }
    case Holder::kMethod: {
      PyMethodDef* method = reinterpret_cast<PyMethodDescrObject*>(object)->d_method;
      pointers.location[0] = reinterpret_cast<void**>(&method->ml_meth);
      break;
    }
    case Holder::kGetSet: {
      PyGetSetDef* definition = reinterpret_cast<PyGetSetDescrObject*>(object)->d_getset;
      pointers.location[0] = reinterpret_cast<void**>(&definition->get);
      pointers.location[1] = reinterpret_cast<void**>(&definition->set);
      break;
    }
    case Holder::kWrapper:
      pointers.location[0] = &reinterpret_cast<PyWrapperDescrObject*>(object)->d_wrapped;
      break;
    case Holder::kVectorcall: {
      void** location = VectorcallOf(object);
      const bool has_front = *location != nullptr && *location == vectorcall_front;
      pointers.location[0] = has_front ? vectorcall_behind(object) : location;
      break;
    }
  }
  return pointers;
}

PyObject* Unwrap(PyObject* object) {
  for (int depth = 0; depth < kDeepestWrapping && object != nullptr; depth++) {
    PyTypeObject* type = Py_TYPE(object);
    if (type == &PyStaticMethod_Type || type == &PyClassMethod_Type) {
      object = reinterpret_cast<MethodWrapper*>(object)->callable;
    } else if (type == &PyInstanceMethod_Type) {
      object = PyInstanceMethod_GET_FUNCTION(object);
    } else if (type == &PyMethod_Type) {
      object = PyMethod_GET_FUNCTION(object);
    } else {
      return object;
    }
  }
  return object;
}

}  // namespace rlscope::native_calls
