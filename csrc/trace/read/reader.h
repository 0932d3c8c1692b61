// One trace file: mapped, walked frame by frame with its checksums, and indexed. Nothing of the
// items is decoded here (decoder.h, cursor.h), so opening costs one pass over the bytes.
//
// Damage never fails an open: what lies between intact frames is listed in problems().
#ifndef RLSCOPE_TRACE_READ_READER_H_
#define RLSCOPE_TRACE_READ_READER_H_

#include <stdint.h>

#include <memory>
#include <string>
#include <vector>

#include "base/clock.h"
#include "base/status.h"
#include "trace/read/chunk_parser.h"
#include "trace/read/decoder.h"

namespace rlscope::trace {

struct Problem {
  std::string file;
  uint64_t offset;
  uint64_t bytes;
  std::string what;
};

// Where a chunk's payload lies, and what is needed to order it without decoding.
struct CpuChunkRef {
  const uint8_t* payload;
  uint32_t size;
  uint32_t thread;
  uint32_t ring;
  uint32_t count;
  uint32_t events;
  uint32_t operations;
  uint32_t automatic;
  uint64_t first_slot;
  uint64_t slots;
  uint64_t base_ticks;
  uint64_t last_ticks;
  uint64_t missing_slots;  // lost between the chunk before in this ring and this one
};

struct CudaChunkRef {
  const uint8_t* payload;
  uint32_t size;
  uint32_t thread;
  uint32_t ring;
  uint32_t count;
  uint64_t first_slot;
  uint64_t slots;
  uint64_t base_ticks;
  uint64_t last_ticks;
};

struct GpuChunkRef {
  const uint8_t* payload;
  uint32_t size;
  uint32_t device;
  uint32_t context;
  uint32_t stream;
  uint32_t count;
  int64_t min_start_ns;
  int64_t max_end_ns;
  uint32_t ring;  // 0: from none
  uint64_t first_slot;
  uint64_t slots;
};

class TraceFile {
 public:
  // Maps and indexes. An error when the file cannot be read, is empty, is no trace file or is of
  // another format version: one sentence with the path.
  static base::Status Open(const std::string& path, std::unique_ptr<TraceFile>* file);

  // The same for bytes in memory, which it keeps (salvaged rings; tests). `label` stands in
  // problems.
  static base::Status FromBytes(std::vector<uint8_t> bytes, const std::string& label,
                                std::unique_ptr<TraceFile>* file);

  ~TraceFile();
  TraceFile(const TraceFile&) = delete;
  TraceFile& operator=(const TraceFile&) = delete;

  const std::string& path() const { return path_; }
  uint64_t bytes() const { return size_; }
  // False: the frame with it is damaged, and process() is a guess from the clock pairs.
  bool has_process() const { return has_process_; }
  const ProcessInfo& process() const { return process_; }
  // Sets what the file's name says of a process whose frame is damaged.
  void SetProcessIdentity(uint32_t os_pid, uint64_t start_time) {
    process_.os_pid = os_pid;
    process_.start_time = start_time;
  }
  // All in the order of the file.
  const std::vector<Name>& names() const { return names_; }
  const std::vector<Thread>& threads() const { return threads_; }
  const std::vector<base::ClockPair>& clock_pairs() const { return clock_pairs_; }
  const Metadata& metadata() const { return metadata_; }
  const EndInfo* end() const { return has_end_ ? &end_ : nullptr; }
  // Nothing is appended to it any more.
  bool is_closed() const { return has_end_ || is_closed_; }
  // In the order of the file.
  const std::vector<RolledUpPiece>& rolled_up() const { return rolled_up_; }
  const std::vector<CpuChunkRef>& cpu() const { return cpu_; }
  const std::vector<CudaChunkRef>& cuda() const { return cuda_; }
  const std::vector<GpuChunkRef>& gpu() const { return gpu_; }
  // Payloads of StatesChunk, in the order of the file.
  const std::vector<Span>& states() const { return states_; }
  // The same of StacksChunk.
  const std::vector<Span>& stacks() const { return stacks_; }
  const std::vector<Problem>& problems() const { return problems_; }

 private:
  friend class FileIndexer;
  TraceFile() = default;

  std::string path_;
  const uint8_t* data_ = nullptr;
  uint64_t size_ = 0;
  void* mapping_ = nullptr;
  std::vector<uint8_t> owned_;

  bool has_process_ = false;
  ProcessInfo process_;
  std::vector<Name> names_;
  std::vector<Thread> threads_;
  std::vector<base::ClockPair> clock_pairs_;
  Metadata metadata_;
  bool has_end_ = false;
  EndInfo end_;
  bool is_closed_ = false;
  std::vector<RolledUpPiece> rolled_up_;
  std::vector<CpuChunkRef> cpu_;
  std::vector<CudaChunkRef> cuda_;
  std::vector<GpuChunkRef> gpu_;
  std::vector<Span> states_;
  std::vector<Span> stacks_;
  std::vector<Problem> problems_;
};

}  // namespace rlscope::trace

#endif  // RLSCOPE_TRACE_READ_READER_H_
