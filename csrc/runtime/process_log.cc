#include "runtime/process_log.h"

#include <errno.h>
#include <string.h>

#include "base/clock.h"
#include "base/crc32c.h"
#include "runtime/detached.h"
#include "runtime/process.h"
#include "runtime/syscalls.h"

namespace rlscope::runtime {
namespace {

constexpr char kFileName[] = "/processes.log";

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
  record.time_ns = base::ReadMonotonicNs();
  memcpy(record.name, process.comm, sizeof process.comm);
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
  const int descriptor = OpenHidden(path, O_WRONLY | O_APPEND | O_CREAT | O_NOFOLLOW, 0600);
  if (descriptor < 0) return descriptor;
  const uint64_t size = static_cast<uint64_t>(count) * sizeof *records;
  const long written = SysWrite(descriptor, records, size);
  SysClose(descriptor);
  if (written < 0) return static_cast<int>(written);
  return static_cast<uint64_t>(written) == size ? 0 : -ENOSPC;
}

}  // namespace rlscope::runtime
