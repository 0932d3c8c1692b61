// Drains every process of a run from one process, usually the wrapper's: discovers images, writes
// DIR/trace/<host>.<pid>.<start_time>.<n>.rls for each, keeps the heartbeat, watches free space,
// closes the files of processes that are gone and removes their rings.
//
//   DrainDirectory drainer;
//   if (int error = drainer.Start(directory, rings, options)) ...   // starts its thread
//   drainer.SetRecording(true);
//   drainer.Stop();                                                 // after the program ended
//
// Threads: Start and Stop from one thread; the rest from any. libc only (pthread_create is weak).
#ifndef RLSCOPE_TRACE_DRAIN_DRAIN_DIRECTORY_H_
#define RLSCOPE_TRACE_DRAIN_DRAIN_DIRECTORY_H_

#include <stdint.h>

#include "trace/drain/control_page.h"
#include "trace/drain/drain.h"

namespace rlscope::trace {

struct DirectoryStats {
  DrainStats drain;
  uint64_t bytes = 0;       // written to trace files
  uint64_t removed = 0;     // events written to files that were then removed
  int64_t cpu_ns = 0;       // CPU time of the drainer's thread
  uint32_t cut = 0;         // why recording was cut short (control_page.h); 0: it was not
  int64_t cut_ns = 0;       // CLOCK_MONOTONIC of the cut
  int64_t flushed_ns = 0;   // what was recorded before is in files (BeginNextFiles)
  uint32_t helped = 0;      // images that drain themselves, of which that is not so
  uint64_t gone_pages = 0;  // of rings and pages whose files were cut short (base/page_guard.h)
  // Stores into a page beside the rings that waited longer than kLongStoreNs: what a record may
  // meet there. The drainer makes four or more a second.
  uint64_t stalls = 0;
  int64_t longest_stall_ns = 0;
};

class DrainDirectory {
 public:
  DrainDirectory();
  ~DrainDirectory();  // stops
  DrainDirectory(const DrainDirectory&) = delete;
  DrainDirectory& operator=(const DrainDirectory&) = delete;

  // Creates DIR/rings, DIR/trace and the control page, and starts the thread. `rings`: folder for
  // the rings, null or empty: DIR/rings, or /dev/shm when DIR is on a network file system or on a
  // disk that makes records wait (ring_disk.h).
  // Returns 0 or an errno; EEXIST when the directory holds a run already.
  int Start(const char* directory, const char* rings, const DrainOptions& options);

  // Drains what is left, ends the files of processes that are gone, names no drainer any more (so
  // processes that go on help themselves) and joins the thread. Idempotent.
  void Stop();

  // The wrapper's time windows; all processes follow at their next record.
  void SetRecording(bool on);

  // The program ends at its next iteration, as after DrainOptions::exit_after of them.
  void EndProgram();

  // Soon writes all that is recorded by then, and goes on in other files: those so far are closed.
  // stats() says when it has.
  void BeginNextFiles();

  // Bytes of the run that were set aside, beside the files that are counted; they count as well.
  void SetKeptBytes(uint64_t bytes);

  // Files of functions that threads were found in, each once, with a NUL at its end; as many as
  // fit. Returns their bytes.
  size_t TakeSourceFiles(char* names, size_t bytes);

  // Calls visit(context, pid, name) for every process of the run that still runs.
  void VisitAlive(void (*visit)(void* context, uint32_t pid, const char* name), void* context);

  DirectoryStats stats() const;

 private:
  struct State;
  State* state_;
};

}  // namespace rlscope::trace

#endif  // RLSCOPE_TRACE_DRAIN_DRAIN_DIRECTORY_H_
