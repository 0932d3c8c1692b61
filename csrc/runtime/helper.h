// The in-process helper: a thread that drains this process's own rings where no wrapper does, or
// where the wrapper died. It lives in a descriptor table of its own and takes no signal.
#ifndef RLSCOPE_RUNTIME_HELPER_H_
#define RLSCOPE_RUNTIME_HELPER_H_

#include <stdint.h>

namespace rlscope::runtime {

bool IsHelperRunning();

// Starts it if it does not run and takes the image over from any other drainer. False: no thread
// can be made, or no image is open. Needs process_lock.
bool StartHelper();

enum class HelperStop {
  kPause,  // a fork is coming: it goes on in another thread later
  kEnd,    // the process ends: drains all, writes the EndChunk, removes the rings
};
// Stops it and waits at most `wait_ns` until it is gone; later it is left behind, counted
// as still running. False: it is. Needs process_lock.
bool StopHelper(HelperStop how, int64_t wait_ns);

// CPU time of helpers of this process so far.
int64_t HelperCpuNs();

// Fork child: there is no helper here. What it owned stays behind; it may be half changed.
void ForgetHelper();

}  // namespace rlscope::runtime

#endif  // RLSCOPE_RUNTIME_HELPER_H_
