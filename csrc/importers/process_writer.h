// Sorted rows of one process -> its trace file: the last step of every importer.
#ifndef RLSCOPE_IMPORTERS_PROCESS_WRITER_H_
#define RLSCOPE_IMPORTERS_PROCESS_WRITER_H_

#include <stdint.h>

#include <set>
#include <string>
#include <tuple>
#include <vector>

#include "importers/name_table.h"
#include "importers/row_sorter.h"
#include "importers/rows.h"
#include "importers/trace_file.h"

namespace rlscope::importers {

struct ImportedThread {
  bool has_rows = false;  // else it is left out
  uint32_t os_tid = 0;    // 0: not known
  std::string name;
  bool is_python = false;
};

struct ImportedStream {
  uint32_t device = 0;
  uint32_t context = 0;
  uint32_t stream = 0;
  bool operator<(const ImportedStream& other) const {
    return std::tie(device, context, stream) < std::tie(other.device, other.context, other.stream);
  }
};

// Rows of threads, as items of the trace format: what begins and ends inside of each other.
class ThreadItems {
 public:
  // Both outlive it; `shift_ns` is added to every time.
  ThreadItems(TraceFile* file, int64_t shift_ns) : file_(file), shift_ns_(shift_ns) {}

  // In order of ThreadRow, one thread after the other.
  void Add(const ThreadRow& row);
  void Finish() { EndThread(); }

  // Operations, calls and functions of Python deeper than their stack is followed.
  uint64_t too_deep() const { return too_deep_; }

  // As many as a chunk can say are open.
  static constexpr size_t kMostOperations = 512;
  // Calls and callbacks that hold others. A file of a stranger may nest millions.
  static constexpr size_t kMostCalls = 16'384;

 private:
  struct OpenCall {
    int64_t end_ns;
    uint64_t order;
    bool is_callback;
  };
  // The one that ends next comes first; of two that end together, the one that began last.
  struct OpenOperation {
    int64_t end_ns;
    uint64_t order;
    uint32_t name;
    bool operator<(const OpenOperation& other) const {
      return std::tie(end_ns, other.order) < std::tie(other.end_ns, order);
    }
  };
  void BeginThread(uint32_t thread);
  void EndThread();
  void EndUntil(int64_t time_ns);
  void BeginPending(int64_t next_ns);
  void Put(uint32_t kind, int64_t time_ns, uint32_t id, int64_t duration_ns = 0);
  void AddOperation(const ThreadRow& row);
  void AddCall(const ThreadRow& row);
  void AddPython(const ThreadRow& row);
  void EndCall(int64_t time_ns);
  void AddCudaCall(const ThreadRow& row);
  void MoveTo(int64_t start_ns, ThreadRow* row);
  void PutCudaCalls();

  TraceFile* const file_;
  const int64_t shift_ns_;
  bool in_thread_ = false;
  uint32_t thread_ = 0;
  uint64_t order_ = 0;              // of what was begun
  int64_t reached_ns_ = INT64_MIN;  // the latest start of a call
  std::vector<OpenCall> calls_;
  std::set<OpenOperation> operations_;
  bool has_pending_ = false;
  ThreadRow pending_ = {};  // a call of which it is not known yet whether it holds others
  std::vector<trace::CudaCall> cuda_calls_;
  uint64_t too_deep_ = 0;
};

// Everything of one process but its metadata.
class ProcessWriter {
 public:
  // All outlive it.
  ProcessWriter(TraceFile* file, int64_t shift_ns) : file_(file), shift_ns_(shift_ns) {}

  void WriteNames(const NameTable& names);
  // Numbers of threads are their places in the list.
  void WriteThreads(const std::vector<ImportedThread>& threads, RowMerge<ThreadRow>* rows);
  void WriteGpu(const std::vector<ImportedStream>& streams, RowMerge<GpuRow>* rows);

  uint64_t too_deep() const { return too_deep_; }

 private:
  TraceFile* const file_;
  const int64_t shift_ns_;
  uint64_t too_deep_ = 0;
};

}  // namespace rlscope::importers

#endif  // RLSCOPE_IMPORTERS_PROCESS_WRITER_H_
