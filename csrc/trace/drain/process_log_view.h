// DIR/processes.log as the drainer reads it, again and again while it grows: which images there
// are, which ended, and which were replaced by exec. Libc only.
#ifndef RLSCOPE_TRACE_DRAIN_PROCESS_LOG_VIEW_H_
#define RLSCOPE_TRACE_DRAIN_PROCESS_LOG_VIEW_H_

#include <stddef.h>
#include <stdint.h>

#include "trace/layout/shared_pages.h"

namespace rlscope::trace {

struct LoggedImage {
  uint32_t pid;
  uint64_t start_time;
  uint64_t pid_namespace;
  int64_t began_ns;
  int64_t end_ns;         // time of its kEnded; 0 none yet
  int64_t python_end_ns;  // of its kEnded
  char name[sizeof(ProcessRecord::name) + 1];
};

class ProcessLogView {
 public:
  // `directory` must outlive the view.
  explicit ProcessLogView(const char* directory) : directory_(directory) {}
  ~ProcessLogView();
  ProcessLogView(const ProcessLogView&) = delete;
  ProcessLogView& operator=(const ProcessLogView&) = delete;

  // Takes in what was appended since the last call. Damaged records are skipped.
  void Refresh();

  uint32_t count() const { return count_; }
  const LoggedImage& operator[](uint32_t index) const { return images_[index]; }

  // The entry of an image; null when the log has none.
  const LoggedImage* Find(uint32_t pid, uint64_t start_time, int64_t began_ns) const;
  // When the process went on as another image (exec); 0 it did not.
  int64_t ReplacedNs(uint32_t pid, uint64_t start_time, int64_t began_ns) const;

 private:
  size_t TakeAll(const uint8_t* data, size_t size);
  void Take(const ProcessRecord& record);
  LoggedImage* FindOrAdd(const ProcessRecord& record);

  const char* directory_;
  LoggedImage* images_ = nullptr;
  uint32_t count_ = 0;
  uint32_t capacity_ = 0;
  uint64_t offset_ = 0;
};

}  // namespace rlscope::trace

#endif  // RLSCOPE_TRACE_DRAIN_PROCESS_LOG_VIEW_H_
