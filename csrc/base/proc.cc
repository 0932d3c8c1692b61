#include "base/proc.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

namespace rlscope::base {
namespace {

constexpr int kStartTimeField = 22;
constexpr long kPidfdOpen = 434;  // of all architectures; older headers lack it

// One read of a small file, NUL-terminated. Length, or -1.
ssize_t ReadSmallFile(const char* path, char* text, size_t size) {
  const int descriptor = open(path, O_RDONLY | O_CLOEXEC);
  if (descriptor < 0) return -1;
  ssize_t length;
  do {
    length = read(descriptor, text, size - 1);
  } while (length < 0 && errno == EINTR);
  close(descriptor);
  if (length >= 0) text[length] = '\0';
  return length;
}

// The fields after comm: "S 1 ..."; field 3 is the first.
bool ParseFields(const char* text, ProcStat* stat) {
  stat->state = *text;
  for (int field = 4; field <= kStartTimeField; ++field) {
    text = strchr(text, ' ');
    if (text == nullptr) return false;
    ++text;
    if (field == 4) stat->parent_pid = static_cast<uint32_t>(strtoul(text, nullptr, 10));
  }
  stat->start_time = strtoull(text, nullptr, 10);
  return true;
}

}  // namespace

bool ReadProcStat(uint32_t pid, ProcStat* stat) {
  char path[40] = "/proc/self/stat";
  if (pid != 0) snprintf(path, sizeof path, "/proc/%u/stat", pid);
  char text[1024];
  if (ReadSmallFile(path, text, sizeof text) <= 0) return false;
  const char* begin = strchr(text, '(');
  const char* end = strrchr(text, ')');  // comm itself may hold parentheses and blanks
  if (begin == nullptr || end == nullptr || end < begin || end[1] != ' ') return false;
  stat->pid = static_cast<uint32_t>(strtoul(text, nullptr, 10));
  const size_t length = static_cast<size_t>(end - begin - 1);
  const size_t kept = length < sizeof stat->comm ? length : sizeof stat->comm - 1;
  memcpy(stat->comm, begin + 1, kept);
  stat->comm[kept] = '\0';
  return ParseFields(end + 2, stat);
}

bool IsAlive(uint32_t pid, uint64_t start_time) {
  ProcStat stat;
  return pid != 0 && ReadProcStat(pid, &stat) && stat.start_time == start_time &&
         stat.state != 'Z' && stat.state != 'X';
}

int OpenProcess(uint32_t pid) { return static_cast<int>(syscall(kPidfdOpen, pid, 0)); }

bool HasExited(int process) {
  struct pollfd asked = {process, POLLIN, 0};
  return process >= 0 && poll(&asked, 1, 0) == 1 && (asked.revents & POLLIN) != 0;
}

bool ParseSchedulerTimes(const char* text, SchedulerTimes* times) {
  const auto read_number = [&text](uint64_t* number) {
    const char* begin = text;
    for (*number = 0; *text >= '0' && *text <= '9'; ++text) {
      *number = *number * 10 + static_cast<uint64_t>(*text - '0');
    }
    return text != begin && *text++ == ' ';
  };
  return read_number(&times->running_ns) && read_number(&times->runnable_ns);
}

bool ReadSchedulerTimes(uint32_t pid, uint32_t tid, SchedulerTimes* times) {
  char path[64];
  snprintf(path, sizeof path, "/proc/%u/task/%u/schedstat", pid, tid);
  char text[96];
  return ReadSmallFile(path, text, sizeof text) > 0 && ParseSchedulerTimes(text, times);
}

int OpenThreadState(uint32_t pid, uint32_t tid) {
  char path[64];
  snprintf(path, sizeof path, "/proc/%u/task/%u/stat", pid, tid);
  return open(path, O_RDONLY | O_CLOEXEC);
}

char ReadThreadState(int descriptor) {
  char text[128];  // whatever follows are numbers
  const ssize_t length = pread(descriptor, text, sizeof text - 1, 0);
  if (length <= 0) return 0;
  text[length] = '\0';
  const char* end = strrchr(text, ')');
  return end != nullptr && end[1] == ' ' ? end[2] : 0;
}

uint64_t PidNamespace() {
  struct stat status;
  return stat("/proc/self/ns/pid", &status) == 0 ? status.st_ino : 0;
}

void ReadBootId(char* text, size_t size) {
  const ssize_t length = ReadSmallFile("/proc/sys/kernel/random/boot_id", text, size);
  if (length <= 0) text[0] = '\0';
  text[strcspn(text, "\n")] = '\0';
}

void ReadHostName(char* text, size_t size) {
  if (gethostname(text, size) != 0 || text[0] == '\0') snprintf(text, size, "host");
  text[size - 1] = '\0';
  for (char* c = text; *c != '\0'; ++c) {
    const bool fits = (*c >= 'a' && *c <= 'z') || (*c >= 'A' && *c <= 'Z') ||
                      (*c >= '0' && *c <= '9') || *c == '.' || *c == '_' || *c == '-';
    if (!fits) *c = '-';
  }
}

}  // namespace rlscope::base
