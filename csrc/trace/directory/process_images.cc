#include "trace/directory/process_images.h"

#include <string.h>

#include <algorithm>
#include <map>
#include <tuple>

#include "base/clock.h"

namespace rlscope::trace {
namespace {

using ImageKey = std::tuple<uint32_t, uint64_t, int64_t>;  // pid, start_time, began_ns

// A time from a file, which may be any number, where differences of two times fit 64 bits.
int64_t ToTime(int64_t ns) {
  constexpr int64_t kMaxNs = base::ClockConverter::kMaxNs;
  return std::clamp(ns, -kMaxNs, kMaxNs);
}

int64_t OrUnknown(int64_t ns) { return ns == 0 ? kUnknownNs : ToTime(ns); }

std::string NameOf(const ProcessRecord& record) {
  return std::string(record.name, strnlen(record.name, sizeof record.name));
}

// Behind the name.
std::string ArgumentsOf(const ProcessRecord& record) {
  const size_t name = strnlen(record.name, sizeof record.name);
  if (name + 1 >= sizeof record.name) return "";
  const char* const text = record.name + name + 1;
  return std::string(text, strnlen(text, sizeof record.name - name - 1));
}

class ImageBuilder {
 public:
  explicit ImageBuilder(const IsRunning& is_running) : is_running_(is_running) {}

  void AddRecord(const ProcessRecord& record);
  void AddTrace(std::unique_ptr<ProcessTrace> trace);
  std::vector<ProcessImage> Build();

 private:
  struct Row {
    ProcessImage image;
    int64_t last_log_ns = kUnknownNs;  // of its last record in the log
    int64_t exit_ns = kUnknownNs;      // of its kEnded record
    bool in_log = false;
    bool forked_python = false;
  };

  Row& FindOrAdd(const ImageKey& key);
  Row& RowOfTrace(const ProcessTrace& trace);
  void TakeTrace(Row* row);
  void SetEnd(Row* row) const;
  void SetParents();
  int64_t FindParent(size_t child) const;

