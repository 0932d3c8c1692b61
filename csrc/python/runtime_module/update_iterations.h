// Where automatic iterations of a process begin that steps no environment, or only to evaluate:
// with the steps of one optimizer.
#ifndef RLSCOPE_PYTHON_RUNTIME_MODULE_UPDATE_ITERATIONS_H_
#define RLSCOPE_PYTHON_RUNTIME_MODULE_UPDATE_ITERATIONS_H_

#include <stdint.h>

namespace rlscope::python {

// Of the process; its methods need the GIL.
class UpdateIterations {
 public:
  // An optimizer, or a compiled function that computes gradients, begins a step. Whether an
  // iteration begins with it.
  bool Begins(const void* optimizer);
  // An environment is stepped, and not to evaluate. Whether iterations begin with updates all the
  // same.
  bool GoOn();

 private:
  // Programs try an optimizer before they train, and its first step makes its state.
  static constexpr int kTried = 1;
  // A program that has trained for so long without an environment goes on to be one of these.
  static constexpr int kEnough = 20;
  // So many steps of others in a row: the optimizer is not used any more.
  static constexpr int kMostOthers = 64;

  void Renew();

  uint32_t generation_ = UINT32_MAX;  // of the process image
  const void* optimizer_ = nullptr;   // the one that counts; never dereferenced
  int steps_ = 0;                     // of it, up to kEnough
  int others_ = 0;                    // steps of other ones since its last one
  bool has_stepped_ = false;
};

extern UpdateIterations update_iterations;

}  // namespace rlscope::python

#endif  // RLSCOPE_PYTHON_RUNTIME_MODULE_UPDATE_ITERATIONS_H_
