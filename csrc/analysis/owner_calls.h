// Native calls of threads that work for the owner: their operation is the owner's in the state that
// holds once everything of the instant has happened (semantics.md, rule 10).
#ifndef RLSCOPE_ANALYSIS_OWNER_CALLS_H_
#define RLSCOPE_ANALYSIS_OWNER_CALLS_H_

#include <stdint.h>

#include <utility>
#include <vector>

#include "analysis/call_counts.h"
#include "analysis/notes.h"
#include "analysis/operation_paths.h"

namespace rlscope::analysis {

class OwnerCalls {
 public:
  // `calls` by stream.
  OwnerCalls(CallCounts* counts, std::vector<CallNotes*> calls)
      : counts_(counts), calls_(std::move(calls)), open_(calls_.size()) {}

  // From `now` on `path` owns the process; of changes at one time the last one counts.
  void SetPath(int64_t now, uint32_t path) {
    if (paths_.back().from_ns == now) paths_.pop_back();
    paths_.push_back({now, path});
  }

  // Everything before `now` has happened: counts the calls of that time.
  void Resolve(int64_t now) {
    for (size_t stream = 0; stream < calls_.size(); ++stream) ResolveStream(stream, now);
    paths_.erase(paths_.begin(), paths_.end() - 1);
  }

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
      ResolveOne(&open_[stream], note, paths_[at].path);
    }
    calls->Compact();
  }

  void ResolveOne(std::vector<uint32_t>* open, const CallNote& note, uint32_t path) {
    if (note.kind == CallNote::Kind::kBegan) {
      open->push_back(path);
    } else if (note.kind == CallNote::Kind::kWhole) {
      counts_->AddCall(note.function, path, note.duration_ns, note.self_ns);
    } else {
      counts_->AddCall(note.function, open->back(), note.duration_ns, note.self_ns);
      open->pop_back();
    }
  }

  CallCounts* const counts_;
  const std::vector<CallNotes*> calls_;
  std::vector<std::vector<uint32_t>> open_;  // by stream: paths of the calls that began
  // The owner's, from the last instant that was resolved on; never empty.
  std::vector<OwnerPath> paths_ = {{INT64_MIN, kNoPath}};
};

}  // namespace rlscope::analysis

#endif  // RLSCOPE_ANALYSIS_OWNER_CALLS_H_
