#include "runtime/process.h"

#include "runtime/syscalls.h"

// A page of its own, so that the kernel can wipe it in children.
__attribute__((aligned(4096))) struct rlscope_process_state rlscope_process = {};

namespace rlscope::runtime {

Process process;
Lock process_lock;

bool IsVforkChild() { return State() != RLSCOPE_UNKNOWN && SysGetPid() != process.pid; }

}  // namespace rlscope::runtime
