// Functions of the interpreter in which a thread waits (posix.read, time.sleep, Lock.acquire):
// calls that take longer than kShortestWaitNs become records whose name says for what the thread
// waited.
//
//   "lock|_thread.lock.acquire"        kind | function
//   "pipe 4711|posix.read"             kind and object | function: the pipe with that inode
//   "semaphore 4712|..."               the semaphore in shared memory with that inode
//   "sleep|select.poll.poll"           a call that came back because its time was over
//
// A shorter call leaves no record, so that a lock that is free and a pipe that has data cost two
// reads of the clock. The first call on an object is recorded however short it was: it says that
// this process uses the object.
//
// All functions but RecordGilWait() need the GIL of the main interpreter.
#ifndef RLSCOPE_NATIVE_CALLS_WAITS_H_
#define RLSCOPE_NATIVE_CALLS_WAITS_H_

#define PY_SSIZE_T_CLEAN
#include <Python.h>

#include <string>

#include "native_calls/call.h"

namespace rlscope::native_calls {

// Where a call has the object that it waits for.
enum class WaitObject {
  kNone,
  kDescriptor,       // the first argument is a file descriptor
  kOwnDescriptor,    // `self` is a socket or FileIO, which keep theirs after the object's header
  kReadyDescriptor,  // the result lists those that are ready: the first one ended the wait
  kSemaphore,        // `self` is a SemLock, which keeps the semaphore's address there
  kProcess,          // the first argument is a pid
  kSocketPair,       // it does not wait: the result is the two ends of a socketpair
};

struct WaitFunction {
  std::string name;  // "posix.read"
  std::string kind;  // "lock"; of a descriptor, what it is called where it cannot be looked at
  WaitObject object;
  // A call may be the first record of a process: one that does nothing but wait is in the trace.
  // Not for what every process does (taking locks, reading files, printing).
  bool opens;
};

// Patches a builtin function or method descriptor, or, for kNone, an object that carries its own
// vectorcall pointer (a Cython function). False: it is none of them, no stub is left, or the
// interpreter has no GIL.
bool PatchWait(PyObject* function, const WaitFunction& wait);

// Records that this thread waited for the GIL, which it does not have; inside another wait, once
// that is over.
void RecordGilWait(uint32_t word, uint64_t start, uint64_t end);

}  // namespace rlscope::native_calls

#endif  // RLSCOPE_NATIVE_CALLS_WAITS_H_
