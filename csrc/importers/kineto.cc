#include "importers/kineto.h"

#include <algorithm>
#include <iterator>

#include "importers/decimal.h"

namespace rlscope::importers {

enum class KinetoScan::Category {
  kOperation,
  kCall,
  kCudaCall,
  kKernel,
  kMemcpy,
  kMemset,
  kSync,
  kOther,
};

namespace {

// A file of a stranger may have as many as it likes; what goes beyond is counted together.
constexpr size_t kMostThreads = 65'536;
constexpr size_t kMostStreams = 65'536;
constexpr size_t kMostProcessNames = 4096;
constexpr size_t kMostCounts = 200;
constexpr size_t kMostDevices = 64;
constexpr char kOtherKinds[] = "(other)";

// Times of the trace format lie in +-2^62; so do sums of two of these.
constexpr int64_t kMostNs = int64_t{1} << 61;

constexpr std::string_view kStep = "ProfilerStep#";

bool Fits(int64_t ns) { return ns > -kMostNs && ns < kMostNs; }

std::string Key(const std::string& pid, const std::string& tid) {
  std::string key = pid;
  key.push_back('\0');
  return key.append(tid);
}

std::optional<uint32_t> ToUint32(const std::string& text) {
  int64_t value;
  if (!ParseDecimal(text, 0, &value) || value < 0 || value > UINT32_MAX) return std::nullopt;
  return static_cast<uint32_t>(value);
}

// Rows of which no argument is read: they are the most, and have the longest arguments.
bool HasOnlyDetails(std::string_view category) {
  return category == "cpu_op" || category == "user_annotation" || category == "python_function";
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
  EndLastStep();
  thread_rows_.Finish();
  gpu_rows_.Finish();
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
      if (!ParseDecimal(reader->text(), 0, &base_ns) || !Fits(base_ns)) {
        throw FormatError("its baseTimeNanoseconds is no time");
      }
      facts_.base_ns = base_ns;
    } else if (key == "distributedInfo") {
      ReadDistributed(reader);
    } else if (key == "deviceProperties") {
      ReadDevices(reader);
    } else if (key == "host_name") {
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
    ++number_;
    if (reader->Peek() == '{') {
      ReadEvent(reader);
    } else {
      reader->SkipValue();
      Count(&not_taken_, "what is no row");
    }
  }
}

// ---- rows ---------------------------------------------------------------------------------------

void KinetoScan::ReadEvent(JsonReader* reader) {
  for (std::string* text : {&event_.phase, &event_.category, &event_.name, &event_.pid, &event_.tid,
                            &event_.ts, &event_.dur}) {
    text->clear();
  }
  ReadArguments(nullptr);
  reader->BeginObject();
  while (reader->NextKey()) {
    const std::string_view key = reader->text();
    std::string* text = nullptr;
    size_t most = 256;
    if (key == "ph") text = &event_.phase;
    if (key == "cat") text = &event_.category;
    if (key == "pid") text = &event_.pid;
    if (key == "tid") text = &event_.tid;
    if (key == "name") text = &event_.name, most = JsonReader::kMostText;
    if (key == "ts" || key == "dur") {
      text = key == "ts" ? &event_.ts : &event_.dur;
      text->clear();
      if (reader->ReadNumber()) *text = reader->text();
    } else if (text != nullptr) {
      text->clear();
      if (reader->ReadStringOrNumber()) *text = reader->text().substr(0, most);
    } else if (key == "args" && !HasOnlyDetails(event_.category)) {
      ReadArguments(reader);
    } else {
      reader->SkipValue();
    }
  }
  TakeEvent();
}

// Forgets what was read before: of two keys of one name the last one counts.
void KinetoScan::ReadArguments(JsonReader* reader) {
  event_.argument_name.clear();
  event_.sync_kind.clear();
  for (auto* number :
       {&event_.correlation, &event_.device, &event_.context, &event_.stream, &event_.bytes}) {
    number->reset();
  }
  if (reader == nullptr) return;
  if (reader->Peek() != '{') return reader->SkipValue();
  reader->BeginObject();
  while (reader->NextKey()) {
    const std::string_view key = reader->text();
    std::optional<int64_t>* number = nullptr;
    std::string* text = nullptr;
    if (key == "correlation") number = &event_.correlation;
    if (key == "device") number = &event_.device;
    if (key == "context") number = &event_.context;
    if (key == "stream") number = &event_.stream;
    if (key == "bytes") number = &event_.bytes;
    if (key == "name") text = &event_.argument_name;
    if (key == "cuda_sync_kind") text = &event_.sync_kind;
    int64_t value;
    if (number != nullptr) {
      number->reset();
      if (reader->ReadNumber() && ParseDecimal(reader->text(), 0, &value)) *number = value;
    } else if (text != nullptr) {
      text->clear();
      if (reader->ReadString()) *text = reader->text().substr(0, 256);
    } else {
      reader->SkipValue();
    }
  }
}

void KinetoScan::Count(std::map<std::string, uint64_t>* counts, const std::string& what) {
  const bool has_room = counts->size() < kMostCounts || counts->count(what) != 0;
  ++(*counts)[has_room ? what : kOtherKinds];
}

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
  if (event_.phase == "X" && event_.category == "python_function") {
    const std::optional<uint32_t> thread = FindThread();
    if (thread) threads_[*thread].is_python = true;
  }
  if (event_.phase != "X" || row == std::end(kRows)) {
    const std::string& category = event_.category.empty() ? event_.name : event_.category;
    return Count(&not_taken_, category + " (phase " + event_.phase + ")");
  }
  if (TakeInterval(row->is)) Count(&taken_, event_.category);
}

