// rls.profile without the wrapper: this process makes the run's control page and drains itself.
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/env.h"
#include "runtime/file_size_signal.h"
#include "runtime/helper.h"
#include "runtime/image.h"
#include "runtime/lifecycle.h"
#include "runtime/process.h"
#include "trace/drain/control_page.h"

namespace rlscope::runtime {
namespace {

int MakeRun(const char* directory) {
  if (realpath(directory, process.directory) == nullptr) return errno;
  trace::DrainOptions options;
  options.min_free_bytes = base::GetEnvNumber("RLSCOPE_MIN_FREE", options.min_free_bytes);
  trace::ControlPage* control;
  const FileSizeSignalGuard guard;
  const int error = trace::CreateControl(process.directory, nullptr, options, &control);
  if (error == 0) trace::ReleaseControl(control);
  if (error == EFBIG) guard.TakeSignal();
  return error;
}

// In one piece: other threads record as soon as the state says so.
int BeginRun(const char* directory) {
  LockGuard guard(&process_lock);
  if (State() != RLSCOPE_OFF || process.directory[0] != '\0') return EALREADY;
  const int saved_errno = errno;
  const int error = MakeRun(directory);
  errno = saved_errno;
  if (error != 0) {
    process.directory[0] = '\0';
    return error;
  }
  Identify();
  process.late = true;
  WatchProcess();
  if (process.python) process.python_begin_ns = process.began_ns;
  LogEvent(static_cast<uint16_t>(trace::ProcessEvent::kBegan), nullptr);
  if (process.python) LogPython();
  SetState(RLSCOPE_RECORDING);
  return 0;
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
  rlscope_initialize();
  if (const int error = runtime::BeginRun(directory)) return error;
  const int error = runtime::OpenAndDrain();
  if (error != 0) runtime::EndImage();
  return error;
}

void rlscope_profile_end(void) { rlscope::runtime::EndImage(); }
