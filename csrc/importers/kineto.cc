#include "importers/kineto.h"

#include <algorithm>
#include <iterator>

#include "importers/decimal.h"

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
constexpr size_t kMostDevices = 64;

// Times of the trace format lie in +-2^62: so does the sum of a row's and of the base.
constexpr int64_t kMostBaseNs = int64_t{1} << 61;

constexpr std::string_view kStep = "ProfilerStep#";

// "train.py(12): step", "nn.Module: Linear_0"; what is neither is a function of C, which Python's
// frames call: "<built-in method sqrt of ...>".
bool IsPythonFrame(std::string_view name) {
  constexpr std::string_view kModule = "nn.Module: ";
  return name.find("): ") != std::string_view::npos || name.substr(0, kModule.size()) == kModule;
}

// The kinds of memory that Kineto names, by CUPTI's numbers.
struct MemoryWord {
  std::string_view word;
  uint32_t number;
};
constexpr MemoryWord kMemories[] = {{"Pageable", 1},      {"Pinned", 2},  {"Device", 3},
                                    {"Array", 4},         {"Managed", 5}, {"Device Static", 6},
                                    {"Managed Static", 7}};

uint32_t MemoryOf(std::string_view word) {
  for (const MemoryWord& row : kMemories) {
    if (row.word == word) return row.number;
  }
  return 0;
}

constexpr std::string_view kDirections[] = {"",     "HtoD", "DtoH", "HtoA", "AtoH", "AtoA",
                                            "AtoD", "DtoA", "DtoD", "HtoH", "PtoP"};

uint32_t DirectionOf(std::string_view word) {
  const auto found = std::find(std::begin(kDirections) + 1, std::end(kDirections), word);
  return found == std::end(kDirections) ? 0
                                        : static_cast<uint32_t>(found - std::begin(kDirections));
}

// What stands in the parentheses of a name.
std::string_view InParentheses(std::string_view name) {
  const size_t begin = name.find('('), end = name.rfind(')');
  if (begin == std::string_view::npos || end == std::string_view::npos || end < begin) return {};
  return name.substr(begin + 1, end - begin - 1);
}

// "Memcpy HtoD (Pageable -> Device)": the direction, and the host's memory or the source's.
uint32_t HowOfCopy(std::string_view name) {
  constexpr std::string_view kPrefix = "Memcpy ", kArrow = " -> ";
  if (name.substr(0, kPrefix.size()) != kPrefix) return 0;
  const uint32_t direction = DirectionOf(name.substr(kPrefix.size(), 4));
  const std::string_view memories = InParentheses(name);
  const size_t arrow = memories.find(kArrow);
  if (arrow == std::string_view::npos) return direction;
  const bool to_host = direction == DirectionOf("DtoH") || direction == DirectionOf("AtoH");
  const std::string_view memory =
      to_host ? memories.substr(arrow + kArrow.size()) : memories.substr(0, arrow);
  return direction | MemoryOf(memory) << 4;
}

// "Stream Sync": CUPTI's number of what a synchronisation is.
uint32_t HowOfSync(std::string_view kind) {
  if (kind == "Event Sync") return 1;
  if (kind == "Stream Wait Event") return 2;
  if (kind == "Stream Sync") return 3;
  if (kind == "Context Sync" || kind == "Device Sync") return 4;
  return 0;
}

}  // namespace

// ---- the file -----------------------------------------------------------------------------------

void KinetoScan::Read(ByteSource* source) {
  JsonReader reader(source);
  ReadFile(&reader);
  reader.ExpectEnd();
  if (!has_events_) throw FormatError("it has no traceEvents");
  NameProcess();
  rows_.Finish();
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
        throw FormatError("its baseTimeNanoseconds is no time");
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
  if (reader->Peek() != '[') reader->Fail("traceEvents is no array");
  has_events_ = true;
  reader->BeginArray();
  while (reader->NextElement()) {
    if (reader->Peek() == '{') {
      event_.Read(reader);
      TakeEvent();
    } else {
      reader->SkipValue();
      rows_.not_taken.Add("what is no row");
    }
  }
}

// ---- rows ---------------------------------------------------------------------------------------

void KinetoScan::TakeEvent() {
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
    return rows_.not_taken.Add(category + " (phase " + event_.phase + ")");
  }
  const char* const problem = TakeInterval(row->is);
  if (problem == nullptr) return rows_.taken.Add(event_.category);
  rows_.not_taken.Add(event_.category + " " + problem);
}

