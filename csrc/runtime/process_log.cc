#include "runtime/process_log.h"

#include <errno.h>
#include <string.h>
#include <time.h>

#include "base/clock.h"
#include "base/crc32c.h"
#include "runtime/detached.h"
#include "runtime/file_size_signal.h"
#include "runtime/process.h"
#include "runtime/syscalls.h"

namespace rlscope::runtime {
namespace {

constexpr char kFileName[] = "/processes.log";
constexpr int64_t kStartTimeNs = 10000000;  // the kernel gives start times in 1/100 s

// /proc/self/ns/pid is a link "pid:[4026531836]".
uint64_t ReadPidNamespace() {
  char link[64];
  const long size =
      SysCall(SYS_readlinkat, AT_FDCWD, Address("/proc/self/ns/pid"), Address(link), sizeof link);
  uint64_t inode = 0;
  for (long i = 5; i < size && link[i] >= '0' && link[i] <= '9'; i++) {
    inode = inode * 10 + static_cast<uint64_t>(link[i] - '0');
  }
  return inode;
}

// How old the process was when the recorder began in it, up to 10 ms more: start times are rounded
// down. Both clocks are those of the process's own time namespace. 0: not known.
int64_t LateAttachNs(const trace::ProcessRecord& record) {
  struct timespec boot;
  if (record.start_time == 0 || clock_gettime(CLOCK_BOOTTIME, &boot) != 0) return 0;
  const int64_t now_ns = boot.tv_sec * INT64_C(1000000000) + boot.tv_nsec;
  const int64_t age_ns = now_ns - static_cast<int64_t>(record.start_time) * kStartTimeNs;
  return age_ns - (record.time_ns - record.began_ns);
}

}  // namespace

trace::ProcessRecord MakeRecord(trace::ProcessEvent event) {
  trace::ProcessRecord record;
  memset(&record, 0, sizeof record);
  record.magic = trace::kProcessRecordMagic;
  record.version = trace::kAbiVersion;
  record.event = static_cast<uint16_t>(event);
  record.pid = process.pid;
  record.parent_pid = process.parent_pid;
  record.flags = process.late ? trace::kLateAttach : 0;
  record.start_time = process.start_time;
  record.pid_namespace = ReadPidNamespace();
  record.began_ns = process.began_ns;
  // The interpreter's begin stands in the page, too: a sweep of a part knows only the log's.
  record.time_ns =
      event == trace::ProcessEvent::kPython ? process.python_begin_ns : base::ReadMonotonicNs();
  memcpy(record.name, process.comm, sizeof process.comm);
  if (process.late && event == trace::ProcessEvent::kBegan) {
    record.late_attach_ns = LateAttachNs(record);
  }
  return record;
}

int AppendRecords(const char* directory, trace::ProcessRecord* records, int count) {
  char path[PATH_MAX + sizeof kFileName];
  const size_t length = strlen(directory);
  memcpy(path, directory, length);
  memcpy(path + length, kFileName, sizeof kFileName);
  for (int i = 0; i < count; i++) {
    records[i].crc = 0;
    records[i].crc = base::Crc32c(0, &records[i], sizeof records[i]);
  }
  // A stranger may have put a FIFO there. O_NONBLOCK: the program must not wait for its reader.
  const int descriptor = OpenHidden(path, O_WRONLY | O_APPEND | O_NOFOLLOW | O_NONBLOCK, 0);
  if (descriptor < 0) return descriptor;
  const uint64_t size = static_cast<uint64_t>(count) * sizeof *records;
  const FileSizeSignalGuard guard;
  // A FIFO cannot be sought in. A write to one whose reader has gone would end the program
  // (SIGPIPE).
  const long position = SysCall(SYS_lseek, descriptor, 0, /*SEEK_CUR=*/1);
  const long written = position < 0 ? position : SysWrite(descriptor, records, size);
  if (written == -EFBIG) guard.TakeSignal();
  SysClose(descriptor);
  if (written < 0) return static_cast<int>(written);
  return static_cast<uint64_t>(written) == size ? 0 : -ENOSPC;
}

}  // namespace rlscope::runtime