  const IsRunning& is_running_;
  std::map<ImageKey, Row> by_key_;
  std::vector<Row> rows_;
};

ImageBuilder::Row& ImageBuilder::FindOrAdd(const ImageKey& key) {
  Row& row = by_key_[key];
  std::tie(row.image.os_pid, row.image.start_time, row.image.began_ns) = key;
  return row;
}

void ImageBuilder::AddRecord(const ProcessRecord& record) {
  Row& row = FindOrAdd({record.pid, record.start_time, record.began_ns});
  ProcessImage& image = row.image;
  const ProcessEvent event = static_cast<ProcessEvent>(record.event);
  row.in_log = true;
  row.last_log_ns = std::max(row.last_log_ns, ToTime(record.time_ns));
  if (record.pid_namespace != 0) image.pid_namespace = record.pid_namespace;
  image.late_attach |= (record.flags & kLateAttach) != 0;
  if (event == ProcessEvent::kBegan || event == ProcessEvent::kForked) {
    image.parent_pid = record.parent_pid;
    image.forked = event == ProcessEvent::kForked;
    image.comm = NameOf(record);
    if (image.late_attach) image.late_attach_ns = OrUnknown(record.late_attach_ns);
    row.forked_python = image.forked && (record.flags & kForkedPython) != 0;
  } else if (event == ProcessEvent::kPython) {
    image.python = NameOf(record);
    image.arguments = ArgumentsOf(record);
    image.python_begin_ns = ToTime(record.time_ns);
  } else if (event == ProcessEvent::kEnded) {
    row.exit_ns = ToTime(record.time_ns);
    image.cpu_ns = ToTime(record.cpu_ns);
    image.profiler_cpu_ns = ToTime(record.profiler_cpu_ns);
    image.exit_flush_ns = OrUnknown(record.ended.exit_flush_ns);
    image.python_end_ns = OrUnknown(record.python_end_ns);
    image.had_rings = (record.flags & kHadRings) != 0;
    image.refused = (record.flags & kRefused) != 0;
    if ((record.flags & kExitStatusKnown) != 0) image.exit_code = record.flags >> 8 & 255;
    if (image.comm.empty()) image.comm = NameOf(record);
  }
}

// The row a trace belongs to. A file whose process frame is damaged has no began_ns: it goes to
// the latest image of its pid that began before its first record and has no trace yet.
ImageBuilder::Row& ImageBuilder::RowOfTrace(const ProcessTrace& trace) {
  const ProcessInfo& info = trace.info();
  if (info.began_ns != 0) return FindOrAdd({info.os_pid, info.start_time, info.began_ns});
  int64_t first_ns = 0, last_ns;
  trace.RecordedSpan(&first_ns, &last_ns);
  Row* latest = nullptr;
  for (auto& [key, row] : by_key_) {
    const bool same = row.image.os_pid == info.os_pid && row.image.start_time == info.start_time;
    if (same && row.image.trace == nullptr && row.image.began_ns <= first_ns) latest = &row;
  }
  return latest != nullptr ? *latest : FindOrAdd({info.os_pid, info.start_time, first_ns});
}

void ImageBuilder::AddTrace(std::unique_ptr<ProcessTrace> trace) {
  Row& row = RowOfTrace(*trace);
  row.image.trace = std::move(trace);
  TakeTrace(&row);
}

void ImageBuilder::TakeTrace(Row* row) {
  ProcessImage& image = row->image;
  const Metadata& metadata = image.trace->metadata();
  image.name = metadata.process_name;
  image.program = metadata.program;
  if (!metadata.python.empty()) image.python = metadata.python;
  const EndInfo* end = image.trace->end();
  if (end == nullptr) return;
  image.forks = end->forks;
  if (end->python_begin_ns != 0) image.python_begin_ns = ToTime(end->python_begin_ns);
  if (end->python_end_ns != 0) image.python_end_ns = ToTime(end->python_end_ns);
}

void ImageBuilder::SetEnd(Row* row) const {
  ProcessImage& image = row->image;
  const EndInfo* end = image.trace == nullptr ? nullptr : image.trace->end();
  const bool end_known = end != nullptr && end->end_ns != 0;
  int64_t first_ns, last_ns = kUnknownNs;
  if (image.trace != nullptr) image.trace->RecordedSpan(&first_ns, &last_ns);
  if (row->exit_ns != kUnknownNs) {
    image.ended = Ended::kExit;
    image.end_ns = row->exit_ns;
  } else if (end_known) {
    image.ended = end->exited ? Ended::kExit : Ended::kGone;
    image.end_ns = ToTime(end->end_ns);
  } else {
    image.ended = is_running_(image) ? Ended::kRunning : Ended::kLastRecord;
    image.end_ns = std::max(row->last_log_ns, last_ns);
  }
  image.end_ns = std::max(image.end_ns, image.start_ns);
}

// The live row with the parent's pid at the time the child began: the latest image of that pid
// and namespace that had begun and not ended. -1: none, so the parent is unknown.
int64_t ImageBuilder::FindParent(size_t child_index) const {
  const ProcessImage& child = rows_[child_index].image;
  if (child.parent_pid == 0) return -1;
  for (size_t i = child_index; i-- > 0;) {
    const ProcessImage& image = rows_[i].image;
    if (image.os_pid != child.parent_pid || image.pid_namespace != child.pid_namespace) continue;
    const bool ended = image.ended == Ended::kExit && image.end_ns < child.began_ns;
    return ended ? -1 : static_cast<int64_t>(i);
  }
  return -1;
}

void ImageBuilder::SetParents() {
  for (size_t i = 0; i < rows_.size(); ++i) {
    ProcessImage& image = rows_[i].image;
    image.parent_index = FindParent(i);
    if (image.parent_index < 0) continue;
    // A fork child runs the interpreter of its parent from its first instant.
    const ProcessImage& parent = rows_[static_cast<size_t>(image.parent_index)].image;
    if (image.forked && image.python.empty()) image.python = parent.python;
    if (image.forked && image.program.empty()) image.program = parent.program;
  }
}

// An image that was replaced by exec cannot have lived longer than until the next one of its
// process began.
void EndAtSuccessor(std::map<ImageKey, int64_t>* next_began, ProcessImage* image) {
  const ImageKey process = {image->os_pid, image->start_time, 0};
  const auto found = next_began->find(process);
  if (found != next_began->end()) {
    image->end_ns = std::max(image->start_ns, std::min(image->end_ns, ToTime(found->second)));
    if (image->ended == Ended::kRunning) image->ended = Ended::kLastRecord;
  }
  (*next_began)[process] = image->began_ns;
}

std::vector<ProcessImage> ImageBuilder::Build() {
  for (auto& [key, row] : by_key_) rows_.push_back(std::move(row));
  std::stable_sort(rows_.begin(), rows_.end(),
                   [](const Row& a, const Row& b) { return a.image.began_ns < b.image.began_ns; });
  std::map<ImageKey, int64_t> next_began;
  for (size_t i = rows_.size(); i-- > 0;) {
    Row& row = rows_[i];
    row.image.start_ns = ToTime(row.image.began_ns);
    if (row.forked_python && row.image.python_begin_ns == kUnknownNs) {
      row.image.python_begin_ns = row.image.start_ns;
    }
    SetEnd(&row);
    EndAtSuccessor(&next_began, &row.image);
  }
  SetParents();
  std::vector<ProcessImage> images;
  for (Row& row : rows_) images.push_back(std::move(row.image));
  return images;
}

}  // namespace

const char* ToText(Ended ended) {
  switch (ended) {
    case Ended::kExit:
      return "exit";
    case Ended::kGone:
      return "gone";
    case Ended::kLastRecord:
      return "last_record";
    case Ended::kRunning:
      return "running";
  }
  return "";
}

std::vector<ProcessImage> BuildProcessImages(const std::vector<ProcessRecord>& log,
                                             std::vector<std::unique_ptr<ProcessTrace>> traces,
                                             const IsRunning& is_running) {
  ImageBuilder builder(is_running);
  for (const ProcessRecord& record : log) builder.AddRecord(record);
  for (auto& trace : traces) builder.AddTrace(std::move(trace));
  return builder.Build();
}

}  // namespace rlscope::trace
