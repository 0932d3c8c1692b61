#include "native_calls/builtin_identity.h"

#include <string.h>

#include "native_calls/original.h"
#include "native_calls/stub_pool.h"

namespace rlscope::native_calls {
namespace {

hashfunc builtin_hash = nullptr;
richcmpfunc builtin_compare = nullptr;

// The builtin as it was before the patch, for the two slots only: they look at its type, m_self and
// m_ml->ml_meth, and keep none of them.
class Unpatched {
 public:
  explicit Unpatched(PyObject* builtin) {
    memcpy(&function_, builtin, sizeof function_);
    definition_ = *function_.m_ml;
    definition_.ml_meth =
        reinterpret_cast<PyCFunction>(Original(reinterpret_cast<void*>(definition_.ml_meth)));
    function_.m_ml = &definition_;
  }
  PyObject* get() { return reinterpret_cast<PyObject*>(&function_); }

 private:
  PyCFunctionObject function_;
  PyMethodDef definition_;
};

bool IsPatched(PyObject* builtin) {
  const PyCFunction function = reinterpret_cast<PyCFunctionObject*>(builtin)->m_ml->ml_meth;
  return IsStub(reinterpret_cast<void*>(function));
}

Py_hash_t Hash(PyObject* self) {
  return IsPatched(self) ? builtin_hash(Unpatched(self).get()) : builtin_hash(self);
}

PyObject* Compare(PyObject* left, PyObject* right, int operation) {
  if (!PyCFunction_Check(left) || !PyCFunction_Check(right) ||
      !(IsPatched(left) || IsPatched(right))) {
    return builtin_compare(left, right, operation);
  }
  return builtin_compare(Unpatched(left).get(), Unpatched(right).get(), operation);
}

}  // namespace

void InstallBuiltinIdentity(PyTypeObject* type) {
  if (type->tp_hash == builtin_hash) type->tp_hash = Hash;
  if (type->tp_richcompare == builtin_compare) type->tp_richcompare = Compare;
}

void InstallBuiltinIdentity() {
  if (builtin_hash != nullptr) return;
  builtin_hash = PyCFunction_Type.tp_hash;
  builtin_compare = PyCFunction_Type.tp_richcompare;
  InstallBuiltinIdentity(&PyCFunction_Type);
  InstallBuiltinIdentity(&PyCMethod_Type);
}

}  // namespace rlscope::native_calls
