#include "trace/read/decoder.h"

#include <string.h>

#include "base/wire.h"
#include "trace/format/prediction.h"
#include "trace/read/columns.h"
#include "trace/read/varints.h"

namespace rlscope::trace {
namespace {

using base::WireReader;

constexpr uint32_t kOpenField = 12;
constexpr uint32_t kInnermostExit = MakeWhat(kOperationExit, 0);

bool HasValue(uint32_t what) { return HasTwoSlots(WhatKind(what)); }

// The parts of a chunk that the loops need, decoded. Reused from chunk to chunk.
struct Whats {
  std::vector<uint32_t> dictionary;
  std::vector<uint32_t> index;  // one per item that is not an innermost exit, and one to spare
  std::vector<uint32_t> unguessed;
  std::vector<uint64_t> duration;  // room for one per item
  Prediction prediction;
  size_t entries = 0;
  size_t durations = 0;
  bool has_calls = false;
  bool has_values = false;
  bool has_probes = false;
};

bool DecodeDictionary(Span column, Whats* whats) {
  Reserve(&whats->dictionary, column.size + 1);
  whats->dictionary[0] = 0;  // so that the spare index is one of an entry
  whats->entries = DecodeVarints(column, whats->dictionary.data(), column.size);
  if (whats->entries == SIZE_MAX) return false;
  whats->has_calls = whats->has_values = whats->has_probes = false;
  for (size_t i = 0; i < whats->entries; ++i) {
    if (WhatKind(whats->dictionary[i]) == kCall) whats->has_calls = true;
    if (HasValue(whats->dictionary[i])) whats->has_values = true;
    if (IsOfProbe(WhatKind(whats->dictionary[i]))) whats->has_probes = true;
  }
  return true;
}

// The column holds those of `count` indexes that were not guessed.
bool FillGuessed(const CpuHeader& header, size_t count, Whats* whats) {
  if (header.guessed.size != (count + 7) / 8) return false;
  Reserve(&whats->unguessed, count + 1);
  uint32_t* const unguessed = whats->unguessed.data();
  const size_t given = DecodeVarints(header.what, unguessed, count);
  if (given == SIZE_MAX) return false;
  unguessed[given] = 0;
  uint32_t* const indexes = whats->index.data();
  Prediction* const prediction = &whats->prediction;
  prediction->Reset();
  size_t used = 0;
  for (size_t i = 0; i < count; ++i) {
    const bool is_guessed = header.guessed.data[i / 8] >> i % 8 & 1;
    const uint32_t index = is_guessed ? prediction->Guess() : unguessed[used];
    prediction->Learn(index);
    indexes[i] = index;
    used += !is_guessed && used < given;
  }
  return used == given;
}

// Exactly `count` indexes, all of entries of the dictionary.
bool DecodeIndexes(const CpuHeader& header, size_t count, Whats* whats) {
  const Span column = header.what;
  Reserve(&whats->index, count + 1);
  uint32_t* const index = whats->index.data();
  size_t limit = whats->entries;
  if (header.guessed.size > 0) {
    if (!FillGuessed(header, count, whats)) return false;
  } else if (column.size == count) {  // one byte each: a dictionary of up to 128 entries
    for (size_t i = 0; i < count; ++i) index[i] = column.data[i];
    limit = limit < 128 ? limit : 128;
  } else if (DecodeVarints(column, index, count) != count) {
    return false;
  }
  uint32_t largest = 0;
  for (size_t i = 0; i < count; ++i) largest = index[i] > largest ? index[i] : largest;
  index[count] = 0;
  return count == 0 || largest < limit;
}

size_t CountInnermostExits(const uint64_t* steps, size_t count) {
  size_t exits = 0;
  for (size_t i = 0; i < count; ++i) exits += steps[i] & 1;
  return exits;
}

// columns->ticks holds the steps; turns them into ticks and fills columns->what and call_end.
// Branch-free per item: enters and exits alternate as the program pleases, and a misprediction
// costs more than the work. False: ticks beyond 2^64, or a number of calls that is not the
// durations'.
template <bool kHasCalls, bool kMayOverflow>
bool Join(const CpuHeader& header, const Whats& whats, CpuColumns* columns) {
  const uint32_t* const dictionary = whats.dictionary.data();
  const uint32_t* const index = whats.index.data();
  const uint64_t* const duration = whats.duration.data();
  uint64_t* const ticks = columns->ticks.data();
  uint32_t* const what = columns->what.data();
  uint64_t* const call_end = columns->call_end.data();
  const size_t count = header.count;
  uint64_t at = header.base_ticks;
  uint64_t overflow = 0;
  size_t used = 0, calls = 0;
  for (size_t i = 0; i < count; ++i) {
    const uint64_t step = ticks[i];
    const uint64_t next = at + (step >> 1);
    if (kMayOverflow) overflow |= static_cast<uint64_t>(next < at);
    const uint32_t is_exit = static_cast<uint32_t>(step & 1);
    // Masks and not ?:, of which compilers make branches.
    const uint32_t exit_mask = 0 - is_exit;
    const uint32_t entry = (dictionary[index[used]] & ~exit_mask) | (kInnermostExit & exit_mask);
    used += 1 - is_exit;
    ticks[i] = next;
    what[i] = entry;
    at = next;
    if (kHasCalls) {
      const bool is_call = WhatKind(entry) == kCall;
      at += duration[calls] & (0 - static_cast<uint64_t>(is_call));
      if (kMayOverflow) overflow |= static_cast<uint64_t>(at < next);
      call_end[calls] = at;  // of the next call, if this is none
      calls += is_call;
    }
  }
  return overflow == 0 && calls == whats.durations && at == header.last_ticks;
}

template <bool kHasCalls>
bool JoinAny(const CpuHeader& header, const Whats& whats, CpuColumns* columns) {
  uint64_t bits = 0;
  for (size_t i = 0; i < header.count; ++i) bits |= columns->ticks[i];
  for (size_t i = 0; i < whats.durations; ++i) bits |= whats.duration[i];
  return CannotOverflow(header.base_ticks, bits, header.count)
             ? Join<kHasCalls, false>(header, whats, columns)
             : Join<kHasCalls, true>(header, whats, columns);
}

// Room for a call per item, and one to spare, because Join counts the calls only as it goes.
bool DecodeDurations(const CpuHeader& header, Whats* whats, CpuColumns* columns) {
  Reserve(&whats->duration, size_t{header.count} + 1);
  Reserve(&columns->call_end, size_t{header.count} + 1);
  whats->durations = DecodeVarints(header.duration, whats->duration.data(), header.count);
  return whats->durations != SIZE_MAX;
}

bool DecodeValues(const CpuHeader& header, bool has_values, CpuColumns* columns) {
  size_t expected = 0;
  for (size_t i = 0; has_values && i < columns->count; ++i) expected += HasValue(columns->what[i]);
  if (header.value.size != 8 * expected) return false;
  Reserve(&columns->value, expected);
  if (expected > 0) memcpy(columns->value.data(), header.value.data, header.value.size);
  columns->values = static_cast<uint32_t>(expected);
  return true;
}

bool DecodeProbes(const CpuHeader& header, bool has_probes, CpuColumns* columns) {
  size_t expected = 0;
  for (size_t i = 0; has_probes && i < columns->count; ++i) {
    expected += IsOfProbe(WhatKind(columns->what[i]));
  }
  Reserve(&columns->probe, expected);
  columns->probes = static_cast<uint32_t>(expected);
  return DecodeVarints(header.probe, columns->probe.data(), expected) == expected;
}

// The member for a field that is a column, else null.
Span* FindColumn(uint32_t field, CpuHeader* header) {
  switch (field) {
    case 7:
      return &header->step;
    case 8:
      return &header->what;
    case 9:
      return &header->dictionary;
    case 10:
      return &header->duration;
    case 11:
      return &header->value;
    case 17:
      return &header->process_step;
    case 18:
      return &header->process_what;
    case 19:
      return &header->process_value;
    case 20:
      return &header->guessed;
    case 23:
      return &header->probe;
    default:
      return nullptr;
  }
}

void SetCpuField(const WireReader& field, CpuHeader* header) {
  if (Span* const column = FindColumn(field.field(), header)) {
    *column = {field.data(), field.size()};
    return;
  }
  if (SetRingField(field, header)) return;
  switch (field.field()) {
    case 13:
      header->task = Low32(field.value());
      break;
    case 15:
      header->last_ticks = field.value();
      break;
    case 16:
      header->events = Low32(field.value());
      break;
    case 21:
      header->operations = Low32(field.value());
      break;
    case 22:
      header->automatic = Low32(field.value());
      break;
    default:
      break;  // decoded on demand, or of a later version
  }
}

bool ParseOpenOperation(const uint8_t* data, size_t size, OpenOperation* open) {
  *open = {0, 0, 0};
  WireReader reader(data, size);
  while (reader.Next()) {
    if (reader.field() == 1) open->task = Low32(reader.value());
    if (reader.field() == 2) open->name = Low32(reader.value());
    if (reader.field() == 3) open->enter_ticks = reader.value();
  }
  return reader.ok();
}

bool IsProgress(uint32_t kind) { return kind == kProgressTotal || kind == kProgressDone; }

}  // namespace

bool ParseCpuHeader(const uint8_t* payload, size_t size, CpuHeader* header) {
  *header = CpuHeader();
  header->payload = {payload, size};
  WireReader reader(payload, size);
  while (reader.Next()) SetCpuField(reader, header);
  return reader.ok() && IsValidRingHeader(*header);
}

bool DecodeOpen(const CpuHeader& header, std::vector<OpenOperation>* open) {
  open->clear();
  WireReader reader(header.payload.data, header.payload.size);
  while (reader.Next()) {
    if (reader.field() != kOpenField) continue;
    open->emplace_back();
    if (!ParseOpenOperation(reader.data(), reader.size(), &open->back())) return false;
  }
  return reader.ok();
}

bool AppendProcessItems(const CpuHeader& header, std::vector<ProcessItem>* items) {
  const Span whats = header.process_what;
  if (whats.size == 0) return header.process_step.size == 0 && header.process_value.size == 0;
  std::vector<uint32_t> what(whats.size);
  std::vector<uint64_t> step(whats.size);
  const size_t count = DecodeVarints(whats, what.data(), what.size());
  if (count == SIZE_MAX || DecodeVarints(header.process_step, step.data(), count) != count) {
    return false;
  }
  const uint8_t* value = header.process_value.data;
  size_t values_left = header.process_value.size / sizeof(uint64_t);
  uint64_t ticks = header.base_ticks;
  for (size_t i = 0; i < count; ++i) {
    ticks += step[i];
    ProcessItem item = {ticks, 0, WhatKind(what[i]), WhatId(what[i])};
    if (IsProgress(item.kind)) {
      if (values_left-- == 0) return false;
      memcpy(&item.value, value, sizeof item.value);
      value += sizeof item.value;
    }
    items->push_back(item);
  }
  return true;
}

bool DecodeCpu(const CpuHeader& header, CpuColumns* columns) {
  static thread_local Whats whats;
  columns->count = columns->calls = columns->values = columns->probes = 0;
  Reserve(&columns->ticks, header.count);
  Reserve(&columns->what, header.count);
  if (DecodeVarints(header.step, columns->ticks.data(), header.count) != header.count) return false;
  const size_t exits = CountInnermostExits(columns->ticks.data(), header.count);
  if (!DecodeDictionary(header.dictionary, &whats) ||
      !DecodeIndexes(header, header.count - exits, &whats) ||
      !DecodeDurations(header, &whats, columns)) {
    return false;
  }
  const bool joined = whats.has_calls ? JoinAny<true>(header, whats, columns)
                                      : JoinAny<false>(header, whats, columns);
  columns->count = header.count;
  columns->calls = static_cast<uint32_t>(whats.durations);
  if (joined && DecodeValues(header, whats.has_values, columns) &&
      DecodeProbes(header, whats.has_probes, columns)) {
    return true;
  }
  columns->count = columns->calls = 0;
  return false;
}

}  // namespace rlscope::trace
