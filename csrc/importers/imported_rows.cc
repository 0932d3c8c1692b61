#include "importers/imported_rows.h"

#include <algorithm>

namespace rlscope::importers {
namespace {

// Times of the trace format lie in +-2^62; so do sums of two of these.
constexpr int64_t kMostNs = int64_t{1} << 61;
constexpr size_t kMostCounts = 200;
constexpr size_t kMostCountText = 300;
constexpr char kOtherKinds[] = "(other)";

bool Fits(int64_t ns) { return ns > -kMostNs && ns < kMostNs; }

}  // namespace

const char* ProblemOf(const Interval& interval) {
  if (!Fits(interval.start_ns)) return "without a time";
  if (!Fits(interval.end_ns) || interval.end_ns < interval.start_ns) return "without a duration";
  return nullptr;
}

void RowCounts::Add(const std::string& what, uint64_t count) {
  const std::string kind = what.substr(0, kMostCountText);
  const bool has_room = by_kind_.size() < kMostCounts || by_kind_.count(kind) != 0;
  by_kind_[has_room ? kind : kOtherKinds].count += count;
}

ImportedRows::ImportedRows(SpillFile* spill, RowOrder order, const Memory& memory)
    : spill_(spill),
      order_(order),
      names_(memory.name_bytes),
      thread_rows_(spill, memory.sort_bytes),
      sort_bytes_(memory.sort_bytes) {
  gpu_rows_.emplace(spill_, sort_bytes_);
}

std::optional<uint32_t> ImportedRows::FindThread(const std::string& key) {
  const auto found = thread_numbers_.find(key);
  if (found != thread_numbers_.end()) return found->second.number;
  if (threads_.size() == kMostThreads) return std::nullopt;
  threads_.emplace_back();
  rows_of_.push_back(0);
  return (thread_numbers_[key] = {static_cast<uint32_t>(threads_.size() - 1)}).number;
}

std::optional<uint32_t> ImportedRows::KnownThread(const std::string& key) const {
  const auto found = thread_numbers_.find(key);
  if (found == thread_numbers_.end()) return std::nullopt;
  return found->second.number;
}

std::optional<uint32_t> ImportedRows::FindStream(const ImportedStream& stream) {
  const auto found = stream_numbers_.find(stream);
  if (found != stream_numbers_.end()) return found->second;
  if (streams_.size() == kMostStreams) return std::nullopt;
  streams_.push_back(stream);
  return stream_numbers_[stream] = static_cast<uint32_t>(streams_.size() - 1);
}

void ImportedRows::AddThreadRow(ThreadRowKind kind, uint32_t thread, uint32_t name,
                                const Interval& interval, int64_t correlation, uint64_t number) {
  if (number == 0) number = TakeNumber();
  thread_rows_.Add({thread, kind, interval.start_ns, interval.end_ns, correlation, number, name,
                    order_ == RowOrder::kLongestFirst});
  if (kind == ThreadRowKind::kPython) return;
  ++rows_of_[thread];
  threads_[thread].has_rows = true;
}

void ImportedRows::AddOperation(uint32_t thread, uint32_t name, const Interval& interval,
                                uint64_t number) {
  of_threads_.Add(interval);
  AddThreadRow(ThreadRowKind::kOperation, thread, name, interval, 0, number);
}

void ImportedRows::AddCall(uint32_t thread, uint32_t name, const Interval& interval) {
  of_threads_.Add(interval);
  AddThreadRow(ThreadRowKind::kCall, thread, name, interval);
}

void ImportedRows::AddCudaCall(uint32_t thread, uint32_t name, const Interval& interval,
                               int64_t correlation) {
  of_threads_.Add(interval);
  AddThreadRow(ThreadRowKind::kCudaCall, thread, name, interval, correlation);
}

void ImportedRows::AddPython(uint32_t thread, const Interval& interval) {
  threads_[thread].is_python = true;
  AddThreadRow(ThreadRowKind::kPython, thread, 0, interval);
}

void ImportedRows::AddIteration(uint32_t thread, int64_t start_ns, std::optional<int64_t> end_ns,
                                std::optional<int64_t> step) {
  if (step && steps_.size() < kMostSteps) steps_.push_back({start_ns, *step, thread});
  of_threads_.Add({start_ns, end_ns.value_or(start_ns)});
  AddThreadRow(ThreadRowKind::kIteration, thread, 0, {start_ns, start_ns});
  if (!stepping_) stepping_ = thread;
  if (*stepping_ == thread && end_ns)
    last_step_ns_ = std::max(last_step_ns_.value_or(*end_ns), *end_ns);
}

void ImportedRows::AddGpu(uint32_t stream, const GpuWork& work, const Interval& interval) {
  AddGpuRow({stream, work.kind, interval.start_ns, interval.end_ns - interval.start_ns,
             work.correlation, work.bytes, TakeNumber(), work.name, work.how, work.graph});
}

void ImportedRows::AddGpuRow(const GpuRow& row) {
  of_gpus_.Add({row.start_ns, row.start_ns + row.duration_ns});
  has_gpu_work_ |= row.kind != trace::GpuKind::kSync && row.kind != trace::GpuKind::kOverhead;
  gpu_rows_->Add(row);
}

void ImportedRows::ClearGpu() {
  gpu_rows_.emplace(spill_, sort_bytes_);
  streams_.clear();
  stream_numbers_.clear();
  of_gpus_ = {};
  has_gpu_work_ = false;
}

// An iteration ends where another one begins.
void ImportedRows::Finish() {
  if (last_step_ns_) {
    const Interval end = {*last_step_ns_, *last_step_ns_};
    AddThreadRow(ThreadRowKind::kIteration, *stepping_, 0, end);
  }
  thread_rows_.Finish();
  gpu_rows_->Finish();
}

ImportedRows::Losses ImportedRows::WriteTo(TraceFile* file, int64_t shift_ns) const {
  ProcessWriter writer(file, shift_ns);
  writer.WriteNames(names_);
  {
    RowMerge<ThreadRow> rows(*spill_, thread_rows_.runs());
    writer.WriteThreads(threads_, &rows);
  }
  RowMerge<GpuRow> rows(*spill_, gpu_rows_->runs());
  writer.WriteGpu(streams_, &rows);
  return {names_.refused(), writer.too_deep()};
}

std::vector<int64_t> ImportedRows::Steps() const {
  std::vector<Step> steps = steps_;
  std::stable_sort(steps.begin(), steps.end(), [](const Step& one, const Step& other) {
    return one.start_ns < other.start_ns;
  });
  std::vector<int64_t> numbers;
  for (const Step& step : steps) {
    if (step.thread == steps.front().thread) numbers.push_back(step.number);
  }
  return numbers;
}

std::vector<uint32_t> ImportedRows::Devices() const {
  std::vector<uint32_t> devices;
  for (const auto& [stream, number] : stream_numbers_) {  // in order of devices
    if (devices.empty() || devices.back() != stream.device) devices.push_back(stream.device);
  }
  return devices;
}

bool ImportedRows::has_python() const {
  return std::any_of(threads_.begin(), threads_.end(), [](const ImportedThread& thread) {
    return thread.is_python && thread.has_rows;
  });
}

}  // namespace rlscope::importers
