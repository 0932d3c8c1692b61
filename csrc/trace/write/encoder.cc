#include "trace/write/encoder.h"

#include <string.h>

#include "base/wire.h"
#include "trace/format/what.h"
#include "trace/write/frame_writer.h"

namespace rlscope::trace {
namespace {

using base::PutBytesField;
using base::PutFixed64;
using base::PutFixed64Field;
using base::PutLength;
using base::PutTag;
using base::PutVarint;
using base::PutVarintField;
using base::WireType;

// Fields of CpuChunk.
constexpr uint32_t kThreadField = 1, kRingField = 2, kFirstSlotField = 3, kSlotsField = 4,
                   kBaseTicksField = 5, kCountField = 6, kStepField = 7, kWhatField = 8,
                   kDictionaryField = 9, kDurationField = 10, kValueField = 11, kOpenField = 12,
                   kTaskField = 13, kLastTicksField = 15, kEventsField = 16, kProcessStepField = 17,
                   kProcessWhatField = 18, kProcessValueField = 19, kGuessedField = 20,
                   kOperationsField = 21, kAutomaticField = 22, kProbeField = 23;

constexpr uint64_t kMaxStep = UINT64_MAX >> 1;  // the lowest bit of a step says "end"

bool IsItem(uint32_t kind) {
  return (kind != kNone && kind != kRingEnd && kind <= kAutoResolve) || IsOfProbe(kind) ||
         kind == kShortWaits;
}

// What a probe enters and leaves is nothing that the program did.
bool IsProbeOperation(uint32_t kind, uint32_t id) {
  return id == kProbeOperation && (kind == kOperationEnter || kind == kOperationExit);
}

bool IsProgress(uint32_t kind) { return kind == kProgressTotal || kind == kProgressDone; }

bool ConcernsProcess(uint32_t kind) {
  return kind == kPhase || kind == kIteration || IsProgress(kind) || kind == kWindowStart ||
         kind == kWindowStop;
}

// Two slots carry one payload of 64 bits: where a first slot has its tick. A wait is in ticks.
uint64_t PayloadOf(uint32_t kind, const Slot* second, uint32_t tick_shift) {
  if (second == nullptr) return 0;
  return kind == kWait ? second->tsc >> tick_shift : second->tsc;
}

// PutVarint without a loop for up to four bytes: lengths of steps vary from one to the next, and a
// mispredicted branch costs more than the whole of this. Writes four bytes, of which the returned
// end keeps some.
inline uint8_t* PutStep(uint8_t* out, uint64_t value) {
  if (__builtin_expect(value >= 1u << 28, 0)) return PutVarint(out, value);
  const uint32_t bits = static_cast<uint32_t>(value);
  const uint32_t length = (38u - static_cast<uint32_t>(__builtin_clz(bits | 1))) / 7;
  uint32_t word =
      (bits & 0x7f) | (bits << 1 & 0x7f00) | (bits << 2 & 0x7f0000) | (bits << 3 & 0x7f000000);
  word |= 0x80808080u & ~(UINT32_MAX << (8 * (length - 1)));
  memcpy(out, &word, sizeof word);
  return out + length;
}

uint8_t* PutOpenOperation(uint8_t* out, const OpenOperation& open) {
  uint8_t message[24];
  uint8_t* end = PutVarintField(message, 1, open.task);
  end = PutVarintField(end, 2, open.name);
  end = PutFixed64Field(end, 3, open.enter_ticks);
  return PutBytesField(out, kOpenField, message, static_cast<size_t>(end - message));
}

}  // namespace

void CpuEncoder::Begin(ThreadStream* stream, uint32_t ring, uint64_t first_slot,
                       const WindowChanges* changes) {
  stream_ = stream;
  changes_ = changes;
  ring_ = ring;
  first_slot_ = first_slot;
  slots_ = left_out_ = 0;
  base_ticks_ = stream->last_ticks;
  count_ = process_items_ = 0;
  operations_ = automatic_ = calls_ = 0;
  what_.Begin();
  step_end_ = step_;
  duration_end_ = duration_;
  value_end_ = value_;
  probe_end_ = probe_;
  probes_ = 0;
  process_step_end_ = process_step_;
  process_what_end_ = process_what_;
  process_value_end_ = process_value_;
  open_end_ = open_;
  task_before_ = kUnknownTask;
}

void CpuEncoder::SnapshotOpen() {
  const OpenOperations& open = stream_->open;
  task_before_ = open.complete() ? open.task() : kUnknownTask;
  open_end_ = open_;
  for (uint32_t i = 0; i < open.count(); ++i) open_end_ = PutOpenOperation(open_end_, open[i]);
}

// The reader closes everything of all threads where a window stops, and ignores what they do until
// the next one starts; an exit may be shortened only as long as the stream's stack does the same.
void CpuEncoder::FollowWindows(uint64_t ticks) {
  if (changes_ == nullptr || stream_->changes == changes_->end()) return;
  if (stream_->changes - changes_->begin() > changes_->end() - changes_->begin()) {
    // Too many since the thread's last record: some were forgotten, perhaps a start and a stop.
    stream_->open.Forget();
    stream_->open.LoseTask();
    stream_->stopped = true;
    stream_->changes = changes_->begin();
  }
  while (stream_->changes != changes_->end()) {
    WindowChanges::Change change = (*changes_)[stream_->changes];
    change.ticks >>= stream_->tick_shift;
    if (change.ticks > ticks) return;
    PassChange(change);
    stream_->changes++;
  }
}

// A change that becomes known late, after later records were written: the stack followed what
// the reader ignored, or missed what it saw.
void CpuEncoder::PassChange(const WindowChanges::Change& change) {
  OpenOperations* open = &stream_->open;
  const bool late = change.ticks < stream_->last_ticks;
  if (late) {
    open->Forget();
    open->LoseTask();
  } else if (change.starts && stream_->changes == 0) {
    open->Reset();  // nothing was recorded before: the reader ignored tasks, too
  } else {
    open->CloseAll();
  }
  stream_->stopped = !change.starts;
}

void CpuEncoder::Add(const Slot& slot, const Slot* second) {
  const uint32_t kind = KindOf(slot.word);
  const uint32_t id = IdOf(slot.word);
  slots_ += HasTwoSlots(kind) ? 2 : 1;
  if (__builtin_expect(IsProbeOperation(kind, id), 0)) return;
  if (!IsItem(kind)) {
    left_out_ += kind != kRingEnd && kind != kPad;
    return;
  }
  uint64_t ticks = slot.tsc >> stream_->tick_shift;
  if (ticks < stream_->last_ticks) {
    ticks = stream_->last_ticks;
    ++stream_->clamped;
  }
  FollowWindows(ticks);
  if (count_ == 0) {
    SnapshotOpen();
    base_ticks_ = process_ticks_ = stream_->last_ticks = ticks;
  }
  const bool is_end = Track(kind, id, ticks);
  AddStep(ticks, is_end);
  if (!is_end) what_.Add(MakeWhat(kind, id));
  if (kind == kCall) AddCall(slot, ticks);
  const uint64_t value = PayloadOf(kind, second, stream_->tick_shift);
  if (HasTwoSlots(kind)) value_end_ = PutFixed64(value_end_, value);
  if (IsOfProbe(kind)) AddProbe(slot.duration);
  if (ConcernsProcess(kind)) AddProcessItem(kind, id, value);
  operations_ += kind == kOperationEnter;
  automatic_ += kind == kAutoSegment && id != kAutoNothing;
  calls_ += kind == kCall || kind == kCallBegin;
  ++count_;
}

// Follows what is open. True: the exit of the innermost operation of the running task.
bool CpuEncoder::Track(uint32_t kind, uint32_t id, uint64_t ticks) {
  OpenOperations* open = &stream_->open;
  switch (kind) {
    case kOperationEnter:
      if (!stream_->stopped) open->Enter(id, ticks);
      return false;
    case kOperationExit:
      return open->Exit(id);
    case kTask:
      if (stream_->stopped) {
        open->LoseTask();
      } else {
        open->SwitchTask(id);
      }
      return false;
    case kThreadBegin:
      open->Reset();
      return false;
    case kGap:
    case kWindowStart:
    case kWindowStop:
      open->CloseAll();
      return false;
    default:
      return false;
  }
}

void CpuEncoder::AddStep(uint64_t ticks, bool is_end) {
  uint64_t step = ticks - stream_->last_ticks;
  if (step > kMaxStep) {  // a tick that no clock gives; the stream stays readable
    step = kMaxStep;
    ++stream_->clamped;
  }
  step_end_ = PutStep(step_end_, step << 1 | static_cast<uint64_t>(is_end));
  stream_->last_ticks += step;
}

// The call ends where it ended, also when its start had to move; not before its start.
void CpuEncoder::AddCall(const Slot& slot, uint64_t start) {
  const uint32_t shift = stream_->tick_shift;
  const uint64_t end = (slot.tsc + slot.duration) >> shift;
  const uint64_t longest = (uint64_t{slot.duration} >> shift) + 1;
  stream_->clamped += end < start;
  const uint64_t duration = end > start && end - start <= longest ? end - start : 0;
  duration_end_ = PutVarint(duration_end_, duration);
  stream_->last_ticks += duration;
}

void CpuEncoder::AddProbe(uint32_t ticks) {
  probe_end_ = PutVarint(probe_end_, ticks);
  ++probes_;
}

// The item that AddStep has just placed.
void CpuEncoder::AddProcessItem(uint32_t kind, uint32_t id, uint64_t value) {
  process_step_end_ = PutVarint(process_step_end_, stream_->last_ticks - process_ticks_);
  process_ticks_ = stream_->last_ticks;
  process_what_end_ = PutVarint(process_what_end_, MakeWhat(kind, id));
  if (IsProgress(kind)) process_value_end_ = PutFixed64(process_value_end_, value);
  ++process_items_;
}

// Everything in front of the columns.
uint8_t* CpuEncoder::WriteHeader(uint8_t* out) const {
  out = PutVarintField(out, kThreadField, stream_->thread);
  out = PutVarintField(out, kRingField, ring_);
  out = PutVarintField(out, kFirstSlotField, first_slot_);
  out = PutVarintField(out, kSlotsField, slots_);
  out = PutFixed64Field(out, kBaseTicksField, base_ticks_);
  out = PutVarintField(out, kCountField, count_);
  out = PutVarintField(out, kTaskField, task_before_);
  out = PutFixed64Field(out, kLastTicksField, stream_->last_ticks);
  out = PutVarintField(out, kEventsField, chunk_events());
  out = PutVarintField(out, kOperationsField, operations_);
  return PutVarintField(out, kAutomaticField, automatic_);
}

int CpuEncoder::Finish(Sink* sink) {
  if (slots_ == 0 && count_ == 0) return 0;
  what_.Pack();
  struct Column {
    uint32_t field;
    WhatColumn::Bytes bytes;
  };
  const auto bytes = [](const uint8_t* begin, const uint8_t* end) {
    return WhatColumn::Bytes{begin, static_cast<size_t>(end - begin)};
  };
  const Column columns[] = {{kStepField, bytes(step_, step_end_)},
                            {kWhatField, what_.what()},
                            {kDictionaryField, what_.dictionary()},
                            {kDurationField, bytes(duration_, duration_end_)},
                            {kValueField, bytes(value_, value_end_)},
                            {kProcessStepField, bytes(process_step_, process_step_end_)},
                            {kProcessWhatField, bytes(process_what_, process_what_end_)},
                            {kProcessValueField, bytes(process_value_, process_value_end_)},
                            {kGuessedField, what_.guessed()},
                            {kProbeField, bytes(probe_, probe_end_)}};
  constexpr int kColumns = sizeof columns / sizeof columns[0];
  uint8_t header[96];
  uint8_t tags[kColumns][8];
  struct iovec pieces[2 + 2 * kColumns + 1];
  int count = 1;
  pieces[count++] = {header, static_cast<size_t>(WriteHeader(header) - header)};
  for (int i = 0; i < kColumns; ++i) {
    const WhatColumn::Bytes column = columns[i].bytes;
    if (column.size == 0) continue;
    const uint8_t* end = PutLength(tags[i], columns[i].field, column.size);
    pieces[count++] = {tags[i], static_cast<size_t>(end - tags[i])};
    pieces[count++] = {const_cast<uint8_t*>(column.data), column.size};
  }
  pieces[count++] = {open_, static_cast<size_t>(open_end_ - open_)};
  slots_ = 0;
  const int error = AppendFrame(sink, FrameType::kCpu, pieces, count);
  if (error == 0) events_ += chunk_events();
  return error;
}

}  // namespace rlscope::trace
