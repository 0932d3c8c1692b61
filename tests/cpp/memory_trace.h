// Builds trace files in memory with the real encoders, for the tests of everything that reads.
#ifndef RLSCOPE_TESTS_CPP_MEMORY_TRACE_H_
#define RLSCOPE_TESTS_CPP_MEMORY_TRACE_H_

#include <stdint.h>
#include <string.h>

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "trace/read/process_trace.h"
#include "trace/read/reader.h"
#include "trace/write/chunks.h"
#include "trace/write/encoder.h"
#include "trace/write/sink.h"

namespace rlscope::trace {

// One record as a producer writes it.
struct Item {
  uint32_t kind;
  uint32_t id = 0;
  uint64_t ticks = 0;
  uint32_t duration = 0;
  uint64_t value = 0;
};

inline Text ToText(const std::string& text) { return {text.data(), text.size()}; }

class MemoryTrace {
 public:
  MemoryTrace& Process(base::ClockKind clock = base::ClockKind::kMonotonic, uint32_t os_pid = 100,
                       int64_t began_ns = 5, uint64_t tick_hz = 0) {
    const ProcessFields fields = {"test",   "box", "boot",  os_pid, 77,
                                  began_ns, clock, tick_hz, os_pid, tick_shift_};
    EXPECT_EQ(0, WriteProcess(&sink_, buffer_.get(), fields));
    return *this;
  }

  // Before Process: items count the clock's own ticks, of which 2^shift make one of the file.
  MemoryTrace& TickShift(uint32_t shift) {
    tick_shift_ = shift;
    return *this;
  }

  MemoryTrace& Name(uint32_t id, const std::string& text, NameKind kind = NameKind::kOperation,
                    Layer layer = Layer::kNone) {
    const NameFields name = {id, kind, layer, ToText(text)};
    EXPECT_EQ(0, WriteNames(&sink_, buffer_.get(), &name, 1));
    return *this;
  }

  MemoryTrace& Thread(uint32_t thread, uint32_t os_tid, const std::string& name = "") {
    const ThreadFields fields = {thread, os_tid, true, ToText(name)};
    EXPECT_EQ(0, WriteThreads(&sink_, buffer_.get(), &fields, 1));
    return *this;
  }

  MemoryTrace& Clock(const std::vector<base::ClockPair>& pairs) {
    EXPECT_EQ(0, WriteClock(&sink_, buffer_.get(), pairs.data(), pairs.size()));
    return *this;
  }

  // Items of a thread, as if from its ring `ring`; as many chunks as they need.
  MemoryTrace& Items(uint32_t thread, const std::vector<Item>& items, uint32_t ring = 0) {
    if (ring == 0) ring = thread;
    ThreadStream* stream = StreamOf(thread);
    stream->tick_shift = tick_shift_;
    size_t next = 0;
    do {
      encoder_->Begin(stream, ring, slots_[ring]);
      while (next < items.size() && !encoder_->Full()) Add(items[next++]);
      slots_[ring] += encoder_->slots();
      EXPECT_EQ(0, encoder_->Finish(&sink_));
    } while (next < items.size());
    return *this;
  }

  // The next chunk of `ring` will claim to begin `slots` further on.
  MemoryTrace& SkipSlots(uint32_t ring, int64_t slots) {
    slots_[ring] += static_cast<uint64_t>(slots);
    return *this;
  }

  MemoryTrace& End(int64_t end_ns, bool exited = true) {
    const EndFields fields = {end_ns, exited, 0, 0, 0};
    EXPECT_EQ(0, WriteEnd(&sink_, buffer_.get(), fields, nullptr, 0));
    return *this;
  }

  Sink* sink() { return &sink_; }
  ChunkBuffer* buffer() { return buffer_.get(); }
  std::vector<uint8_t> bytes() const { return {sink_.data(), sink_.data() + sink_.bytes()}; }

  std::unique_ptr<TraceFile> File() const {
    std::unique_ptr<TraceFile> file;
    const base::Status status = TraceFile::FromBytes(bytes(), "memory", &file);
    EXPECT_TRUE(status.ok()) << status.message();
    return file;
  }

  std::unique_ptr<ProcessTrace> Trace() const {
    std::vector<std::unique_ptr<TraceFile>> files;
    files.push_back(File());
    return std::make_unique<ProcessTrace>(std::move(files));
  }

 private:
  ThreadStream* StreamOf(uint32_t thread) {
    std::unique_ptr<ThreadStream>& stream = streams_[thread];
    if (stream == nullptr) {
      stream = std::make_unique<ThreadStream>();
      stream->Reset(thread);
    }
    return stream.get();
  }

  void Add(const Item& item) {
    const Slot first = {item.ticks, item.duration, MakeWord(item.kind, item.id, 0)};
    const Slot second = {item.value, 0, MakeWord(kContinued, 0, 0)};
    encoder_->Add(first, &second);
  }

  MemorySink sink_;
  std::unique_ptr<ChunkBuffer> buffer_ = std::make_unique<ChunkBuffer>();
  std::unique_ptr<CpuEncoder> encoder_ = std::make_unique<CpuEncoder>();
  std::map<uint32_t, std::unique_ptr<ThreadStream>> streams_;
  std::map<uint32_t, uint64_t> slots_;
  uint32_t tick_shift_ = 0;
};

}  // namespace rlscope::trace

#endif  // RLSCOPE_TESTS_CPP_MEMORY_TRACE_H_
