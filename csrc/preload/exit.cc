// _exit and _Exit: the exit path of children, of shells and of frameworks that skip destructors.
// exit(), return from main and quick_exit() come through handlers (runtime/lifecycle.cc).
#include "cupti/attach.h"
#include "runtime/lifecycle.h"
#include "runtime/rlscope.h"
#include "runtime/syscalls.h"

namespace {

[[noreturn]] void ExitNow(int status) {
  rlscope::cupti::EndCupti();
  rlscope::runtime::EndProcess(status);
  for (;;) rlscope::runtime::SysCall(SYS_exit_group, status);
}

}  // namespace

extern "C" RLSCOPE_EXPORT [[noreturn]] void _exit(int status) { ExitNow(status); }
extern "C" RLSCOPE_EXPORT [[noreturn]] void _Exit(int status) { ExitNow(status); }
