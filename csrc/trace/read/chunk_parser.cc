#include "trace/read/chunk_parser.h"

#include <string.h>

#include "base/wire.h"
#include "trace/format/tick_unit.h"
#include "trace/layout/layer.h"
#include "trace/layout/shared_pages.h"

namespace rlscope::trace {
namespace {

using base::UnZigZag;
using base::WireReader;

std::string ToString(const WireReader& field) {
  return std::string(reinterpret_cast<const char*>(field.data()), field.size());
}

uint32_t Low32(const WireReader& field) { return static_cast<uint32_t>(field.value()); }

bool ParseName(const WireReader& entry, Name* name) {
  WireReader field(entry.data(), entry.size());
  while (field.Next()) {
    if (field.field() == 1) name->id = Low32(field);
    if (field.field() == 2) name->kind = Low32(field);
    if (field.field() == 3) name->layer = Low32(field);
    if (field.field() == 4) name->text = ToString(field);
  }
  if (name->layer > static_cast<uint32_t>(kLastLayer)) name->layer = 0;
  return field.ok() && name->id <= kLargestNameId;
}

bool ParseThread(const WireReader& entry, Thread* thread) {
  WireReader field(entry.data(), entry.size());
  while (field.Next()) {
    if (field.field() == 1) thread->thread = Low32(field);
    if (field.field() == 2) thread->os_tid = Low32(field);
    if (field.field() == 3) thread->name = ToString(field);
    if (field.field() == 4) thread->is_python = field.value() != 0;
    if (field.field() == 5) thread->first_times.running_ns = field.value();
    if (field.field() == 6) thread->first_times.runnable_ns = field.value();
    if (field.field() == 7) thread->first_times.read_ns = static_cast<int64_t>(field.value());
  }
  thread->last_times = thread->first_times;
  return field.ok() && thread->thread <= kMaxId;
}

bool ParseMetadataEntry(const WireReader& entry, Metadata* metadata) {
  std::pair<std::string, std::string> pair;
  WireReader field(entry.data(), entry.size());
  while (field.Next()) {
    if (field.field() == 1) pair.first = ToString(field);
    if (field.field() == 2) pair.second = ToString(field);
  }
  if (field.ok()) metadata->entries.push_back(std::move(pair));
  return field.ok();
}

bool ParseLoss(const WireReader& entry, EndInfo* end) {
  std::pair<std::string, uint64_t> loss;
  WireReader field(entry.data(), entry.size());
  while (field.Next()) {
    if (field.field() == 1) loss.first = ToString(field);
    if (field.field() == 2) loss.second = field.value();
  }
  if (field.ok()) end->losses.push_back(std::move(loss));
  return field.ok();
}

// The values of a packed column, one after the other.
class Varints {
 public:
  Varints() = default;
  explicit Varints(const WireReader& field)
      : at_(field.data()), end_(field.data() + field.size()) {}

  bool empty() const { return at_ == end_; }
  // False at the end, and from the first value on that is cut off.
  bool Next(uint64_t* value) {
    if (at_ != nullptr) at_ = base::GetVarint(at_, end_, value);
    return at_ != nullptr;
  }
  // False, too, for a number beyond 32 bits.
  bool Next32(uint32_t* value) {
    uint64_t number = 0;
    if (!Next(&number)) return false;
    *value = static_cast<uint32_t>(number);
    return *value == number;
  }

