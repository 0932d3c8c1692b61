#include "trace/decoder.h"

#include <string.h>

#include "base/wire.h"
#include "trace/prediction.h"
#include "trace/varints.h"

namespace rlscope::trace {
namespace {

using base::WireReader;

constexpr uint32_t kOpenField = 12;
constexpr uint32_t kInnermostExit = MakeWhat(kOperationExit, 0);

uint32_t Low32(uint64_t value) { return static_cast<uint32_t>(value); }

// Room for `size` values; vectors only grow, so that nothing is cleared chunk after chunk.
template <typename T>
void Reserve(std::vector<T>* column, size_t size) {
  if (column->size() < size) column->resize(size);
}

bool HasValue(uint32_t what) { return HasTwoSlots(WhatKind(what)); }

// What the loops need of the dictionary and the `what` column, decoded.
struct Whats {
  std::vector<uint32_t> dictionary;
  std::vector<uint32_t> index;  // one per item that is not an innermost exit, and one to spare
  std::vector<uint32_t> unguessed;
  size_t entries = 0;
  bool has_calls = false;
  bool has_values = false;
};

bool DecodeDictionary(Span column, Whats* whats) {
  Reserve(&whats->dictionary, column.size + 1);
  whats->dictionary[0] = 0;  // so that the spare index is one of an entry
  whats->entries = DecodeVarints(column, whats->dictionary.data(), column.size);
  if (whats->entries == SIZE_MAX) return false;
  whats->has_calls = whats->has_values = false;
  for (size_t i = 0; i < whats->entries; ++i) {
    if (WhatKind(whats->dictionary[i]) == kCall) whats->has_calls = true;
    if (HasValue(whats->dictionary[i])) whats->has_values = true;
  }
  return true;
}

// The column holds those of `count` indexes that were not guessed.
bool FillGuessed(const CpuHeader& header, size_t count, Whats* whats) {
  static thread_local Prediction prediction;
  if (header.guessed.size != (count + 7) / 8) return false;
  Reserve(&whats->unguessed, count + 1);
  uint32_t* const unguessed = whats->unguessed.data();
  const size_t given = DecodeVarints(header.what, unguessed, count);
  if (given == SIZE_MAX) return false;
  unguessed[given] = 0;
  prediction.Reset();
  size_t used = 0;
  for (size_t i = 0; i < count; ++i) {
    const bool is_guessed = header.guessed.data[i / 8] >> i % 8 & 1;
    const uint32_t index = is_guessed ? prediction.Guess() : unguessed[used];
    prediction.Learn(index);
    whats->index[i] = index;
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

// columns->ticks holds the steps; turns them into ticks and fills columns->what. Branch-free per
// item: enters and exits alternate as the program pleases, and a misprediction costs more than
// the work. False: ticks beyond 2^64, or a number of calls that is not the durations'.
template <bool kHasCalls>
bool Join(const CpuHeader& header, const Whats& whats, size_t durations, CpuColumns* columns) {
  const uint32_t* const dictionary = whats.dictionary.data();
  const uint32_t* const index = whats.index.data();
  uint64_t* const ticks = columns->ticks.data();
  uint32_t* const what = columns->what.data();
  uint64_t* const call_end = columns->call_end.data();  // holds the durations
  const size_t count = header.count;
  uint64_t at = header.base_ticks;
  uint64_t overflow = 0;
  size_t used = 0, calls = 0;
  for (size_t i = 0; i < count; ++i) {
    const uint64_t step = ticks[i];
    const uint64_t next = at + (step >> 1);
    overflow |= static_cast<uint64_t>(next < at);
    const uint32_t is_exit = static_cast<uint32_t>(step & 1);
    // A mask and not ?:, of which compilers make a branch.
    const uint32_t exit_mask = 0 - is_exit;
    const uint32_t entry = (dictionary[index[used]] & ~exit_mask) | (kInnermostExit & exit_mask);
    used += 1 - is_exit;
    ticks[i] = next;
    what[i] = entry;
    at = next;
    if (kHasCalls) {
      const bool is_call = WhatKind(entry) == kCall;
      const size_t slot = calls < durations ? calls : durations;
      at += is_call ? call_end[slot] : 0;
      overflow |= static_cast<uint64_t>(at < next);
      call_end[slot] = is_call ? at : call_end[slot];
      calls += is_call;
    }
  }
  return overflow == 0 && calls == durations && at == header.last_ticks;
}

bool DecodeDurations(const CpuHeader& header, CpuColumns* columns) {
  const size_t capacity =
      header.duration.size < header.count ? header.duration.size : size_t{header.count};
  Reserve(&columns->call_end, capacity + 1);
  const size_t calls = DecodeVarints(header.duration, columns->call_end.data(), capacity);
  if (calls == SIZE_MAX) return false;
  columns->calls = static_cast<uint32_t>(calls);
  return true;
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
    default:
      return nullptr;
  }
}

void SetCpuField(const WireReader& field, CpuHeader* header) {
  if (Span* const column = FindColumn(field.field(), header)) {
    *column = {field.data(), field.size()};
    return;
  }
  switch (field.field()) {
    case 1:
      header->thread = Low32(field.value());
      break;
    case 2:
      header->ring = Low32(field.value());
      break;
    case 3:
      header->first_slot = field.value();
      break;
    case 4:
      header->slots = field.value();
      break;
    case 5:
      header->base_ticks = field.value();
      break;
    case 6:
      header->count = Low32(field.value());
      break;
    case 13:
      header->task = Low32(field.value());
      break;
    case 15:
      header->last_ticks = field.value();
      break;
    case 16:
      header->events = Low32(field.value());
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
  // A step takes a byte at least; slots are positions, and must not wrap around.
  return reader.ok() && header->count <= header->step.size &&
         header->slots <= UINT64_MAX - header->first_slot &&
         header->base_ticks <= header->last_ticks;
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
  columns->count = columns->calls = columns->values = 0;
  Reserve(&columns->ticks, header.count);
  Reserve(&columns->what, header.count);
  if (DecodeVarints(header.step, columns->ticks.data(), header.count) != header.count) return false;
  const size_t exits = CountInnermostExits(columns->ticks.data(), header.count);
  if (!DecodeDictionary(header.dictionary, &whats) ||
      !DecodeIndexes(header, header.count - exits, &whats) || !DecodeDurations(header, columns)) {
    return false;
  }
  columns->count = header.count;
  const bool joined = whats.has_calls ? Join<true>(header, whats, columns->calls, columns)
                                      : Join<false>(header, whats, columns->calls, columns);
  if (joined && DecodeValues(header, whats.has_values, columns)) return true;
  columns->count = 0;
  return false;
}

}  // namespace rlscope::trace
