// Writes one .rls file from memory of any kind: what importers and _trace.Writer have in common.
#ifndef RLSCOPE_IMPORTERS_TRACE_FILE_H_
#define RLSCOPE_IMPORTERS_TRACE_FILE_H_

#include <stddef.h>
#include <stdint.h>

#include <memory>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "trace/write/chunks.h"
#include "trace/write/encoder.h"
#include "trace/write/interval_chunks.h"
#include "trace/write/sink.h"
#include "trace/write/window_changes.h"

namespace rlscope::importers {

// Every function throws std::system_error when a write fails, std::logic_error once it is closed.
class TraceFile {
 public:
  // The file must not be there.
  TraceFile(const std::string& path, const trace::ProcessFields& process);
  ~TraceFile();
  TraceFile(const TraceFile&) = delete;
  TraceFile& operator=(const TraceFile&) = delete;

  // Recording stopped or (true) started, whichever thread's items report it; in order.
  void AddWindowChange(uint64_t ticks, bool starts) { changes_.Append(ticks, starts); }
  void AddClockPairs(const std::vector<base::ClockPair>& pairs);

  // The name's id: from 1 on.
  uint32_t AddName(trace::NameKind kind, const std::string& text, trace::Layer layer);
  void AddThread(const trace::ThreadFields& thread);
  void AddMetadata(const trace::ProcessNames& names,
                   const std::vector<trace::MetadataFields>& entries);

  // Items of one thread, in order, in chunks of their own.
  void BeginItems(uint32_t thread);
  // Only between the two. A call that is too long for a slot becomes a begin and an end, as the
  // recorder writes it.
  void AddItem(uint64_t ticks, uint32_t kind, uint32_t id, uint64_t duration, uint64_t value);
  void EndItems();
  // The next item of the thread, which is still to come, is a call that began then.
  void AddOpenWait(uint32_t thread, uint64_t ticks, uint32_t id);
  // Which threads were awake at a time, at most trace::kMostAwake, and where those of the
  // interpreter were, at most trace::kMostStacks (trace.proto, StatesChunk).
  void AddStates(int64_t time_ns, const std::vector<uint32_t>& awake,
                 const std::vector<trace::ThreadStack>& stacks);
  // Functions and nodes of stacks; their numbers go on from those that were added before.
  void AddStacks(const std::vector<trace::FunctionFields>& functions,
                 const std::vector<trace::NodeFields>& nodes);
  // The same of the stacks that made CUDA calls, all at once: trace::kFirstSite is added to all
  // numbers.
  void AddCallSites(const std::vector<trace::FunctionFields>& functions,
                    std::vector<trace::NodeFields> nodes);
  // In order of start, any number.
  void AddCudaCalls(uint32_t thread, const trace::CudaCall* calls, size_t count);
  // Nothing of this thread follows: what is known of it is dropped.
  void EndThread(uint32_t thread);
  // Sorted by start, any number.
  void AddGpu(const trace::GpuOrigin& origin, const trace::GpuInterval* intervals, size_t count);

  void CloseForNext();
  void End(const trace::EndFields& end, std::vector<trace::LossFields> losses);
  void Close();

  // Times that ran backwards and were moved, and others that an importer had to move.
  uint64_t clamped() const;
  void CountClamped(uint64_t times) { clamped_ += times; }

 private:
  // How many one chunk has: with details of all kinds they always fit.
  static constexpr size_t kMostGpu = 1024;

  // A thread's stream and, as if it had one ring for its items and one for its CUDA calls, the
  // slots that it used so far.
  struct Stream {
    trace::ThreadStream stream;
    uint64_t slots = 0;
    uint64_t cuda_slots = 0;
  };
  Stream* FindStream(uint32_t thread);
  void AddSlot(const trace::Slot& slot, uint64_t value);
  void BeginChunk();
  void Check(int error);
  void CheckOpen() const;

  const std::string path_;
  int descriptor_ = -1;
  trace::FileSink sink_;
  std::unique_ptr<trace::ChunkBuffer> buffer_;
  std::unique_ptr<trace::CpuEncoder> encoder_;
  trace::WindowChanges changes_;
  std::unordered_map<uint32_t, std::unique_ptr<Stream>> streams_;
  Stream* current_ = nullptr;  // between BeginItems and EndItems
  uint32_t names_ = 0;
  uint32_t functions_ = 0;  // of stacks, and
  uint32_t nodes_ = 0;
  uint64_t clamped_ = 0;  // of threads that have ended, and by CountClamped()
};

}  // namespace rlscope::importers

#endif  // RLSCOPE_IMPORTERS_TRACE_FILE_H_
