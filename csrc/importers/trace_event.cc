#include "importers/trace_event.h"

#include "importers/decimal.h"

namespace rlscope::importers {
namespace {

// Rows of which no argument is read: they are the most, and have the longest arguments.
bool HasOnlyDetails(std::string_view category) {
  return category == "cpu_op" || category == "user_annotation" || category == "python_function";
}

constexpr int kMicroseconds = 3;  // digits after the point that are nanoseconds

}  // namespace

std::optional<uint32_t> ToUint32(std::string_view text) {
  int64_t value;
  if (!ParseDecimal(text, 0, &value) || value < 0 || value > UINT32_MAX) return std::nullopt;
  return static_cast<uint32_t>(value);
}

void TraceEvent::Clear() {
  for (std::string* text : {&phase, &category, &name, &pid, &tid, &ts, &dur, &id}) text->clear();
  ClearArguments();
}

void TraceEvent::ClearArguments() {
  argument_name.clear();
  sync_kind.clear();
  copy_details.clear();
  for (auto* number : {&correlation, &device, &context, &stream, &bytes, &step}) number->reset();
}

void TraceEvent::Read(JsonReader* reader) {
  Clear();
  reader->BeginObject();
  while (reader->NextKey()) {
    const std::string_view key = reader->text();
    std::string* text = nullptr;
    size_t most = kMostText;
    if (key == "ph") text = &phase;
    if (key == "cat") text = &category;
    if (key == "pid") text = &pid;
    if (key == "tid") text = &tid;
    if (key == "id") text = &id;
    if (key == "name") text = &name, most = JsonReader::kMostText;
    if (key == "ts" || key == "dur") {
      text = key == "ts" ? &ts : &dur;
      text->clear();
      // torch_npu has its numbers as strings.
      if (reader->ReadStringOrNumber()) *text = reader->text().substr(0, kMostText);
    } else if (text != nullptr) {
      text->clear();
      if (reader->ReadStringOrNumber()) *text = reader->text().substr(0, most);
    } else if (key == "id2") {
      ReadScopedId(reader);
    } else if (key == "args" && !HasOnlyDetails(category)) {
      ReadArguments(reader);
    } else {
      reader->SkipValue();
    }
  }
}

// {"local": "0x1"}, or {"global": ...}.
void TraceEvent::ReadScopedId(JsonReader* reader) {
  id.clear();
  if (reader->Peek() != '{') return reader->SkipValue();
  reader->BeginObject();
  while (reader->NextKey()) {
    if (reader->ReadStringOrNumber()) id = reader->text().substr(0, kMostText);
  }
}

void TraceEvent::ReadArguments(JsonReader* reader) {
  ClearArguments();
  if (reader->Peek() != '{') return reader->SkipValue();
  reader->BeginObject();
  while (reader->NextKey()) {
    if (!ReadArgument(reader)) reader->SkipValue();
  }
}

// False: it is one that nobody reads.
bool TraceEvent::ReadArgument(JsonReader* reader) {
  const std::string_view key = reader->text();
  std::optional<int64_t>* number = nullptr;
  std::string* text = nullptr;
  if (key == "correlation" || key == "correlation_id") number = &correlation;
  if (key == "device") number = &device;
  if (key == "context") number = &context;
  if (key == "stream") number = &stream;
  if (key == "bytes") number = &bytes;
  if (key == "step_num") number = &step;
  if (key == "name") text = &argument_name;
  if (key == "cuda_sync_kind") text = &sync_kind;
  if (key == "memcpy_details") text = &copy_details;
  if (number != nullptr) {
    int64_t value;
    number->reset();
    // XProf has its numbers as strings.
    if (reader->ReadStringOrNumber() && ParseDecimal(reader->text(), 0, &value)) *number = value;
    return true;
  }
  if (text == nullptr) return false;
  text->clear();
  if (reader->ReadString()) *text = reader->text().substr(0, kMostText);
  return true;
}

std::string TraceEvent::ThreadKey() const {
  std::string key = pid;
  key.push_back('\0');
  return key.append(tid);
}

const char* TraceEvent::ReadTime(int64_t* time_ns) const {
  if (!ParseDecimal(ts, kMicroseconds, time_ns)) return "without a time";
  return ProblemOf({*time_ns, *time_ns});
}

const char* TraceEvent::ReadInterval(Interval* interval) const {
  if (const char* const problem = ReadTime(&interval->start_ns)) return problem;
  int64_t duration_ns;
  if (!ParseDecimal(dur, kMicroseconds, &duration_ns) || duration_ns < 0) {
    return "without a duration";
  }
  // No overflow: a start that has no problem is far from the ends.
  if (duration_ns > INT64_MAX / 2) return "without a duration";
  interval->end_ns = interval->start_ns + duration_ns;
  return ProblemOf(*interval);
}

}  // namespace rlscope::importers
