#include "trace/drain/process_log_view.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/regular_file.h"
#include "trace/layout/process_record.h"

namespace rlscope::trace {

ProcessLogView::~ProcessLogView() { free(images_); }

void ProcessLogView::Refresh() {
  char path[4096 + 32];
  snprintf(path, sizeof path, "%s/processes.log", directory_);
  uint64_t bytes;
  const int descriptor = base::OpenRegular(path, O_RDONLY, &bytes);
  if (descriptor < 0) return;
  uint8_t block[32 * sizeof(ProcessRecord)];
  while (offset_ < kMostLogBytes) {
    const ssize_t got = pread(descriptor, block, sizeof block, static_cast<off_t>(offset_));
    if (got < static_cast<ssize_t>(sizeof(ProcessRecord))) break;
    offset_ += TakeAll(block, static_cast<size_t>(got));
  }
  close(descriptor);
}

// Takes the intact records of `data` in and returns how many bytes need no second look.
size_t ProcessLogView::TakeAll(const uint8_t* data, size_t size) {
  size_t done = 0;
  ProcessRecord record;
  for (size_t at; (at = FindRecord(data, size, done, &record)) != SIZE_MAX;) {
    if (record.version == kAbiVersion) Take(record);
    done = at + sizeof record;
  }
  return BytesDone(size, done);
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
