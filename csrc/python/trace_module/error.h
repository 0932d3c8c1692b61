// What Python gets for a trace that cannot be read or written.
#ifndef RLSCOPE_PYTHON_TRACE_MODULE_ERROR_H_
#define RLSCOPE_PYTHON_TRACE_MODULE_ERROR_H_

#include <stdexcept>

namespace rlscope::python {

// Becomes _trace.TraceError.
class TraceError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

}  // namespace rlscope::python

#endif  // RLSCOPE_PYTHON_TRACE_MODULE_ERROR_H_
