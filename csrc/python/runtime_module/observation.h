// What an environment's step returned as observation, to recognise it where a library converts it.
//
// Only addresses are kept: the program's objects live and die as they do without us. An address may
// come to belong to another object, so nothing here is ever dereferenced.
#ifndef RLSCOPE_PYTHON_RUNTIME_MODULE_OBSERVATION_H_
#define RLSCOPE_PYTHON_RUNTIME_MODULE_OBSERVATION_H_

#define PY_SSIZE_T_CLEAN
#include <Python.h>

namespace rlscope::python {

class Observation {
 public:
  // The observation that `result`, of a step or reset, has in it: the first item of a tuple, or the
  // result itself. Null, and what is no array: there is none.
  void Set(PyObject* result);
  // Whether the object is the observation or an item of it, a view of it, or holds it as its first
  // item; or whether it was made of it. Sets no Python error and leaves a pending one alone.
  bool Covers(PyObject* object) const;
  // The object was made of the observation, or of what had been made of it.
  void NoteConverted(const PyObject* object) { converted_ = object; }
  bool IsConverted(const PyObject* object) const { return object == converted_; }
  // The object was made of something else, and no forward has followed; null: none was.
  void NoteMade(const PyObject* object) { made_ = object; }
  bool IsMade(const PyObject* object) const { return object != nullptr && object == made_; }

 private:
  bool Holds(const PyObject* object) const;
  void Add(PyObject* object);

  static constexpr int kMostParts = 8;
  const PyObject* parts_[kMostParts] = {};  // the observation, then its items
  int count_ = 0;
  const PyObject* converted_ = nullptr;
  const PyObject* made_ = nullptr;
};

}  // namespace rlscope::python

#endif  // RLSCOPE_PYTHON_RUNTIME_MODULE_OBSERVATION_H_
