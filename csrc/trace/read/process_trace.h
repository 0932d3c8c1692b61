// The records of one process image, joined from its file or files: names, threads, one clock, and
// each thread's chunks in time order, without duplicates. The sweep works on it.
#ifndef RLSCOPE_TRACE_READ_PROCESS_TRACE_H_
#define RLSCOPE_TRACE_READ_PROCESS_TRACE_H_

#include <stdint.h>

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/clock.h"
#include "trace/read/reader.h"
#include "trace/read/rolled_up.h"

namespace rlscope::trace {

// One thread with at least one chunk or one row in a ThreadChunk, in order of thread number.
struct ThreadChunks {
  Thread thread;                 // thread.os_tid 0: no ThreadChunk named it
  std::vector<CpuChunkRef> cpu;  // in time order
  std::vector<CudaChunkRef> cuda;
};

struct GpuStream {
  uint32_t device = 0;
  uint32_t context = 0;
  uint32_t stream = 0;
  std::vector<GpuChunkRef> chunks;  // by min_start_ns; may overlap in time
};

struct TimedProcessItem {
  int64_t time_ns;
  uint64_t value;
  uint32_t kind;  // record.h
  uint32_t id;
  uint32_t thread;  // number of the thread that recorded it
};

class ProcessTrace {
 public:
  // Joins files of one image, oldest first; keeps them open. At least one file.
  explicit ProcessTrace(std::vector<std::unique_ptr<TraceFile>> files);

  const ProcessInfo& info() const { return info_; }
  const std::vector<std::unique_ptr<TraceFile>>& files() const { return files_; }

  // By id; ids without a name are not in it.
  const std::vector<Name>& names() const { return names_; }
  const Name* FindName(uint32_t id) const;  // null: never named

  const std::vector<ThreadChunks>& threads() const { return threads_; }
  const std::vector<GpuStream>& gpu_streams() const { return gpu_streams_; }
  // Payloads of StatesChunk, in order of the files.
  const std::vector<Span>& states() const { return states_; }
  // The same of StacksChunk.
  const std::vector<Span>& stacks() const { return stacks_; }
  const base::ClockConverter& clock() const { return clock_; }
  const Metadata& metadata() const { return metadata_; }
  // Null: no file was closed in order. end_ns 0: read from the rings of a process whose end
  // was not written; its losses are known.
  const EndInfo* end() const { return end_; }

  // The part whose chunks are gone, null: there is none; and what the archive holds after it.
  const RolledUp* rolled_up() const { return rolled_up_.get(); }
  const Archive& saved() const { return *saved_; }

  // kPhase, kIteration, kProgress*, kWindow* of all threads, by time (ties: lower thread, then
  // order of recording), found without decoding the items.
  std::vector<TimedProcessItem> ReadProcessItems() const;

  // As the chunks' headers say, without decoding the items.
  EventCounts CountEvents() const;

  // First start and last end over all chunks, ns; false when the process has no records.
  bool RecordedSpan(int64_t* first_ns, int64_t* last_ns) const;

  uint64_t file_bytes() const;
  uint64_t duplicate_chunks() const { return duplicate_chunks_; }
  uint64_t missing_slots() const { return missing_slots_; }  // lost between chunks, all rings
  const std::vector<Problem>& problems() const { return problems_; }  // of all files and joins

 private:
  void FindRolledUp();
  bool ReadRolledUp(const TraceFile& file);
  void LeaveOutOtherClocks();
  void JoinNames();
  void JoinThreads();
  void JoinCpu();
  void JoinCuda();
  void JoinGpu();
  void JoinRest();
  ThreadChunks* FindThread(uint32_t thread);
  void Count(uint64_t duplicates, uint64_t missing_slots, uint64_t overlapping);

  std::vector<std::unique_ptr<TraceFile>> files_;
  ProcessInfo info_;
  std::vector<Name> names_;
  std::vector<ThreadChunks> threads_;
  std::vector<GpuStream> gpu_streams_;
  std::vector<Span> states_;
  std::vector<Span> stacks_;
  std::vector<base::ClockSegment> clock_segments_;
  base::ClockConverter clock_;
  Metadata metadata_;
  const EndInfo* end_ = nullptr;
  std::unique_ptr<RolledUp> rolled_up_;
  std::optional<Archive> saved_;
  uint64_t duplicate_chunks_ = 0;
  uint64_t missing_slots_ = 0;
  std::vector<Problem> problems_;
};

// A single file as a process, for benchmarks and tests.
base::Status OpenProcessFile(const std::string& path, std::unique_ptr<ProcessTrace>* process);

}  // namespace rlscope::trace

#endif  // RLSCOPE_TRACE_READ_PROCESS_TRACE_H_
