#include "importers/kineto.h"

#include <algorithm>
#include <iterator>

#include "importers/decimal.h"
#include "importers/kineto_words.h"
#include "importers/launches.h"
#include "importers/row_sorter.h"
#include "importers/rows.h"

namespace rlscope::importers {

enum class KinetoScan::Category {
  kOperation,
  kCall,
  kCudaCall,
  kPython,
  kKernel,
  kMemcpy,
  kMemset,
  kSync,
};

namespace {

constexpr size_t kMostProcessNames = 4096;
constexpr char kTooManyProcesses[] = "beyond the limit of processes";
// Memory of the processes after the first one; few files have any. The n-th process has an n-th.
constexpr size_t kOtherSortBytes = 4 << 20;
constexpr size_t kOtherNameBytes = 8 << 20;
// Memory of the launches that are not sorted yet, and of the rows of GPUs.
constexpr size_t kPlacingBytes = 8 << 20;
constexpr size_t kMostDevices = 64;

// Times of the trace format lie in +-2^62: so does the sum of a row's and of the base.
constexpr int64_t kMostBaseNs = int64_t{1} << 61;

constexpr std::string_view kStep = "ProfilerStep#";

}  // namespace

// ---- the file -----------------------------------------------------------------------------------

KinetoScan::KinetoScan(SpillFile* spill) : spill_(spill) {
  processes_.push_back(std::make_unique<Process>(spill, ImportedRows::Memory()));
  current_ = processes_.front().get();
}

void KinetoScan::Read(ByteSource* source) {
  JsonReader reader(source);
  ReadFile(&reader);
  reader.ExpectEnd();
  if (!has_events_) throw FormatError("it has no traceEvents");
  for (const auto& process : processes_) process->rows.Finish();
  if (processes_.size() > 1) PlaceGpuRows();
  NameProcesses();
}

void KinetoScan::ReadFile(JsonReader* reader) {
  reader->BeginObject();
  while (reader->NextKey()) {
    const std::string_view key = reader->text();
    if (key == "traceEvents") {
      ReadEvents(reader);
    } else if (key == "baseTimeNanoseconds") {
      int64_t base_ns;
      if (!reader->ReadNumber()) continue;
      if (!ParseDecimal(reader->text(), 0, &base_ns) || base_ns <= -kMostBaseNs ||
          base_ns >= kMostBaseNs) {
        throw FormatError("its baseTimeNanoseconds is not a possible time");
      }
      facts_.base_ns = base_ns;
    } else if (key == "distributedInfo") {
      ReadDistributed(reader);
    } else if (key == "deviceProperties") {
      ReadDevices(reader);
    } else if (key == "host_name" || key == "hostname") {
      if (reader->ReadString()) facts_.host_name = reader->text().substr(0, 255);
    } else {
      reader->SkipValue();
    }
  }
}

void KinetoScan::ReadDistributed(JsonReader* reader) {
  if (reader->Peek() != '{') return reader->SkipValue();
  reader->BeginObject();
  while (reader->NextKey()) {
    std::optional<int64_t>* number = nullptr;
    if (reader->text() == "rank") number = &facts_.rank;
    if (reader->text() == "world_size") number = &facts_.world_size;
    int64_t value;
    if (number != nullptr) {
      const bool is_count = reader->ReadNumber() && ParseDecimal(reader->text(), 0, &value);
      if (is_count && value >= 0 && value <= UINT32_MAX) *number = value;
    } else if (reader->text() == "backend") {
      if (reader->ReadString()) facts_.backend = reader->text().substr(0, 255);
    } else {
      reader->SkipValue();
    }
  }
}

void KinetoScan::ReadDevices(JsonReader* reader) {
  if (reader->Peek() != '[') return reader->SkipValue();
  reader->BeginArray();
  while (reader->NextElement()) {
    if (reader->Peek() != '{') {
      reader->SkipValue();
      continue;
    }
    reader->BeginObject();
    while (reader->NextKey()) {
      const bool is_name = reader->text() == "name" && facts_.devices.size() < kMostDevices;
      if (!is_name) {
        reader->SkipValue();
      } else if (reader->ReadString()) {
        facts_.devices.emplace_back(reader->text().substr(0, 255));
      }
    }
  }
}

void KinetoScan::ReadEvents(JsonReader* reader) {
  if (reader->Peek() != '[') reader->Fail("traceEvents is not an array");
  has_events_ = true;
  reader->BeginArray();
  while (reader->NextElement()) {
    if (reader->Peek() == '{') {
      event_.Read(reader);
      TakeEvent();
    } else {
      reader->SkipValue();
      current_->rows.not_taken.Add("elements that are not rows");
    }
  }
}

// ---- rows ---------------------------------------------------------------------------------------

void KinetoScan::TakeEvent() {
  current_->rows.SkipNumbers(++events_);
  if (event_.phase == "M") return TakeMetadata();
  struct Row {
    std::string_view category;
    Category is;
  };
  // Those with a capital are of PyTorch 1.10 and before.
  constexpr Row kRows[] = {
      {"user_annotation", Category::kOperation},
      {"cpu_op", Category::kCall},
      {"cuda_runtime", Category::kCudaCall},
      {"cuda_driver", Category::kCudaCall},
      {"python_function", Category::kPython},
      {"kernel", Category::kKernel},
      {"gpu_memcpy", Category::kMemcpy},
      {"gpu_memset", Category::kMemset},
      {"cuda_sync", Category::kSync},
      {"Operator", Category::kCall},
      {"Runtime", Category::kCudaCall},
      {"Kernel", Category::kKernel},
      {"Memcpy", Category::kMemcpy},
      {"Memset", Category::kMemset},
  };
  const auto row = std::find_if(std::begin(kRows), std::end(kRows),
                                [&](const Row& each) { return each.category == event_.category; });
  if (event_.phase != "X" || row == std::end(kRows)) {
    const std::string& category = event_.category.empty() ? event_.name : event_.category;
    return current_->rows.not_taken.Add(category + " (phase " + event_.phase + ")");
  }
  const char* const problem = TakeInterval(row->is);
  if (problem == nullptr) return current_->rows.taken.Add(event_.category);
  current_->rows.not_taken.Add(event_.category + " " + problem);
}

void KinetoScan::TakeMetadata() {
  if (event_.name == "process_name") {
    if (process_names_.size() < kMostProcessNames) {
      process_names_[event_.pid].text = event_.argument_name;
    }
  } else if (event_.name == "thread_name") {
    if (thread_names_.size() < ImportedRows::kMostThreads) {
      thread_names_[event_.ThreadKey()] = event_.argument_name;
    }
  }
}

// Null: it was taken; else why not.
const char* KinetoScan::TakeInterval(Category category) {
  Interval interval;
  if (const char* const problem = event_.ReadInterval(&interval)) return problem;
  if (category >= Category::kKernel) return TakeGpuRow(category, interval);
  if (category == Category::kPython) return TakePython(interval);
  return TakeThreadRow(category, interval);
}

// ---- threads ------------------------------------------------------------------------------------

// Makes the row's process the current one. False: there are too many.
bool KinetoScan::FindProcess() {
  if (current_->pid == event_.pid) return true;
  const auto found = std::find_if(processes_.begin(), processes_.end(),
                                  [&](const auto& process) { return process->pid == event_.pid; });
  if (found != processes_.end()) {
    current_ = found->get();
  } else if (!current_->pid) {  // only the first one can be without
    current_->pid = event_.pid;
  } else if (processes_.size() == kMostProcesses) {
    return false;
  } else {
    const size_t part = processes_.size();
    processes_.push_back(std::make_unique<Process>(
        spill_, ImportedRows::Memory{kOtherSortBytes / part, kOtherNameBytes / part}));
    current_ = processes_.back().get();
    current_->pid = event_.pid;
  }
  current_->rows.SkipNumbers(events_);
  return true;
}

std::optional<uint32_t> KinetoScan::FindThread() {
  const size_t known = current_->rows.threads();
  const std::optional<uint32_t> thread = current_->rows.FindThread(event_.ThreadKey());
  if (current_->rows.threads() > known) {
    current_->rows.thread(*thread)->os_tid = ToUint32(event_.tid).value_or(0);
    current_->rows.thread(*thread)->is_python = event_.pid == event_.tid;
  }
  return thread;
}

const char* KinetoScan::TakeThreadRow(Category category, const Interval& interval) {
  if (!FindProcess()) return kTooManyProcesses;
  const std::optional<uint32_t> thread = FindThread();
  if (!thread) return "beyond the limit of threads";
  using trace::Layer;
  using trace::NameKind;
  switch (category) {
    case Category::kOperation:
      if (event_.name.compare(0, kStep.size(), kStep) == 0) {
        TakeStep(*thread, interval);
      } else {
        const uint32_t name =
            current_->rows.FindName(NameKind::kOperation, Layer::kNone, event_.name);
        current_->rows.AddOperation(*thread, name, interval);
      }
      break;
    case Category::kCall:
      current_->rows.AddCall(
          *thread, current_->rows.FindName(NameKind::kFunction, Layer::kFramework, event_.name),
          interval);
      break;
    default:
      current_->rows.AddCudaCall(
          *thread, current_->rows.FindName(NameKind::kCudaCall, Layer::kNone, event_.name),
          interval, event_.correlation.value_or(0));
  }
  return nullptr;
}

// The thread is one of Python, whatever the row is.
const char* KinetoScan::TakePython(const Interval& interval) {
  if (!FindProcess()) return kTooManyProcesses;
  const std::optional<uint32_t> thread = FindThread();
  if (!thread) return "beyond the limit of threads";
  current_->rows.thread(*thread)->is_python = true;
  if (!IsPythonFrame(event_.name)) return "written in C";
  current_->rows.AddPython(*thread, interval);
  return nullptr;
}

// The step's start begins an iteration.
void KinetoScan::TakeStep(uint32_t thread, const Interval& interval) {
  int64_t step;
  const bool has_number =
      ParseDecimal(std::string_view(event_.name).substr(kStep.size()), 0, &step);
  current_->rows.AddIteration(thread, interval.start_ns, interval.end_ns,
                              has_number ? std::optional<int64_t>(step) : std::nullopt);
  current_->rows.thread(thread)->is_python = true;
}

// ---- GPUs ---------------------------------------------------------------------------------------

std::optional<uint32_t> KinetoScan::FindStream() {
  // Rows without them stand under the device as process and the stream as thread.
  const auto number = [](const std::optional<int64_t>& argument, const std::string& text) {
    return argument ? static_cast<uint32_t>(*argument) : ToUint32(text).value_or(0);
  };
  return current_->rows.FindStream({number(event_.device, event_.pid),
                                    static_cast<uint32_t>(event_.context.value_or(0)),
                                    number(event_.stream, event_.tid)});
}

const char* KinetoScan::TakeGpuRow(Category category, const Interval& interval) {
  const std::optional<uint32_t> stream = FindStream();
  if (!stream) return "beyond the limit of streams";
  ImportedRows::GpuWork work = {};
  work.correlation = event_.correlation.value_or(0);
  work.name = current_->rows.FindName(trace::NameKind::kKernel, trace::Layer::kNone, event_.name);
  work.bytes = static_cast<uint64_t>(std::max<int64_t>(event_.bytes.value_or(0), 0));
  switch (category) {
    case Category::kMemcpy:
      work.kind = trace::GpuKind::kMemcpy;
      work.how = HowOfCopy(event_.name);
      break;
    case Category::kMemset:
      work.kind = trace::GpuKind::kMemset;
      work.how = HowOfMemset(event_.name);
      break;
    case Category::kSync:
      work.kind = trace::GpuKind::kSync;
      work.how = HowOfSync(event_.sync_kind.empty() ? event_.name : event_.sync_kind);
      break;
    default:
      work.kind = trace::GpuKind::kKernel;
  }
  current_->rows.AddGpu(*stream, work, interval);
  return nullptr;
}

// ---- the processes ------------------------------------------------------------------------------

void KinetoScan::PlaceGpuRows() {
  RowSorter<Launch> launches(spill_, kPlacingBytes);
  RowSorter<PlacedRow> placed(spill_, kPlacingBytes);
  for (uint32_t i = 0; i < processes_.size(); ++i) {
    ImportedRows& rows = processes_[i]->rows;
    rows.EachCudaCall([&](const ImportedRows::CudaCall& call) {
      if (call.correlation != 0) launches.Add({call.correlation, call.number, i});
    });
    rows.EachGpuRow(
        [&](const GpuRow& row, const ImportedStream& stream) { placed.Add({row, stream, i}); });
    rows.ClearGpu();
  }
  launches.Finish();
  placed.Finish();
  Launches by_id(*spill_, launches);
  RowMerge<PlacedRow> rows(*spill_, placed.runs());
  for (PlacedRow each; rows.Next(&each);) {
    const ImportedRows& before = processes_[each.process]->rows;
    const auto owner = by_id.Nearest(each.row.correlation, each.row.number);
    ImportedRows& after = processes_[owner.value_or(each.process)]->rows;
    const std::optional<uint32_t> stream = after.FindStream(each.stream);
    if (!stream) {
      after.not_taken.Add("rows beyond the limit of streams");
      continue;
    }
    each.row.stream = *stream;
    if (&after != &before) {
      each.row.name = after.FindName(trace::NameKind::kKernel, trace::Layer::kNone,
                                     before.NameText(each.row.name));
    }
    after.AddGpuRow(each.row);
  }
  for (const auto& process : processes_) process->rows.FinishGpu();
}

void KinetoScan::NameProcesses() {
  for (const auto& process : processes_) {
    ImportedRows& rows = process->rows;
    const std::string pid = process->pid.value_or("");
    rows.os_pid = ToUint32(pid).value_or(0);
    const auto name = process_names_.find(pid);
    if (name != process_names_.end()) rows.name = name->second.text;
    for (const auto& [key, text] : thread_names_) {
      const std::optional<uint32_t> thread = rows.KnownThread(key);
      if (thread) rows.thread(*thread)->name = text;
    }
  }
}

}  // namespace rlscope::importers
