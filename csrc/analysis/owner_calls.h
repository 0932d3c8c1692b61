// Native calls of threads without an open operation: their operation is that of the process's owner
// in the state that holds once everything of the instant has happened (semantics.md, rule 10).
#ifndef RLSCOPE_ANALYSIS_OWNER_CALLS_H_
#define RLSCOPE_ANALYSIS_OWNER_CALLS_H_

#include <stdint.h>

#include <utility>
#include <vector>

#include "analysis/call_counts.h"
#include "analysis/notes.h"

namespace rlscope::analysis {

class OwnerCalls {
 public:
  OwnerCalls(CallCounts* counts, size_t threads) : counts_(counts), open_(threads) {}

  // A note of this instant, in the order of its thread.
  void Add(uint32_t stream, const Note& note) { pending_.emplace_back(stream, note); }
  bool pending() const { return !pending_.empty(); }

  // The instant is over; `path` owned the process at its end.
  void Resolve(uint32_t path) {
    for (const auto& [stream, note] : pending_) ResolveOne(&open_[stream], note, path);
    pending_.clear();
  }

 private:
  void ResolveOne(std::vector<uint32_t>* open, const Note& note, uint32_t path) {
    if (note.kind == Note::Kind::kCallBegan) {
      open->push_back(path);
    } else if (note.kind == Note::Kind::kCall) {
      counts_->AddCall(note.function, path, note.value, note.self_ns);
    } else {
      counts_->AddCall(note.function, open->back(), note.value, note.self_ns);
      open->pop_back();
    }
  }

  CallCounts* const counts_;
  std::vector<std::vector<uint32_t>> open_;  // by stream: paths of the calls that began
  std::vector<std::pair<uint32_t, Note>> pending_;
};

}  // namespace rlscope::analysis

#endif  // RLSCOPE_ANALYSIS_OWNER_CALLS_H_