void KinetoScan::TakeMetadata() {
  if (event_.name == "process_name") {
    if (process_names_.size() < kMostProcessNames) {
      process_names_[event_.pid] = event_.argument_name;
    }
  } else if (event_.name == "thread_name") {
    const std::optional<uint32_t> thread = FindThread();
    if (thread) threads_[*thread].name = event_.argument_name;
  }
}

// Microseconds -> nanoseconds.
bool KinetoScan::TakeInterval(Category category) {
  int64_t start_ns, duration_ns;
  if (!ParseDecimal(event_.ts, 3, &start_ns) || !Fits(start_ns)) {
    Count(&not_taken_, event_.category + " without a time");
    return false;
  }
  if (!ParseDecimal(event_.dur, 3, &duration_ns) || duration_ns < 0 || !Fits(duration_ns) ||
      !Fits(start_ns + duration_ns)) {
    Count(&not_taken_, event_.category + " without a duration");
    return false;
  }
  const bool of_gpu = category >= Category::kKernel;
  if (of_gpu) return TakeGpuRow(category, start_ns, duration_ns);
  return TakeThreadRow(category, start_ns, duration_ns);
}

void KinetoScan::Extend(int64_t start_ns, int64_t end_ns) {
  first_ns_ = std::min(first_ns_, start_ns);
  last_ns_ = std::max(last_ns_, end_ns);
}

// ---- threads ------------------------------------------------------------------------------------

std::optional<uint32_t> KinetoScan::FindThread() {
  const std::string key = Key(event_.pid, event_.tid);
  const auto found = thread_numbers_.find(key);
  if (found != thread_numbers_.end()) return found->second;
  if (threads_.size() == kMostThreads) return std::nullopt;
  threads_.push_back({event_.pid, event_.tid, "", 0, event_.pid == event_.tid});
  return thread_numbers_[key] = static_cast<uint32_t>(threads_.size() - 1);
}

bool KinetoScan::TakeThreadRow(Category category, int64_t start_ns, int64_t duration_ns) {
  const std::optional<uint32_t> thread = FindThread();
  if (!thread) {
    Count(&not_taken_, event_.category + " of more threads than are read");
    return false;
  }
  ++threads_[*thread].rows;
  const int64_t end_ns = start_ns + duration_ns;
  Extend(start_ns, end_ns);
  ThreadRow row = {};
  row.thread = *thread;
  row.start_ns = start_ns;
  row.end_ns = end_ns;
  row.number = number_;
  switch (category) {
    case Category::kOperation:
      if (event_.name.compare(0, kStep.size(), kStep) == 0) {
        TakeStep(*thread, start_ns, end_ns);
        return true;
      }
      row.kind = ThreadRowKind::kOperation;
      row.name = names_.Find(trace::NameKind::kOperation, event_.name);
      break;
    case Category::kCall:
      row.kind = ThreadRowKind::kCall;
      row.name = names_.Find(trace::NameKind::kFunction, event_.name);
      break;
    default:
      row.kind = ThreadRowKind::kCudaCall;
      row.name = names_.Find(trace::NameKind::kCudaCall, event_.name);
      row.correlation = event_.correlation.value_or(0);
  }
  thread_rows_.Add(row);
  return true;
}

// The step's start begins an iteration.
void KinetoScan::TakeStep(uint32_t thread, int64_t start_ns, int64_t end_ns) {
  ThreadRow row = {};
  row.thread = thread;
  row.kind = ThreadRowKind::kIteration;
  row.start_ns = start_ns;
  row.end_ns = start_ns;
  row.number = number_;
  thread_rows_.Add(row);
  threads_[thread].is_python = true;
  int64_t step;
  const std::string_view number = std::string_view(event_.name).substr(kStep.size());
  if (ParseDecimal(number, 0, &step)) {
    facts_.first_step = std::min(facts_.first_step.value_or(step), step);
  }
  if (!stepping_) stepping_ = thread, last_step_ns_ = end_ns;
  if (*stepping_ == thread) last_step_ns_ = std::max(last_step_ns_, end_ns);
}

