// fork: the child is an image of its own that begins at its first record. Handlers do as little as
// can be: no malloc, no lock that may be held, no I/O.
#ifndef RLSCOPE_RUNTIME_FORK_H_
#define RLSCOPE_RUNTIME_FORK_H_

namespace rlscope::runtime {

// Makes this process a child image of the one it was forked from: new identity, no image, no
// ring for the calling thread. Async-signal-safe; used by the fork handler and, after a raw
// clone, by the first thing that looks at the state.
void BecomeForkChild();

}  // namespace rlscope::runtime

#endif  // RLSCOPE_RUNTIME_FORK_H_
