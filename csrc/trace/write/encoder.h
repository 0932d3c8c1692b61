// Records of a thread's ring -> CpuChunk (trace.proto). Fixed-size state, no malloc, libc only.
//
//   ThreadStream stream;                 // per thread, 8 KiB; may live in mapped zero pages
//   CpuEncoder *encoder;                 // one per draining thread, 256 KiB, shared by all streams
//   encoder->Begin(&stream, ring, first_slot);
//   while (...) {
//     encoder->Add(slot, second);        // slots in ring order
//     if (encoder->Full()) encoder->Finish(&sink), encoder->Begin(&stream, ring, next_slot);
//   }
//   encoder->Finish(&sink);              // then, and only then, move the ring's tail
//
// One thread at a time uses an encoder. The other chunk kinds are in chunks.h.
#ifndef RLSCOPE_TRACE_WRITE_ENCODER_H_
#define RLSCOPE_TRACE_WRITE_ENCODER_H_

#include <stdint.h>

#include "trace/format/open_operations.h"
#include "trace/layout/record.h"
#include "trace/write/sink.h"
#include "trace/write/what_column.h"
#include "trace/write/window_changes.h"

namespace rlscope::trace {

constexpr uint32_t kChunkItems = WhatColumn::kCapacity;
constexpr uint32_t kChunkProcessItems = 512;
constexpr uint32_t kChunkProbes = 2048;  // and their calls

// The memory of one thread from chunk to chunk. Zero-filled memory is a valid fresh
// stream of which nothing is known; a kThreadBegin record (or Reset) makes it complete.
struct ThreadStream {
  uint32_t thread = 0;      // dense number, as in ThreadChunk; set it before the first Begin
  uint32_t tick_shift = 0;  // of the file (tick_unit.h); likewise
  uint64_t last_ticks = 0;  // end of the last item, in the file's ticks, as all of these
  uint64_t clamped = 0;     // ticks that lay before that, moved up to it
  uint32_t changes = 0;     // of the process's windows that are over
  bool stopped = false;     // by the last of them: the reader ignores what the thread does now
  OpenOperations open;

  // The thread starts now, with nothing open.
  void Reset(uint32_t new_thread) {
    thread = new_thread;
    last_ticks = 0;
    changes = 0;
    stopped = false;
    open.Reset();
  }
};

class CpuEncoder {
 public:
  CpuEncoder() = default;
  CpuEncoder(const CpuEncoder&) = delete;
  CpuEncoder& operator=(const CpuEncoder&) = delete;

  // Starts a chunk of `stream`, whose `thread` is set; `first_slot` is the position, counted from
  // the ring's creation, of the first slot that will be added. Drops what an unfinished chunk held.
  // `changes`: all changes of the process's windows up to the last record that will be added; they
  // must live until Finish. Null: the stream's own window records are all there are.
  void Begin(ThreadStream* stream, uint32_t ring, uint64_t first_slot,
             const WindowChanges* changes = nullptr);

  // Adds the record in `slot`; `second` is its second slot when HasTwoSlots, else ignored. Also
  // takes kThreadBegin, kThreadEnd, kWindow*: all are items. kPad, kRingEnd, kNone and unknown
  // kinds, and the operation of probes, count as a slot and leave no item. Call only while !Full().
  // Ticks that run backwards
  // are moved up to the end of the item before and counted in the stream.
  void Add(const Slot& slot, const Slot* second);

  // Adds a record that is still to be written, as the only one: the chunk takes no slots, so a
  // reader that finds the record's own chunk leaves this one out.
  void AddAhead(const Slot& slot) {
    Add(slot, nullptr);
    slots_ = 0;
  }

  bool Full() const {
    return count_ >= kChunkItems || process_items_ >= kChunkProcessItems || probes_ >= kChunkProbes;
  }
  uint32_t items() const { return count_; }
  uint64_t slots() const { return slots_; }
  // Records since Begin() of kinds that a thread does not write.
  uint64_t left_out() const { return left_out_; }

  // Writes the chunk as one frame; nothing when nothing was added. 0 or an errno value. The next
  // call must be Begin.
  int Finish(Sink* sink);

  // Operation enters, automatic segments, call begins and complete calls over all finished chunks
  // (the wrapper's "events").
  uint64_t events() const { return events_; }

 private:
  void SnapshotOpen();
  void FollowWindows(uint64_t ticks);
  void PassChange(const WindowChanges::Change& change);
  bool Track(uint32_t kind, uint32_t id, uint64_t ticks);
  void AddStep(uint64_t ticks, bool is_end);
  void AddCall(const Slot& slot, uint64_t start);
  void AddProbe(uint32_t ticks);
  void AddProcessItem(uint32_t kind, uint32_t id, uint64_t value);
  uint8_t* WriteHeader(uint8_t* out) const;
  uint32_t chunk_events() const { return operations_ + automatic_ + calls_; }

  ThreadStream* stream_ = nullptr;
  const WindowChanges* changes_ = nullptr;
  uint32_t ring_ = 0;
  uint64_t first_slot_ = 0;
  uint64_t slots_ = 0;
  uint64_t left_out_ = 0;
  uint64_t base_ticks_ = 0;
  uint32_t count_ = 0;
  uint32_t process_items_ = 0;
  uint32_t task_before_ = 0;  // the task that ran before the first item
  uint32_t operations_ = 0;   // events of the chunk, by kind
  uint32_t automatic_ = 0;
  uint32_t calls_ = 0;
  uint32_t probes_ = 0;
  uint64_t events_ = 0;
  uint64_t process_ticks_ = 0;  // of the last process item, else base_ticks_

  // Ends of the columns below. Each has room for a full chunk, so none is checked.
  uint8_t* step_end_ = nullptr;
  uint8_t* duration_end_ = nullptr;
  uint8_t* value_end_ = nullptr;
  uint8_t* probe_end_ = nullptr;
  uint8_t* open_end_ = nullptr;
  uint8_t* process_step_end_ = nullptr;
  uint8_t* process_what_end_ = nullptr;
  uint8_t* process_value_end_ = nullptr;

  WhatColumn what_;
  uint8_t step_[kChunkItems * 10];
  uint8_t duration_[kChunkItems * 5];
  uint8_t value_[kChunkItems * 8];
  uint8_t probe_[kChunkProbes * 5];
  uint8_t open_[OpenOperations::kCapacity * 24];
  uint8_t process_step_[kChunkProcessItems * 10];
  uint8_t process_what_[kChunkProcessItems * 5];
  uint8_t process_value_[kChunkProcessItems * 8];
};

}  // namespace rlscope::trace

#endif  // RLSCOPE_TRACE_WRITE_ENCODER_H_
