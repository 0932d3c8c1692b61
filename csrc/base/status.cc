#include "base/status.h"

#include <stdarg.h>
#include <stdio.h>

namespace rlscope::base {

Status Status::Error(int error, const char* format, ...) {
  Status status;
  status.error_ = error;
  va_list arguments;
  va_start(arguments, format);
  vsnprintf(status.message_, sizeof status.message_, format, arguments);
  va_end(arguments);
  if (status.ok()) snprintf(status.message_, sizeof status.message_, "failed");
  return status;
}

}  // namespace rlscope::base