 private:
  const uint8_t* at_ = nullptr;
  const uint8_t* end_ = nullptr;
};

bool ParseThreadStacks(Varints* numbers, std::vector<std::pair<uint32_t, uint32_t>>* stacks) {
  uint64_t count;
  if (!numbers->Next(&count)) return false;
  for (uint64_t i = 0; i < count; ++i) {
    uint32_t thread, node;
    if (!numbers->Next32(&thread) || !numbers->Next32(&node)) return false;
    stacks->emplace_back(thread, node);
  }
  return true;
}

bool ParseStackFunction(const WireReader& entry, StackFunction* function) {
  WireReader field(entry.data(), entry.size());
  while (field.Next()) {
    if (field.field() == 1) function->file = ToString(field);
    if (field.field() == 2) function->name = ToString(field);
    if (field.field() == 3) function->line = Low32(field);
  }
  return field.ok();
}

// Entries of a message that holds only a repeated submessage in field 1.
template <typename Entry, typename Parse>
bool ParseEntries(Span payload, std::vector<Entry>* entries, Parse parse) {
  WireReader reader(payload.data, payload.size);
  bool valid = true;
  while (reader.Next()) {
    if (reader.field() != 1 || !reader.is_bytes()) continue;
    Entry entry;
    if (parse(reader, &entry)) {
      entries->push_back(std::move(entry));
    } else {
      valid = false;
    }
  }
  return valid && reader.ok();
}

}  // namespace

bool ParseProcess(Span payload, ProcessInfo* process) {
  WireReader reader(payload.data, payload.size);
  while (reader.Next()) {
    switch (reader.field()) {
      case 1:
        process->format_version = Low32(reader);
        break;
      case 2:
        process->tool_version = ToString(reader);
        break;
      case 3:
        process->host = ToString(reader);
        break;
      case 4:
        process->boot_id = ToString(reader);
        break;
      case 5:
        process->os_pid = Low32(reader);
        break;
      case 6:
        process->start_time = reader.value();
        break;
      case 7:
        process->began_ns = UnZigZag(reader.value());
        break;
      case 8:
        process->clock = base::ToClockKind(reader.value());
        break;
      case 9:
        process->tick_hz = reader.value() <= kMostTickHz ? reader.value() : 0;
        break;
      case 10:
        process->main_thread = Low32(reader);
        break;
      case 11:
        process->tick_shift = Low32(reader) & 63;
        break;
      default:
        break;
    }
  }
  return reader.ok();
}

bool ParseNames(Span payload, std::vector<Name>* names) {
  return ParseEntries(payload, names, ParseName);
}

bool ParseThreads(Span payload, std::vector<Thread>* threads) {
  return ParseEntries(payload, threads, ParseThread);
}

bool ParseClock(Span payload, std::vector<base::ClockPair>* pairs) {
  Span ticks, ns;
  WireReader reader(payload.data, payload.size);
  while (reader.Next()) {
    if (!reader.is_bytes()) continue;
    if (reader.field() == 1) ticks = {reader.data(), reader.size()};
    if (reader.field() == 2) ns = {reader.data(), reader.size()};
  }
  if (!reader.ok() || ticks.size != ns.size || ticks.size % 8 != 0) return false;
  for (size_t at = 0; at < ticks.size; at += 8) {
    base::ClockPair pair;
    memcpy(&pair.ticks, ticks.data + at, 8);
    memcpy(&pair.ns, ns.data + at, 8);
    pairs->push_back(pair);
  }
  return true;
}

// False, too, where a time comes before the one before it.
bool ParseStates(Span payload, std::vector<StateSample>* samples) {
  int64_t time_ns = 0;
  Varints steps, awake, stacks;
  WireReader reader(payload.data, payload.size);
  while (reader.Next()) {
    if (reader.field() == 1) time_ns = static_cast<int64_t>(reader.value());
    if (reader.field() == 2) steps = Varints(reader);
    if (reader.field() == 3) awake = Varints(reader);
    if (reader.field() == 4) stacks = Varints(reader);
  }
  if (!reader.ok() || time_ns < 0 || time_ns > base::ClockConverter::kMaxNs) return false;
  const bool has_stacks = !stacks.empty();
  while (!steps.empty()) {
    uint64_t step_ns, count, number;
    if (!steps.Next(&step_ns) || !awake.Next(&count)) return false;
    if (step_ns > static_cast<uint64_t>(base::ClockConverter::kMaxNs - time_ns)) return false;
    time_ns += static_cast<int64_t>(step_ns);
    samples->push_back({time_ns, {}, {}});
    for (uint64_t i = 0; i < count; ++i) {
      if (!awake.Next(&number)) return false;
      samples->back().awake.push_back(static_cast<uint32_t>(number));
    }
    if (has_stacks && !ParseThreadStacks(&stacks, &samples->back().stacks)) return false;
  }
  return true;
}

// False, too, if a number is beyond 32 bits or a node lacks a column; of these there are no nodes.
bool ParseStacks(Span payload, StacksPart* part) {
  Varints parents, functions, lines;
  WireReader reader(payload.data, payload.size);
  while (reader.Next()) {
    if (reader.field() == 1) part->first_function = Low32(reader);
    if (reader.field() == 2) {
      part->functions.emplace_back();
      if (!ParseStackFunction(reader, &part->functions.back())) return false;
    }
    if (reader.field() == 3) part->first_node = Low32(reader);
    if (reader.field() == 4) parents = Varints(reader);
    if (reader.field() == 5) functions = Varints(reader);
    if (reader.field() == 6) lines = Varints(reader);
  }
  if (!reader.ok()) return false;
  std::vector<StackNode> nodes;
  while (!parents.empty()) {
    nodes.emplace_back();
    StackNode* const node = &nodes.back();
    const bool is_whole = parents.Next32(&node->parent) && functions.Next32(&node->function) &&
                          lines.Next32(&node->line);
    if (!is_whole) return false;
  }
  part->nodes = std::move(nodes);
  return functions.empty() && lines.empty();
}

bool ParseMetadata(Span payload, Metadata* metadata) {
  WireReader reader(payload.data, payload.size);
  while (reader.Next()) {
    if (!reader.is_bytes()) continue;
    if (reader.field() == 1 && !ParseMetadataEntry(reader, metadata)) return false;
    if (reader.size() == 0) continue;  // empty: unchanged
    if (reader.field() == 2) metadata->process_name = ToString(reader);
    if (reader.field() == 3) metadata->program = ToString(reader);
    if (reader.field() == 4) metadata->python = ToString(reader);
  }
  return reader.ok();
}

bool ParseEnd(Span payload, EndInfo* end) {
  *end = EndInfo();
  WireReader reader(payload.data, payload.size);
  while (reader.Next()) {
    if (reader.field() == 1) end->end_ns = UnZigZag(reader.value());
    if (reader.field() == 2) end->exited = reader.value() != 0;
    if (reader.field() == 3) end->python_begin_ns = UnZigZag(reader.value());
    if (reader.field() == 4) end->python_end_ns = UnZigZag(reader.value());
    if (reader.field() == 5 && !ParseLoss(reader, end)) return false;
    if (reader.field() == 6) end->forks = Low32(reader);
  }
  return reader.ok();
}

bool ParseRolledUp(Span payload, RolledUpPiece* piece) {
  base::WireReader reader(payload.data, payload.size);
  while (reader.Next()) {
    if (reader.field() == 1) piece->piece = static_cast<uint32_t>(reader.value());
    if (reader.field() == 2) piece->last = reader.value() != 0;
    if (reader.field() == 3) piece->state = {reader.data(), reader.size()};
  }
  return reader.ok();
}

}  // namespace rlscope::trace
