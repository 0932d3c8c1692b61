// Classes that may be environments of no known library: they have a step and a reset. What their
// steps do tells which of them are.
#ifndef RLSCOPE_PYTHON_RUNTIME_MODULE_OWN_ENVIRONMENTS_H_
#define RLSCOPE_PYTHON_RUNTIME_MODULE_OWN_ENVIRONMENTS_H_

#define PY_SSIZE_T_CLEAN
#include <Python.h>
#include <stdint.h>

namespace rlscope::python {

extern bool has_environment;      // of the process, which has stepped or reset one
extern bool has_own_environment;  // not in another process (exchange.h)

// How often a thread called modules and compiled functions, and how often it learned.
struct PolicyCalls {
  uint64_t forwards = 0;
  uint64_t updates = 0;  // backwards and optimizer steps
};

class OwnClass {
 public:
  bool is_environment() const { return verdict_ == Verdict::kEnvironment; }
  bool is_open() const { return verdict_ == Verdict::kOpen; }
  // A step has ended. An environment's is given an action, returns an observation, does not call
  // the policy itself, and the policy is called between two of them: three such steps decide. Of a
  // policy that is no module, three results in a row that look like an environment's do.
  //   given      the step has an argument
  //   is_first   the process has no environment
  //   result     null if it raised
  void Judge(const PolicyCalls& before, const PolicyCalls& after, bool given, bool is_first,
             PyObject* result);

 private:
  enum class Verdict : uint8_t { kOpen, kEnvironment, kOther };
  friend OwnClass* FindOwnClass(PyTypeObject* type);
  static constexpr int kEnough = 2;
  static constexpr int kEnoughTransitions = 3;

  bool ReturnsTransition(PyObject* result);

  PyTypeObject* type_ = nullptr;  // a strong reference for ever
  Verdict verdict_ = Verdict::kOpen;
  bool has_stepped_ = false;
  uint64_t forwards_ = 0;  // when its last step ended
  int alternations_ = 0;
  int transitions_ = 0;
  bool returns_other_ = false;  // than a transition, at least once
};

// Null: there are too many.
OwnClass* FindOwnClass(PyTypeObject* type);

// Three functions. The first is called without arguments once there is a forward and no
// environment, the second with each class that is found to be one, or with None where environments
// step in other processes. The third says whether what a
// step returned looks like a transition. The first call counts.
void SetEnvironmentFinder(PyObject* finder, PyObject* found, PyObject* transition);

// The process has its environments in others (exchange.h).
void TellExchanges();

// There is a forward and no environment.
void LookForEnvironments();

}  // namespace rlscope::python

#endif  // RLSCOPE_PYTHON_RUNTIME_MODULE_OWN_ENVIRONMENTS_H_
