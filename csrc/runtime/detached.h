// Runs a function that opens files where the program cannot see it: in a thread that lives for
// the call only and has its own copy of the descriptor table, so no descriptor of ours is ever in
// the program's.
#ifndef RLSCOPE_RUNTIME_DETACHED_H_
#define RLSCOPE_RUNTIME_DETACHED_H_

#include <stdint.h>

namespace rlscope::runtime {

// Calls work(argument) to the end before it returns; about 30 us. `work` may use raw system calls
// (syscalls.h) and memory only: no errno, no thread-local variable, no libc call that needs
// either. Files it opens close by themselves. Where the kernel refuses the clone (seccomp), work
// runs in place and OpenHidden() keeps its descriptors out of the way. All signals of the calling
// thread are blocked meanwhile.
void RunDetached(void (*work)(void* argument), void* argument);

// open() for `work`: in a detached thread as it is; in place, moved to 1000 or above and
// close-on-exec, because 0 to 2 may be free and the program may be about to fill them.
// A descriptor, or -errno. Close it with SysClose as soon as it is used.
int OpenHidden(const char* path, int flags, int mode);

}  // namespace rlscope::runtime

#endif  // RLSCOPE_RUNTIME_DETACHED_H_
