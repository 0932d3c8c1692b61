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
  Span steps, awake;
  WireReader reader(payload.data, payload.size);
  while (reader.Next()) {
    if (reader.field() == 1) time_ns = static_cast<int64_t>(reader.value());
    if (reader.field() == 2) steps = {reader.data(), reader.size()};
    if (reader.field() == 3) awake = {reader.data(), reader.size()};
  }
  if (!reader.ok() || time_ns < 0 || time_ns > base::ClockConverter::kMaxNs) return false;
  const uint8_t *step = steps.data, *thread = awake.data;
  const auto next = [](const uint8_t** at, const Span& of, uint64_t* number) {
    *at = *at == nullptr ? nullptr : base::GetVarint(*at, of.data + of.size, number);
    return *at != nullptr;
  };
  while (step != nullptr && step != steps.data + steps.size) {
    uint64_t step_ns, count, number;
    if (!next(&step, steps, &step_ns) || !next(&thread, awake, &count)) return false;
    if (step_ns > static_cast<uint64_t>(base::ClockConverter::kMaxNs - time_ns)) return false;
    time_ns += static_cast<int64_t>(step_ns);
    samples->push_back({time_ns, {}});
    for (uint64_t i = 0; i < count; ++i) {
      if (!next(&thread, awake, &number)) return false;
      samples->back().awake.push_back(static_cast<uint32_t>(number));
    }
  }
  return true;
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
