// Whether a program without an environment acts with gradients: a backward does not use the first
// of the forwards before it, as PyTorch's graph tells.
#ifndef RLSCOPE_PYTHON_RUNTIME_MODULE_ACTING_H_
#define RLSCOPE_PYTHON_RUNTIME_MODULE_ACTING_H_

#define PY_SSIZE_T_CLEAN
#include <Python.h>
#include <stdint.h>

namespace rlscope::python {

class Acting {
 public:
  // An operation opens with a forward. `is_judged`: there is no environment.
  void Open(bool is_judged) {
    is_first_ = is_judged;
    first_node_ = 0;
    repeats_ = 0;
  }
  // The first forward of the operation has not ended.
  bool is_first() const { return is_first_; }
  // Its result; null: it has no gradients. Leaves a pending Python error alone, as Judge() does.
  void EndFirst(PyObject* result);
  // A forward begins, of a module that had one in the operation. Whether those before were acting.
  bool Repeat() {
    ++repeats_;
    return acts_;
  }
  // A backward of `outputs`, a tensor or a tuple of them, follows. The first ones with repeated
  // forwards decide. Whether this one tells that forwards were acting.
  bool Judge(PyObject* outputs);

 private:
  static constexpr int kMostJudged = 8;
  bool IsDecided() const { return acts_ || judged_ == kMostJudged; }

  bool is_first_ = false;
  uint64_t first_node_ = 0;  // the last one in the graph of the first forward; 0: none is known
  int repeats_ = 0;
  int judged_ = 0;
  bool acts_ = false;
};

}  // namespace rlscope::python

#endif  // RLSCOPE_PYTHON_RUNTIME_MODULE_ACTING_H_
