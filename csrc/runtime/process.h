// The process's own state: its identity, its run, and its recording. Plain memory that a
// fork child inherits and corrects; nothing here is shared.
#ifndef RLSCOPE_RUNTIME_PROCESS_H_
#define RLSCOPE_RUNTIME_PROCESS_H_

#include <limits.h>
#include <stdint.h>

#include "runtime/lock.h"
#include "runtime/rlscope.h"
#include "trace/layout/interpreter_layout.h"
#include "trace/layout/shared_pages.h"

namespace rlscope::runtime {

struct Process {
  char directory[PATH_MAX];      // RLSCOPE_DIR, absolute; empty: rlscope is off
  uint32_t pid;                  // getpid() in this image; differs in a vfork child
  uint32_t parent_pid;           // getppid() at construction; fork child: the forking process
  uint64_t start_time;           // 0: not read yet (fork child)
  int64_t began_ns;              // CLOCK_MONOTONIC at construction or in the fork child's handler
  uint32_t generation;           // counts forks between here and the image that was executed
  bool forked;                   // a fork child (whose kForked record may still be unwritten)
  bool logged;                   // kBegan or kForked is in processes.log
  bool ended;                    // kEnded is written: nothing follows
  bool wipes_on_fork;            // the kernel wipes rlscope_process in children (Linux 4.14)
  bool late;                     // the library came by import, not by preload
  bool stopped;                  // rls.stop() of this process
  bool held;                     // rlscope_hold()
  bool timed;                    // rlscope_time_operations()
  bool gave_up;                  // no drainer: records no more
  bool refused;                  // it could not make its files: records nothing
  bool cut;                      // a drainer cut recording short, and that was counted
  int64_t window_closed_ns;      // CLOCK_MONOTONIC when a window last closed; 0: none has
  int64_t cupti_cpu_ns;          // CPU time of the thread that reads what CUPTI recorded
  int64_t cupti_flush_ns;        // how long the exit waited for that thread
  uint32_t gpu_unseen;           // enum GpuUnseen
  uint32_t last_call;            // the trace's number of the latest CUDA call that began (windows)
  uint32_t last_call_before;     // and of the latest one before the iteration
  bool probes;                   // are run
  bool explicit_iterations;      // automatic ones are ignored from then on
  const void* iteration_thread;  // rlscope_self of the thread that owns the iterations
  char comm[16];
  // Python, kept here because fork children inherit it with the interpreter.
  bool python;
  int64_t python_begin_ns;
  int64_t python_end_ns;
  char python_version[48];
  rlscope_interpreter_layout interpreter;  // none while its address is 0
};

// Whether GPU work of the process goes unrecorded (--gpu-share). Written without process_lock.
enum GpuUnseen : uint32_t {
  kGpuUnseenNow = 1,
  kGpuUnseenBefore = 2  // or some of it, since the iteration began
};

// Zero-initialised; filled by the constructor.
extern Process process;

// Guards everything slow: image, names, rings, windows. Never held while a record is written on
// the hot path, and never across a wait for room.
extern Lock process_lock;

// True in a vfork child, which shares this memory with its parent and must write nothing.
bool IsVforkChild();

// Changes a member of rlscope_process, which other threads read without the lock.
template <typename T>
inline void Store(T* member, T value) {
  __atomic_store_n(member, value, __ATOMIC_RELEASE);
}

inline void SetState(rlscope_state state) {
  Store(&rlscope_process.state, static_cast<uint32_t>(state));
}
inline rlscope_state State() {
  return static_cast<rlscope_state>(__atomic_load_n(&rlscope_process.state, __ATOMIC_ACQUIRE));
}

}  // namespace rlscope::runtime

#endif  // RLSCOPE_RUNTIME_PROCESS_H_
