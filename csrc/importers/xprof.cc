#include "importers/xprof.h"

#include <algorithm>
#include <string_view>

#include "importers/decimal.h"

namespace rlscope::importers {
namespace {

constexpr size_t kMostPlanes = 4096;
constexpr size_t kMostLines = 65'536;

constexpr std::string_view kHostPlane = "/host:CPU";
constexpr std::string_view kGpuPlane = "/device:GPU:";
constexpr std::string_view kStreamLine = "Stream #";

bool StartsWith(std::string_view text, std::string_view begin) {
  return text.substr(0, begin.size()) == begin;
}

// "14(Compute,MemcpyD2H)": 14.
std::optional<uint32_t> LeadingNumber(std::string_view text) {
  return ToUint32(text.substr(0, text.find_first_not_of("0123456789")));
}

// "$train.py:12 step"; a function of C is "$builtins len".
bool IsXprofPython(std::string_view name) {
  const size_t colon = name.find(':');
  if (colon == std::string_view::npos) return false;
  const std::string_view line = name.substr(colon + 1);
  const size_t end = line.find_first_not_of("0123456789");
  return end != 0 && end != std::string_view::npos && line[end] == ' ';
}

// "kind_src:pinned kind_dst:device size:512 dest:0 async:1": the word after a key.
std::string_view Detail(std::string_view details, std::string_view key) {
  const size_t found = details.find(key);
  if (found == std::string_view::npos) return {};
  const std::string_view value = details.substr(found + key.size());
  return value.substr(0, value.find(' '));
}

// CUPTI's numbers of memories and of directions.
uint32_t MemoryOfXprof(std::string_view word) {
  if (word == "pageable") return 1;
  if (word == "pinned") return 2;
  if (word == "device") return 3;
  if (word == "array") return 4;
  if (word == "managed") return 5;
  if (word == "device_static") return 6;
  if (word == "managed_static") return 7;
  return 0;
}

uint32_t DirectionOfXprof(std::string_view name) {
  if (StartsWith(name, "MemcpyH2D")) return 1;
  if (StartsWith(name, "MemcpyD2H")) return 2;
  if (StartsWith(name, "MemcpyD2D")) return 8;
  if (StartsWith(name, "MemcpyH2H")) return 9;
  if (StartsWith(name, "MemcpyP2P")) return 10;
  return 0;
}

uint32_t HowOfXprofCopy(std::string_view name, std::string_view details) {
  const uint32_t direction = DirectionOfXprof(name);
  std::string_view memory = Detail(details, direction == 2 ? "kind_dst:" : "kind_src:");
  if (memory.empty()) memory = Detail(details, "kind:");
  return direction | MemoryOfXprof(memory) << 4;
}

}  // namespace

// ---- the file -----------------------------------------------------------------------------------

XprofScan::XprofScan(SpillFile* spill, const std::vector<std::string>& operations)
    : rows_(spill, RowOrder::kAsInFile) {
  for (const std::string& name : operations) annotations_[name];
}

std::vector<std::string> XprofScan::operations() const {
  std::vector<std::string> found;
  for (const auto& [name, annotation] : annotations_) {
    if (annotation.has_rows) found.push_back(name);
  }
  return found;
}

void XprofScan::Read(ByteSource* source) {
  JsonReader reader(source);
  reader.BeginObject();
  while (reader.NextKey()) {
    if (reader.text() == "traceEvents") {
      ReadEvents(&reader);
    } else {
      reader.SkipValue();
    }
  }
  reader.ExpectEnd();
  if (!has_events_) throw FormatError("it has no traceEvents");
  ChooseMainThread();
  rows_.Finish();
}

// No row says which it is, nor which pid is the process's: the thread of Python with most rows. It
// gets the number that the process has, which is none.
void XprofScan::ChooseMainThread() {
  std::optional<uint32_t> most;
  for (uint32_t i = 0; i < rows_.threads(); ++i) {
    if (!rows_.thread(i)->is_python) continue;
    if (!most || rows_.rows_of(i) > rows_.rows_of(*most)) most = i;
  }
  if (most) rows_.thread(*most)->os_tid = rows_.os_pid;
}

void XprofScan::ReadEvents(JsonReader* reader) {
  if (reader->Peek() != '[') reader->Fail("traceEvents is not an array");
  has_events_ = true;
  reader->BeginArray();
  while (reader->NextElement()) {
    if (reader->Peek() != '{') {
      reader->SkipValue();
      rows_.not_taken.Add("elements that are not rows");
      continue;
    }
    event_.Read(reader);
    if (event_.phase.empty() && event_.name.empty()) continue;  // the empty one at the end
    if (event_.phase == "M") {
      TakeMetadata();
      continue;
    }
    std::string what;
    const char* const problem = TakeInterval(&what);
    if (problem == nullptr) {
      rows_.taken.Add(what);
    } else {
      rows_.not_taken.Add(*problem == '\0' ? what : what + " " + problem);
    }
  }
}

// Names stand before the rows.
void XprofScan::TakeMetadata() {
  if (event_.name == "process_name" && planes_.size() < kMostPlanes) {
    Plane plane;
    plane.name = event_.argument_name;
    if (StartsWith(plane.name, kHostPlane)) plane.is = Plane::kHost;
    if (StartsWith(plane.name, kGpuPlane)) {
      plane.is = Plane::kGpu;
      const std::string_view number = std::string_view(plane.name).substr(kGpuPlane.size());
      plane.device = LeadingNumber(number).value_or(0);
    }
    planes_[event_.pid] = plane;
  }
  if (event_.name == "thread_name" && line_names_.size() < kMostLines) {
    line_names_[event_.ThreadKey()].name = event_.argument_name;
  }
}

// ---- rows ---------------------------------------------------------------------------------------

// Null: it was taken as `what`; else why not, which may be said by `what`.
const char* XprofScan::TakeInterval(std::string* what) {
  *what = "rows";
  const auto plane = planes_.find(event_.pid);
  if (plane == planes_.end()) return "without a plane";
  if (plane->second.is == Plane::kOther || event_.phase != "X") {
    *what = event_.phase == "X" ? plane->second.name : "rows (phase " + event_.phase + ")";
    return "";
  }
  Interval interval;
  if (!ReadInterval(&interval)) return "without a time or a duration";
  if (plane->second.is == Plane::kGpu) return TakeGpuRow(plane->second, interval, what);
  return TakeHostRow(interval, what);
}

// Times are picoseconds, of which the ends are rounded, not the durations: rows that lie inside of
// each other still do.
bool XprofScan::ReadInterval(Interval* interval) const {
  int64_t start_ps, duration_ps;
  constexpr int64_t kMost = INT64_MAX / 4;
  const auto fits = [](int64_t ps) { return ps >= 0 && ps < kMost; };
  if (ParseDecimal(event_.ts, 6, &start_ps) && ParseDecimal(event_.dur, 6, &duration_ps) &&
      fits(start_ps) && fits(duration_ps)) {
    *interval = {(start_ps + 500) / 1000, (start_ps + duration_ps + 500) / 1000};
    return true;
  }
  return event_.ReadInterval(interval) == nullptr;
}

std::optional<uint32_t> XprofScan::FindThread() {
  const size_t known = rows_.threads();
  const std::optional<uint32_t> thread = rows_.FindThread(event_.tid);
  if (rows_.threads() > known) {
    const auto name = line_names_.find(event_.ThreadKey());
    ImportedThread* const added = rows_.thread(*thread);
    if (name != line_names_.end()) added->name = name->second.name;
    added->os_tid = ToUint32(event_.tid).value_or(0);
    added->is_python = added->name == "python";
  }
  return thread;
}

const char* XprofScan::TakeHostRow(const Interval& interval, std::string* what) {
  *what = "rows of the host";
  const std::optional<uint32_t> thread = FindThread();
  if (!thread) return "beyond the limit of threads";
  using trace::Layer;
  using trace::NameKind;
  const std::string& name = event_.name;
  const auto annotation = annotations_.find(name);
  if (StartsWith(name, "$")) {
    *what = "Python functions";
    return TakePython(*thread, interval);
  }
  if (event_.step) {
    *what = "steps";
    rows_.thread(*thread)->is_python = true;
    rows_.AddIteration(*thread, interval.start_ns, interval.end_ns, *event_.step);
  } else if (annotation != annotations_.end()) {
    *what = "operations";
    annotation->second.has_rows = true;
    rows_.AddOperation(*thread, rows_.FindName(NameKind::kOperation, Layer::kNone, name), interval);
  } else if (event_.correlation) {
    *what = "CUDA calls";
    const uint32_t number = rows_.FindName(NameKind::kCudaCall, Layer::kNone, name);
    rows_.AddCudaCall(*thread, number, interval, *event_.correlation);
  } else if (interval.start_ns == interval.end_ns) {
    return "of no duration";  // marks: 1 ps
  } else {
    const uint32_t number = rows_.FindName(NameKind::kFunction, Layer::kFramework, name);
    rows_.AddCall(*thread, number, interval);
  }
  return nullptr;
}

const char* XprofScan::TakePython(uint32_t thread, const Interval& interval) {
  rows_.thread(thread)->is_python = true;
  if (!IsXprofPython(event_.name)) return "written in C";
  rows_.AddPython(thread, interval);
  return nullptr;
}

// The lines of a device that are no streams are derived from those that are.
const char* XprofScan::TakeGpuRow(const Plane& plane, const Interval& interval, std::string* what) {
  const auto line = line_names_.find(event_.ThreadKey());
  const std::string_view name =
      line == line_names_.end() ? "" : std::string_view(line->second.name);
  if (!StartsWith(name, kStreamLine)) {
    *what = "line of a GPU: " + std::string(name);
    return "";
  }
  const uint32_t number = LeadingNumber(name.substr(kStreamLine.size())).value_or(0);
  *what = "kernels";
  const std::optional<uint32_t> stream = rows_.FindStream({plane.device, 0, number});
  if (!stream) return "beyond the limit of streams";
  ImportedRows::GpuWork work = {};
  work.kind = trace::GpuKind::kKernel;
  work.correlation = event_.correlation.value_or(0);
  work.name = rows_.FindName(trace::NameKind::kKernel, trace::Layer::kNone, event_.name);
  if (!event_.copy_details.empty()) {
    *what = "copies";
    work.kind = trace::GpuKind::kMemcpy;
    work.how = HowOfXprofCopy(event_.name, event_.copy_details);
    int64_t bytes;
    if (ParseDecimal(Detail(event_.copy_details, "size:"), 0, &bytes) && bytes > 0) {
      work.bytes = static_cast<uint64_t>(bytes);
    }
  } else if (StartsWith(event_.name, "Memset")) {
    *what = "memsets";
    work.kind = trace::GpuKind::kMemset;
  }
  rows_.AddGpu(*stream, work, interval);
  return nullptr;
}

}  // namespace rlscope::importers
