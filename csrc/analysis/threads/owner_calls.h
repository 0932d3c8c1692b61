// Native calls of threads that work for the thread that owns the process. A call belongs to the
// operation that the owner has open when the call begins; where several things happen at that time,
// after all of them (docs/reference/semantics-notes.md#native-calls-and-transitions).
#ifndef RLSCOPE_ANALYSIS_THREADS_OWNER_CALLS_H_
#define RLSCOPE_ANALYSIS_THREADS_OWNER_CALLS_H_

#include <stdint.h>

#include <utility>
#include <vector>

#include "analysis/archive/archived_streams.h"
#include "analysis/keys/operation_paths.h"
#include "analysis/threads/call_counts.h"
#include "analysis/threads/notes.h"

namespace rlscope::analysis {

class OwnerCalls {
 public:
  // `calls` and the threads' numbers by stream.
  OwnerCalls(CallCounts* counts, std::vector<CallNotes*> calls, std::vector<uint32_t> threads)
      : counts_(counts),
        calls_(std::move(calls)),
        threads_(std::move(threads)),
        open_(calls_.size()) {}

  // From `now` on, `path` owns the process. If several changes come at one time, the last one
  // counts.
  void SetPath(int64_t now, uint32_t path) {
    if (paths_.back().from_ns == now) paths_.pop_back();
    paths_.push_back({now, path});
  }

  // Everything before `now` has happened: counts the calls of that time.
  void Resolve(int64_t now) {
    for (size_t stream = 0; stream < calls_.size(); ++stream) ResolveStream(stream, now);
    paths_.erase(paths_.begin(), paths_.end() - 1);
  }

  // After Resolve: the calls that are open, and the owner's path.
  void Carry(trace::Archive* archive, const ArchivedStreams& streams, uint32_t paths) {
    streams.CarryEach(archive, [&](uint32_t stream) {
      open_[stream].resize(archive->Count(open_[stream].size()));
      for (uint32_t& path : open_[stream]) archive->Below(&path, paths);
    });
    archive->Time(&paths_.back().from_ns);
    archive->Below(&paths_.back().path, paths);
  }
  size_t open(size_t stream) const { return open_[stream].size(); }

 private:
  struct OwnerPath {
    int64_t from_ns;
    uint32_t path;
  };

  void ResolveStream(size_t stream, int64_t now) {
    CallNotes* const calls = calls_[stream];
    for (size_t at = 0; !calls->empty() && calls->front().time_ns < now; calls->Pop()) {
      const CallNote& note = calls->front();
      while (at + 1 < paths_.size() && paths_[at + 1].from_ns <= note.time_ns) ++at;
      ResolveOne(stream, note, paths_[at].path);
    }
    calls->Compact();
  }

  void ResolveOne(size_t stream, const CallNote& note, uint32_t path) {
    std::vector<uint32_t>* const open = &open_[stream];
    if (note.kind == CallNote::Kind::kBegan) {
      open->push_back(path);
      return;
    }
    int64_t start_ns = note.time_ns;
    if (note.kind == CallNote::Kind::kEnded) {
      start_ns -= note.duration_ns;
      path = open->back();
      open->pop_back();
    }
    counts_->AddCall(
        {threads_[stream], note.function, path, start_ns, note.duration_ns, note.self_ns});
  }

  CallCounts* const counts_;
  const std::vector<CallNotes*> calls_;
  const std::vector<uint32_t> threads_;
  std::vector<std::vector<uint32_t>> open_;  // by stream: paths of the calls that began
  // The owner's, from the last instant that was resolved on; never empty.
  std::vector<OwnerPath> paths_ = {{INT64_MIN, kNoPath}};
};

}  // namespace rlscope::analysis

#endif  // RLSCOPE_ANALYSIS_THREADS_OWNER_CALLS_H_
