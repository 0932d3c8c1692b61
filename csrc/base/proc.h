// Facts about a process, from /proc and the kernel. Libc only, no malloc. Each function opens
// and closes what it reads, but for the states of threads.
#ifndef RLSCOPE_BASE_PROC_H_
#define RLSCOPE_BASE_PROC_H_

#include <stddef.h>
#include <stdint.h>

namespace rlscope::base {

struct ProcStat {
  uint32_t pid;
  uint32_t parent_pid;
  char state;           // R, S, D, Z, ...
  char comm[64];        // NUL-terminated, as the kernel gives it (may hold any byte but NUL)
  uint64_t start_time;  // field 22: clock ticks since boot; distinguishes processes of one pid
};

// Reads /proc/<pid>/stat with one read; pid 0 is the calling process. False: no such process, or
// /proc cannot be read.
bool ReadProcStat(uint32_t pid, ProcStat* stat);

// Whether the process that began at `start_time` still runs under this pid (a zombie does not).
bool IsAlive(uint32_t pid, uint64_t start_time);

// A descriptor of a process, for HasExited(); the caller closes it. -1: there is no such process,
// or the kernel is older than 5.3.
int OpenProcess(uint32_t pid);
// Whether the process has ended, a zombie too. False: it lives, or the descriptor is -1.
bool HasExited(int process);

// What /proc/<pid>/task/<tid>/schedstat holds: time on a CPU, and time in which the thread waited
// for one, in nanoseconds. Parsing uses memory only. False: it is no such text.
struct SchedulerTimes {
  uint64_t running_ns;
  uint64_t runnable_ns;
};
bool ParseSchedulerTimes(const char* text, SchedulerTimes* times);
// False: the thread is gone, or the kernel does not say.
bool ReadSchedulerTimes(uint32_t pid, uint32_t tid, SchedulerTimes* times);

// A descriptor of what the kernel says of a thread, for ReadThreadState(); the caller closes it. It
// stays that of the thread when another one gets its number. -1: there is no such thread.
int OpenThreadState(uint32_t pid, uint32_t tid);
// The state of the thread (ProcStat::state). 0: it is gone, or the kernel does not say.
char ReadThreadState(int descriptor);

// Inode of the calling process's pid namespace; 0 unknown.
uint64_t PidNamespace();

// The kernel's boot id, "xxxxxxxx-xxxx-..."; empty when unknown. Writes at most size bytes,
// NUL included.
void ReadBootId(char* text, size_t size);

// Host name, with anything outside of [A-Za-z0-9._-] replaced by '-' so that it can stand in a
// file's name; "host" when unknown.
void ReadHostName(char* text, size_t size);

}  // namespace rlscope::base

#endif  // RLSCOPE_BASE_PROC_H_
