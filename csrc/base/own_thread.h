// A thread of rlscope's own, in a process that may be somebody else's. Libc only.
#ifndef RLSCOPE_BASE_OWN_THREAD_H_
#define RLSCOPE_BASE_OWN_THREAD_H_

#include <pthread.h>

namespace rlscope::base {

// Starts a thread that takes none of the program's signals. The two that the C library keeps to
// itself stay open: setuid() of a program waits until every thread has answered one of them. Leaves
// errno alone. 0 or an errno value; ENOSYS in a program without threads (before glibc 2.34).
int StartOwnThread(pthread_t* thread, void* (*body)(void*), void* argument);

// Asks the kernel to let this thread run soon after it wakes, also where all cores are busy: it
// says that it runs for a short time only. Its share of the CPU stays what it was. Linux 6.12 and
// later; earlier kernels take no notice. Where all cores were busy, the median delay was 3 ms, and
// is 0.1 ms.
void WakeOwnThreadSoon();

}  // namespace rlscope::base

#endif  // RLSCOPE_BASE_OWN_THREAD_H_