void KinetoScan::TakeMetadata() {
  if (event_.name == "process_name") {
    if (process_names_.size() < kMostProcessNames) {
      process_names_[event_.pid].text = event_.argument_name;
    }
  } else if (event_.name == "thread_name") {
    const std::optional<uint32_t> thread = FindThread();
    if (thread) rows_.thread(*thread)->name = event_.argument_name;
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

std::optional<uint32_t> KinetoScan::FindThread() {
  const size_t known = rows_.threads();
  const std::optional<uint32_t> thread = rows_.FindThread(event_.ThreadKey());
  if (rows_.threads() > known) {
    pids_.push_back(event_.pid);
    rows_.thread(*thread)->os_tid = ToUint32(event_.tid).value_or(0);
    rows_.thread(*thread)->is_python = event_.pid == event_.tid;
  }
  return thread;
}

const char* KinetoScan::TakeThreadRow(Category category, const Interval& interval) {
  const std::optional<uint32_t> thread = FindThread();
  if (!thread) return "of more threads than are read";
  using trace::Layer;
  using trace::NameKind;
  switch (category) {
    case Category::kOperation:
      if (event_.name.compare(0, kStep.size(), kStep) == 0) {
        TakeStep(*thread, interval);
      } else {
        const uint32_t name = rows_.FindName(NameKind::kOperation, Layer::kNone, event_.name);
        rows_.AddOperation(*thread, name, interval);
      }
      break;
    case Category::kCall:
      rows_.AddCall(*thread, rows_.FindName(NameKind::kFunction, Layer::kFramework, event_.name),
                    interval);
      break;
    default:
      rows_.AddCudaCall(*thread, rows_.FindName(NameKind::kCudaCall, Layer::kNone, event_.name),
                        interval, event_.correlation.value_or(0));
  }
  return nullptr;
}

// The thread is one of Python, whatever the row is.
const char* KinetoScan::TakePython(const Interval& interval) {
  const std::optional<uint32_t> thread = FindThread();
  if (!thread) return "of more threads than are read";
  rows_.thread(*thread)->is_python = true;
  if (!IsPythonFrame(event_.name)) return "of C";
  rows_.AddPython(*thread, interval);
  return nullptr;
}

// The step's start begins an iteration.
void KinetoScan::TakeStep(uint32_t thread, const Interval& interval) {
  rows_.AddIteration(thread, interval.start_ns, interval.end_ns);
  rows_.thread(thread)->is_python = true;
  int64_t step;
  const std::string_view number = std::string_view(event_.name).substr(kStep.size());
  if (ParseDecimal(number, 0, &step)) {
    facts_.first_step = std::min(facts_.first_step.value_or(step), step);
  }
}

// ---- GPUs ---------------------------------------------------------------------------------------

std::optional<uint32_t> KinetoScan::FindStream() {
  // Rows without them stand under the device as process and the stream as thread.
  const auto number = [](const std::optional<int64_t>& argument, const std::string& text) {
    return argument ? static_cast<uint32_t>(*argument) : ToUint32(text).value_or(0);
  };
  return rows_.FindStream({number(event_.device, event_.pid),
                           static_cast<uint32_t>(event_.context.value_or(0)),
                           number(event_.stream, event_.tid)});
}

const char* KinetoScan::TakeGpuRow(Category category, const Interval& interval) {
  const std::optional<uint32_t> stream = FindStream();
  if (!stream) return "of more streams than are read";
  ProcessRows::GpuWork work = {};
  work.correlation = event_.correlation.value_or(0);
  work.name = rows_.FindName(trace::NameKind::kKernel, trace::Layer::kNone, event_.name);
  work.bytes = static_cast<uint64_t>(std::max<int64_t>(event_.bytes.value_or(0), 0));
  switch (category) {
    case Category::kMemcpy:
      work.kind = trace::GpuKind::kMemcpy;
      work.how = HowOfCopy(event_.name);
      break;
    case Category::kMemset:
      work.kind = trace::GpuKind::kMemset;
      work.how = MemoryOf(InParentheses(event_.name));
      break;
    case Category::kSync:
      work.kind = trace::GpuKind::kSync;
      work.how = HowOfSync(event_.sync_kind.empty() ? event_.name : event_.sync_kind);
      break;
    default:
      work.kind = trace::GpuKind::kKernel;
  }
  rows_.AddGpu(*stream, work, interval);
  return nullptr;
}

// ---- the process --------------------------------------------------------------------------------

// It is the one whose thread has most rows.
void KinetoScan::NameProcess() {
  if (pids_.empty()) return;
  uint32_t most = 0;
  for (uint32_t i = 1; i < pids_.size(); ++i) {
    if (rows_.rows_of(i) > rows_.rows_of(most)) most = i;
  }
  rows_.os_pid = ToUint32(pids_[most]).value_or(0);
  const auto found = process_names_.find(pids_[most]);
  if (found != process_names_.end()) rows_.name = found->second.text;
}

}  // namespace rlscope::importers
