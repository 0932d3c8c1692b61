#include "runtime/fork.h"

#include "base/clock.h"
#include "runtime/helper.h"
#include "runtime/image.h"
#include "runtime/interval_writer.h"
#include "runtime/process.h"
#include "runtime/rings.h"
#include "runtime/syscalls.h"
#include "runtime/threads.h"
#include "runtime/window.h"

namespace rlscope::runtime {

void BecomeForkChild() {
  process.parent_pid = process.pid;
  process.pid = SysGetPid();
  process.start_time = 0;
  process.began_ns = base::ReadMonotonicNs();
  process.generation++;
  process.forked = true;
  process.logged = process.ended = process.late = false;
  process.gave_up = process.refused = process.cut = false;
  process.cupti_cpu_ns = process.cupti_flush_ns = 0;
  process.explicit_iterations = false;
  process.iteration_thread = nullptr;
  process.python_begin_ns = process.python ? process.began_ns : 0;
  process.python_end_ns = 0;
  process_lock.Reset();
  ForgetHelper();
  ForgetRings();
  ForgetIntervals();
  CloseImage();
  ForgetThread(&rlscope_self);
  FollowNothing();
  Store(&rlscope_process.generation, process.generation);
  SetState(process.directory[0] != '\0' ? RLSCOPE_RECORDING : RLSCOPE_OFF);
}

}  // namespace rlscope::runtime
