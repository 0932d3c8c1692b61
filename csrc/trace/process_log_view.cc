#include "trace/process_log_view.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/crc32c.h"

namespace rlscope::trace {
namespace {

bool IsIntact(ProcessRecord record) {
  const uint32_t crc = record.crc;
  record.crc = 0;
  return record.magic == kProcessRecordMagic && record.version == kAbiVersion &&
         base::Crc32c(0, &record, sizeof record) == crc;
}

}  // namespace

ProcessLogView::~ProcessLogView() { free(images_); }

void ProcessLogView::Refresh() {
  char path[4096 + 32];
  snprintf(path, sizeof path, "%s/processes.log", directory_);
  const int descriptor = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
  if (descriptor < 0) return;
  ProcessRecord record;
  while (pread(descriptor, &record, sizeof record, static_cast<off_t>(offset_)) ==
         static_cast<ssize_t>(sizeof record)) {
    // A record cut short by a full disk shifts those behind it by some bytes.
    const bool intact = IsIntact(record);
    if (intact) Take(record);
    offset_ += intact ? sizeof record : 1;
  }
  close(descriptor);
}

const LoggedImage* ProcessLogView::Find(uint32_t pid, uint64_t start_time, int64_t began_ns) const {
  for (uint32_t i = 0; i < count_; i++) {
    const LoggedImage& image = images_[i];
    if (image.pid == pid && image.start_time == start_time && image.began_ns == began_ns) {
      return &image;
    }
  }
  return nullptr;
}

int64_t ProcessLogView::ReplacedNs(uint32_t pid, uint64_t start_time, int64_t began_ns) const {
  int64_t next = 0;
  for (uint32_t i = 0; i < count_; i++) {
    const LoggedImage& image = images_[i];
    if (image.pid != pid || image.start_time != start_time || image.began_ns <= began_ns) continue;
    if (next == 0 || image.began_ns < next) next = image.began_ns;
  }
  return next;
}

LoggedImage* ProcessLogView::FindOrAdd(const ProcessRecord& record) {
  if (const LoggedImage* found = Find(record.pid, record.start_time, record.began_ns)) {
    return const_cast<LoggedImage*>(found);
  }
  if (count_ == capacity_) {
    const uint32_t larger = capacity_ == 0 ? 16 : capacity_ * 2;
    void* memory = realloc(images_, larger * sizeof *images_);
    if (memory == nullptr) return nullptr;
    images_ = static_cast<LoggedImage*>(memory);
    capacity_ = larger;
  }
  LoggedImage* image = &images_[count_++];
  memset(image, 0, sizeof *image);
  image->pid = record.pid;
  image->start_time = record.start_time;
  image->pid_namespace = record.pid_namespace;
  image->began_ns = record.began_ns;
  return image;
}

void ProcessLogView::Take(const ProcessRecord& record) {
  const auto event = static_cast<ProcessEvent>(record.event);
  const bool of_run = event == ProcessEvent::kRings || event == ProcessEvent::kWindow ||
                      event == ProcessEvent::kNested;
  LoggedImage* image = of_run ? nullptr : FindOrAdd(record);
  if (image == nullptr) return;
  if (event == ProcessEvent::kEnded) {
    image->end_ns = record.time_ns;
    image->python_end_ns = record.python_end_ns;
  }
  if (event == ProcessEvent::kBegan || event == ProcessEvent::kForked) {
    memcpy(image->name, record.name, sizeof record.name);
  }
}

}  // namespace rlscope::trace
