// Follows the owner of a process, and gives each CUDA call the operation that it was made in
// (docs/reference/semantics-notes.md#cuda-calls-and-gpu-work).
//
// A call belongs to the innermost operation that its thread has open. A thread without one works
// for the thread that owns the process, unless it is the main thread: its calls belong to the
// operation that the owner has open. If several things happen at one time, the state after all of
// them counts.
#ifndef RLSCOPE_ANALYSIS_CUDA_CUDA_FOLLOWER_H_
#define RLSCOPE_ANALYSIS_CUDA_CUDA_FOLLOWER_H_

#include <stddef.h>
#include <stdint.h>

#include <vector>

#include "analysis/keys/key.h"
#include "analysis/process/process_state.h"
#include "analysis/sweep/streams.h"
#include "analysis/threads/notes.h"
#include "analysis/threads/owner_calls.h"

namespace rlscope::analysis {

struct CudaCall {
  uint32_t stream;  // of its thread
  int64_t start_ns;
  int64_t end_ns;
  uint32_t name;
  uint32_t path;
  uint32_t status;
  int64_t correlation;
  uint32_t site;  // node of its stack; 0: not known
};

class CudaCallSink {
 public:
  virtual ~CudaCallSink() = default;
  // `path` owned the process up to `until_ns`, since the call before; from then on, `next` does.
  virtual void ChangeOwner(uint32_t path, int64_t until_ns, uint32_t next) = 0;
  // Everything before `now_ns` was given.
  virtual void AdvanceTo(int64_t now_ns) = 0;
  // Calls of one thread come in order of start.
  virtual void AddCall(const CudaCall& call) = 0;
};

class CudaFollower : public KeyConsumer {
 public:
  // The streams have CUDA notes.
  CudaFollower(Streams* streams, CudaCallSink* sink);

  void BeginEpoch(int64_t epoch_start_ns) override { epoch_start_ns_ = epoch_start_ns; }
  void Consume(const uint64_t* keys, size_t count) override;
  // All keys were consumed; the process ends at `end_ns`.
  void Finish(int64_t end_ns);

  // After CarryThreads(): takes who owned the process before the part that follows.
  void GoOn(trace::Archive* archive, const Streams& streams, uint32_t paths, OwnerCalls* calls);

 private:
  void ChangeOwner(uint32_t stream);
  void Settle();
  void TakeCalls(uint32_t stream);

  const KeyLayout layout_;
  const std::vector<OutermostNotes*> notes_;
  const std::vector<CudaNotes*> calls_;
  CudaCallSink* const sink_;
  ThreadTable table_;
  ProcessInstant instant_;
  std::vector<CudaCall> open_;     // by stream
  std::vector<uint32_t> touched_;  // streams with notes of this instant
  int64_t epoch_start_ns_ = 0;
  int64_t now_ns_ = INT64_MIN;
  uint32_t path_ = kNoPath;  // the owner's before this instant
};

}  // namespace rlscope::analysis

#endif  // RLSCOPE_ANALYSIS_CUDA_CUDA_FOLLOWER_H_
