#include "trace/drain/run_notes.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/crc32c.h"
#include "base/proc.h"
#include "trace/layout/shared_pages.h"

namespace rlscope::trace {
namespace {

constexpr size_t kPieceBytes = sizeof(ProcessRecord::name);
constexpr size_t kMostPieces = 4080 / kPieceBytes;

// All of the calling process; the name is still to be filled in.
ProcessRecord MakeRecord(ProcessEvent event) {
  ProcessRecord record;
  memset(&record, 0, sizeof record);
  record.magic = kProcessRecordMagic;
  record.version = kAbiVersion;
  record.event = static_cast<uint16_t>(event);
  base::ProcStat self;
  if (base::ReadProcStat(0, &self)) {
    record.pid = self.pid;
    record.parent_pid = self.parent_pid;
    record.start_time = self.start_time;
  }
  record.pid_namespace = base::PidNamespace();
  record.began_ns = record.time_ns = base::ReadMonotonicNs();
  return record;
}

int OpenLog(const char* directory, int flags) {
  char path[4096 + 32];
  snprintf(path, sizeof path, "%s/processes.log", directory);
  return open(path, O_WRONLY | O_APPEND | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC | flags, 0600);
}

int Append(const char* directory, ProcessRecord* records, size_t count) {
  for (size_t i = 0; i < count; i++) {
    records[i].crc = base::Crc32c(0, &records[i], sizeof records[i]);
  }
  const int descriptor = OpenLog(directory, 0);
  if (descriptor < 0) return errno;
  const size_t size = count * sizeof *records;
  errno = 0;
  const bool written = write(descriptor, records, size) == static_cast<ssize_t>(size);
  const int error = errno == 0 ? ENOSPC : errno;
  close(descriptor);
  return written ? 0 : error;
}

// One record for each piece of the path, in one write.
int LogPath(const char* directory, ProcessEvent event, const char* path) {
  ProcessRecord records[kMostPieces];
  const ProcessRecord blank = MakeRecord(event);
  const size_t length = strnlen(path, sizeof records / sizeof *records * kPieceBytes);
  size_t count = 0;
  for (size_t at = 0; at < length; at += kPieceBytes) {
    ProcessRecord& record = records[count++];
    record = blank;
    record.flags = static_cast<uint32_t>(length << 16 | at);
    memcpy(record.name, path + at, length - at < kPieceBytes ? length - at : kPieceBytes);
  }
  return Append(directory, records, count);
}

}  // namespace

int MakeLog(const char* directory) {
  const int descriptor = OpenLog(directory, O_CREAT);
  if (descriptor < 0) return errno;
  close(descriptor);
  return 0;
}

int LogRings(const char* directory, const char* rings) {
  return LogPath(directory, ProcessEvent::kRings, rings);
}

int LogNested(const char* directory, const char* nested) {
  return LogPath(directory, ProcessEvent::kNested, nested);
}

int LogWindow(const char* directory, const char* change) {
  ProcessRecord record = MakeRecord(ProcessEvent::kWindow);
  memcpy(record.name, change, strnlen(change, sizeof record.name));
  return Append(directory, &record, 1);
}

}  // namespace rlscope::trace