// An iteration ends where another one begins: what comes behind the last step is one that is not
// complete.
void KinetoScan::EndLastStep() {
  if (!stepping_) return;
  ThreadRow row = {};
  row.thread = *stepping_;
  row.kind = ThreadRowKind::kIteration;
  row.start_ns = last_step_ns_;
  row.end_ns = last_step_ns_;
  row.number = number_ + 1;
  thread_rows_.Add(row);
}

// ---- GPUs ---------------------------------------------------------------------------------------

std::optional<uint32_t> KinetoScan::FindStream() {
  // Rows without them stand under the device as process and the stream as thread.
  const auto number = [](const std::optional<int64_t>& argument, const std::string& text) {
    return argument ? static_cast<uint32_t>(*argument) : ToUint32(text).value_or(0);
  };
  const ImportedStream stream = {number(event_.device, event_.pid),
                                 static_cast<uint32_t>(event_.context.value_or(0)),
                                 number(event_.stream, event_.tid)};
  const auto found = stream_numbers_.find(stream);
  if (found != stream_numbers_.end()) return found->second;
  if (streams_.size() == kMostStreams) return std::nullopt;
  streams_.push_back(stream);
  return stream_numbers_[stream] = static_cast<uint32_t>(streams_.size() - 1);
}

bool KinetoScan::TakeGpuRow(Category category, int64_t start_ns, int64_t duration_ns) {
  const std::optional<uint32_t> stream = FindStream();
  if (!stream) {
    Count(&not_taken_, event_.category + " of more streams than are read");
    return false;
  }
  GpuRow row = {};
  row.stream = *stream;
  row.start_ns = start_ns;
  row.duration_ns = duration_ns;
  row.correlation = event_.correlation.value_or(0);
  row.number = number_;
  row.name = names_.Find(trace::NameKind::kKernel, event_.name);
  row.bytes = static_cast<uint64_t>(std::max<int64_t>(event_.bytes.value_or(0), 0));
  switch (category) {
    case Category::kMemcpy:
      row.kind = trace::GpuKind::kMemcpy;
      row.how = HowOfCopy(event_.name);
      break;
    case Category::kMemset:
      row.kind = trace::GpuKind::kMemset;
      row.how = MemoryOf(InParentheses(event_.name));
      break;
    case Category::kSync:
      row.kind = trace::GpuKind::kSync;
      row.how = HowOfSync(event_.sync_kind.empty() ? event_.name : event_.sync_kind);
      break;
    default:
      row.kind = trace::GpuKind::kKernel;
  }
  has_gpu_work_ |= category != Category::kSync;
  Extend(start_ns, start_ns + duration_ns);
  gpu_rows_.Add(row);
  return true;
}

// ---- the process --------------------------------------------------------------------------------

const KinetoScan::Thread* KinetoScan::MainThread() const {
  const auto found =
      std::max_element(threads_.begin(), threads_.end(),
                       [](const Thread& a, const Thread& b) { return a.rows < b.rows; });
  return found == threads_.end() ? nullptr : &*found;
}

uint32_t KinetoScan::os_pid() const {
  const Thread* const thread = MainThread();
  return thread == nullptr ? 0 : ToUint32(thread->pid).value_or(0);
}

std::string KinetoScan::process_name() const {
  const Thread* const thread = MainThread();
  if (thread == nullptr) return "";
  const auto found = process_names_.find(thread->pid);
  return found == process_names_.end() ? "" : found->second;
}

std::vector<ImportedThread> KinetoScan::Threads() const {
  std::vector<ImportedThread> threads;
  for (const Thread& thread : threads_) {
    const uint32_t os_tid = ToUint32(thread.tid).value_or(0);
    threads.push_back({thread.rows > 0, os_tid, thread.name, thread.is_python});
  }
  return threads;
}

KinetoScan::Losses KinetoScan::WriteTo(TraceFile* file, int64_t shift_ns) const {
  ProcessWriter writer(file, shift_ns);
  writer.WriteNames(names_, trace::Layer::kFramework);
  {
    RowMerge<ThreadRow> rows(*spill_, thread_rows_.runs());
    writer.WriteThreads(Threads(), &rows);
  }
  RowMerge<GpuRow> rows(*spill_, gpu_rows_.runs());
  writer.WriteGpu(streams_, &rows);
  return {names_.refused(), writer.too_deep()};
}

bool KinetoScan::has_python() const {
  return std::any_of(threads_.begin(), threads_.end(),
                     [](const Thread& thread) { return thread.is_python && thread.rows > 0; });
}

}  // namespace rlscope::importers
