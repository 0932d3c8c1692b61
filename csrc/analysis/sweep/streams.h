// All streams of a process, merged epoch by epoch.
#ifndef RLSCOPE_ANALYSIS_SWEEP_STREAMS_H_
#define RLSCOPE_ANALYSIS_SWEEP_STREAMS_H_

#include <stdint.h>

#include <memory>
#include <vector>

#include "analysis/gpu/gpu_states.h"
#include "analysis/gpu/gpu_union.h"
#include "analysis/keys/key.h"
#include "analysis/keys/merge_tree.h"
#include "analysis/process/source.h"
#include "analysis/threads/notes.h"
#include "analysis/threads/thread_states.h"

namespace rlscope::analysis {

class KeyConsumer {
 public:
  virtual ~KeyConsumer() = default;
  // Times of the keys from here on count from `start_ns`.
  virtual void BeginEpoch(int64_t start_ns) = 0;
  // The next keys in ascending order.
  virtual void Consume(const uint64_t* keys, size_t count) = 0;
};

// Numbers of the streams: key.h.
class Streams {
 public:
  // `context` must outlive the streams. Without `gpu` the GPU is never busy.
  Streams(const ThreadContext& context, bool gpu);

  const KeyLayout& layout() const { return layout_; }
  size_t size() const { return kFirstThreadStream + threads_.size(); }
  // The process's main thread (os_tid = os_pid), kNobody if it has no records.
  uint32_t main() const { return main_; }
  // The notes beside the keys of each stream, by number; nothing of the GPU.
  std::vector<OutermostNotes*> Notes();
  std::vector<CallNotes*> Calls();
  std::vector<CudaNotes*> CudaCalls();
  std::vector<RecordNotes*> Records();
  std::vector<ReasonNotes*> Reasons();
  // Numbers of the threads, by stream; 0 for the GPU.
  std::vector<uint32_t> Threads() const;

  // Gives all keys of the process to the consumer, those at its end included; then closes what is
  // open.
  void MergeInto(KeyConsumer* consumer);
  // Gives those before `until_ns`, and closes nothing.
  void MergeUntil(KeyConsumer* consumer, int64_t until_ns);

  // The states of the threads, after MergeUntil or before MergeInto.
  void Carry(trace::Archive* archive);
  const std::vector<std::unique_ptr<ThreadStates>>& threads() const { return threads_; }

 private:
  struct Leaf {
    uint64_t weight;
    StateStream* stream;
  };
  static std::vector<MergeTree::Leaf> BeginEpoch(const std::vector<Leaf>& leaves, int64_t start_ns,
                                                 int64_t end_ns);
  int64_t NextChange() const;
  void ShowReached(int64_t time_ns) const;
  void MergeEpoch(KeyConsumer* consumer, int64_t start_ns, int64_t end_ns);

  const ProcessInput& input_;
  const int64_t end_ns_;
  const KeyLayout layout_;
  const uint32_t main_;
  std::vector<std::unique_ptr<ThreadStates>> threads_;
  std::vector<Leaf> thread_leaves_;
  std::vector<std::unique_ptr<GpuStates>> gpu_;
  std::vector<Leaf> gpu_leaves_;
  GpuUnion gpu_union_;
  OutermostNotes no_notes_;
  CallNotes no_calls_;
  CudaNotes no_cuda_calls_;
  RecordNotes no_records_;
  ReasonNotes no_reasons_;
};

}  // namespace rlscope::analysis

#endif  // RLSCOPE_ANALYSIS_SWEEP_STREAMS_H_
