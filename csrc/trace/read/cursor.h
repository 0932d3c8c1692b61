// Cursors: the items of one stream in time order, a batch (one chunk) at a time, times already in
// nanoseconds, for the sweep to read. Each holds one decoded chunk (48 KiB for 4096 items), so
// memory does not depend on the size of the trace.
//
//   ThreadCursor cursor(process, index);
//   while (const CpuBatch *batch = cursor.Next()) {
//     if (batch->begins_after_gap) ...       // close what is open, take over batch->open
//     uint32_t call = 0, value = 0;
//     for (uint32_t i = 0; i < batch->count; ++i) switch (WhatKind(batch->what[i])) {
//       case kCall: end_ns = batch->call_end_ns[call++]; ...
//     }
//   }
//
// A cursor is used by one thread at a time; any number of cursors may share a ProcessTrace.
#ifndef RLSCOPE_TRACE_READ_CURSOR_H_
#define RLSCOPE_TRACE_READ_CURSOR_H_

#include <stdint.h>

#include <memory>
#include <vector>

#include "trace/layout/shared_pages.h"
#include "trace/read/decoder.h"
#include "trace/read/interval_decoder.h"
#include "trace/read/process_trace.h"

namespace rlscope::trace {

// Valid until the cursor's next Next().
struct CpuBatch {
  uint32_t count = 0;                    // may be 0
  const int64_t* time_ns = nullptr;      // start; never decreases, also from batch to batch
  const uint32_t* what = nullptr;        // id << 5 | kind; decoder.h: WhatKind, WhatId
  const int64_t* call_end_ns = nullptr;  // one per kCall, in order; <= the next item's time_ns
  const uint64_t* value = nullptr;       // one per kind of two slots, in order; kWait in ns
  const uint64_t* probe = nullptr;  // ticks of the clock; one per kProbe, kProbeRecord, in order
  uint32_t calls = 0;
  uint32_t values = 0;
  uint32_t probes = 0;

  // True when records are missing between the batch before (or the ring's start) and this one
  // because chunks were damaged or never written. Losses that the producer itself counted are
  // kGap items instead.
  bool begins_after_gap = false;
  uint64_t missing_slots = 0;
  // Only after a gap: what was open, in order of entering, by enter_ns; and the running task
  // (kUnknownTask: the writer did not know either, and `open` is not complete).
  struct Open {
    int64_t enter_ns;
    uint32_t task;
    uint32_t name;
  };
  std::vector<Open> open;
  uint32_t task = 0;
};

// Where a cursor stands between two batches, for another one to go on there.
struct CursorPlace {
  bool begun = false;  // it has read a chunk,
  ChunkPlace last;     // this one
  int64_t previous_end_ns = INT64_MIN;
  bool gap = false;      // the chunk before could not be decoded
  uint64_t missing = 0;  // its slots
  uint64_t undecodable = 0;
  uint64_t clamped = 0;

  void Carry(Archive* archive);
};

class ThreadCursor {
 public:
  // `thread_index` counts process.threads(). `process` must outlive the cursor.
  ThreadCursor(const ProcessTrace& process, size_t thread_index, const CursorPlace& from = {});

  // Null at the end of the stream. A chunk whose columns do not decode (its checksum held, so it
  // was written wrong) is left out, counted, and the next batch begins after a gap.
  const CpuBatch* Next();

  // Before the batch that Next() gave last, and after it.
  const CursorPlace& before() const { return before_; }
  const CursorPlace& after() const { return at_; }

  uint64_t undecodable_chunks() const { return at_.undecodable; }
  // Times (of items, and returns of complete calls) that lay before the end of the item ahead;
  // moved up to it.
  uint64_t clamped() const { return at_.clamped; }

 private:
  bool Load(const CpuChunkRef& chunk);
  void SetGap(const CpuChunkRef& chunk, const CpuHeader& header);

  const ProcessTrace* process_;
  const std::vector<CpuChunkRef>* chunks_;
  size_t next_ = 0;
  CursorPlace before_;
  CursorPlace at_;
  CpuColumns columns_;
  std::vector<OpenOperation> open_ticks_;
  CpuBatch batch_;
};

// Without Detail::kAll, only its times may be read, with kNames its names; of a GpuBatch its times
// and `kind`.
struct CudaCallBatch {
  uint32_t count = 0;
  const int64_t* start_ns = nullptr;  // ascending; calls of a thread do not overlap
  const int64_t* end_ns = nullptr;
  const uint32_t* name = nullptr;
  const int64_t* correlation = nullptr;
  const uint32_t* status = nullptr;
  const uint32_t* context = nullptr;
  const uint32_t* site = nullptr;  // null: none is known
};

// The node of the stack that made the call (stack_tree.h); 0: not known.
inline uint32_t SiteOf(const CudaCallBatch& batch, uint32_t index) {
  const uint32_t site = batch.site == nullptr ? 0 : batch.site[index];
  return site == 0 || site > kMostSites ? 0 : kFirstSite + site;
}

class CudaCallCursor {
 public:
  CudaCallCursor(const ProcessTrace& process, size_t thread_index, Detail detail = Detail::kAll);
  const CudaCallBatch* Next();
  uint64_t undecodable_chunks() const { return undecodable_; }
  uint64_t clamped() const { return clamped_; }

 private:
  bool Load(const CudaChunkRef& chunk);

  const ProcessTrace* process_;
  const std::vector<CudaChunkRef>* chunks_;
  const Detail detail_;
  size_t next_ = 0;
  int64_t previous_end_ns_ = INT64_MIN;
  uint64_t undecodable_ = 0;
  uint64_t clamped_ = 0;
  CudaCallColumns columns_;
  CudaCallBatch batch_;
};

struct GpuBatch {
  uint32_t count = 0;
  const int64_t* start_ns = nullptr;  // ascending, also from batch to batch
  const int64_t* end_ns = nullptr;    // intervals of a stream may overlap (graphs, clock jitter)
  const uint32_t* kind = nullptr;     // GpuKind
  const uint32_t* name = nullptr;
  const int64_t* correlation = nullptr;
  const uint64_t* bytes = nullptr;
  const uint32_t* graph = nullptr;
  const GpuDetail* detail = nullptr;
};

// Intervals of one stream, its overlapping chunks merged.
class GpuCursor {
 public:
  GpuCursor(const ProcessTrace& process, size_t stream_index, Detail detail = Detail::kAll);
  const GpuBatch* Next();
  uint64_t undecodable_chunks() const { return undecodable_; }

 private:
  struct Source {
    GpuColumns columns;
    uint32_t next = 0;
    int64_t start_ns() const { return columns.start_ns[next]; }
    int64_t last_start_ns() const { return columns.start_ns[columns.count - 1]; }
  };
  void OpenSourcesUpTo(int64_t start_ns);
  Source* FindEarliest();
  bool IsAlone(const Source& source) const;
  void Remove(const Source* source);
  void MergeSources(Source* earliest);
  void Append(const GpuColumns& from, uint32_t index);
  void SetBatch(const GpuColumns& columns, uint32_t first);

  const std::vector<GpuChunkRef>* chunks_;
  const Detail detail_;
  size_t next_ = 0;
  std::vector<std::unique_ptr<Source>> sources_;  // chunks that overlap the front of the merge
  std::vector<std::unique_ptr<Source>> spare_;    // read to the end; the last one is in the batch
  uint64_t undecodable_ = 0;
  GpuColumns merged_;
  GpuBatch batch_;
};

}  // namespace rlscope::trace

#endif  // RLSCOPE_TRACE_READ_CURSOR_H_
