// rls.profile without the wrapper: this process makes the run's control page and drains itself.
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/env.h"
#include "runtime/helper.h"
#include "runtime/image.h"
#include "runtime/lifecycle.h"
#include "runtime/process.h"
#include "trace/control_page.h"

namespace rlscope::runtime {
namespace {

int MakeRun(const char* directory) {
  if (realpath(directory, process.directory) == nullptr) return errno;
  trace::DrainOptions options;
  options.min_free_bytes = base::GetEnvNumber("RLSCOPE_MIN_FREE", options.min_free_bytes);
  trace::ControlPage* control;
  const int error = trace::CreateControl(process.directory, nullptr, options, &control);
  if (error == 0) trace::ReleaseControl(control);
  return error;
}

// The helper from the start, so that a program that records little has a file all the same.
int OpenAndDrain() {
  if (!rlscope_follow() && State() != RLSCOPE_PAUSED) return EIO;
  LockGuard guard(&process_lock);
  return StartHelper() ? 0 : EAGAIN;
}

}  // namespace
}  // namespace rlscope::runtime

int rlscope_profile_begin(const char* directory) {
  namespace runtime = rlscope::runtime;
  if (rlscope_initialize() != RLSCOPE_OFF || runtime::process.directory[0] != '\0') {
    return EALREADY;
  }
  const int saved_errno = errno;
  int error = runtime::MakeRun(directory);
  errno = saved_errno;
  if (error != 0) {
    runtime::process.directory[0] = '\0';
    return error;
  }
  runtime::Identify();
  runtime::process.late = true;
  runtime::WatchProcess();
  if (runtime::process.python) runtime::process.python_begin_ns = runtime::process.began_ns;
  runtime::LogEvent(static_cast<uint16_t>(rlscope::trace::ProcessEvent::kBegan), nullptr);
  if (runtime::process.python) runtime::LogPython();
  runtime::SetState(RLSCOPE_RECORDING);
  error = runtime::OpenAndDrain();
  if (error != 0) runtime::EndImage();
  return error;
}

void rlscope_profile_end(void) {
  if (rlscope::runtime::process.directory[0] != '\0') rlscope::runtime::EndImage();
}
