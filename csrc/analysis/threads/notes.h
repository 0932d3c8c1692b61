// Notes of a thread, for which its keys have no room: queues, each in the order of its times.
#ifndef RLSCOPE_ANALYSIS_THREADS_NOTES_H_
#define RLSCOPE_ANALYSIS_THREADS_NOTES_H_

#include <stddef.h>
#include <stdint.h>

#include "analysis/spill/spill_vector.h"
#include "analysis/threads/reasons.h"
#include "analysis/threads/record_kinds.h"

namespace rlscope::analysis {

// Another operation is outermost now. A key with the note bit says that the queue of its stream
// holds one for the key's time.
struct OutermostNote {
  int64_t time_ns;
  int64_t begin_ns;  // when it began
  uint32_t path;
};

// Native calls of a thread without an open operation that is not the main one: their operation is
// the owner's (owner_calls.h). Keys say nothing of them.
struct CallNote {
  enum class Kind : uint32_t {
    kBegan,
    kEnded,  // the innermost one that began
    kWhole,  // began and will end; time_ns = when it began
  };
  int64_t time_ns;
  Kind kind;
  uint32_t function;
  int64_t duration_ns;  // not of kBegan
  int64_t self_ns;
};

// A CUDA call that began, or the end of the one that did: a thread has one at a time. Kept only
// where CUDA calls are separated (cuda_follower.h); the key of a begin has the note bit then.
struct CudaNote {
  int64_t time_ns;
  bool begins;
  // Only where it begins:
  uint32_t name;
  uint32_t path;  // of the thread
  uint32_t status;
  int64_t correlation;
  uint32_t site;
};

// A record was made. Part of its cost lies in the thread's state inside the interval that it
// describes, and part in the state outside (bookkeeping.h). Kept only where bookkeeping is counted.
// Keys say nothing of them.
struct RecordNote {
  int64_t time_ns;
  uint32_t inside;   // states: path and layer
  uint32_t outside;  //
  uint32_t count;    // of records
  RecordKind kind;
  bool leaves = false;  // an operation: counts in the state of the process before its time
};

// The thread is in something else, of the same layer or another one. A key with the note bit says
// so. Kept only where time is divided by reasons (idle_times.h).
struct ReasonNote {
  int64_t time_ns;
  Reason reason;  // kNone: what its layer says
};

// First in, first out. There are as many as keys are under way between a thread's stream and the
// root of the merge. But one key stands for everything that a thread does at one instant, and may
// have any number of notes: then they go to a file.
template <class Note>
class NoteQueue {
 public:
  void Push(const Note& note) { notes_.push_back(note); }
  size_t size() const { return notes_.size() - first_; }
  bool empty() const { return first_ == notes_.size(); }
  const Note& front() const { return notes_[first_]; }
  void Pop() {
    if (++first_ == notes_.size()) Clear();
  }
  void Clear() {
    notes_.RemoveFirst(notes_.size());
    first_ = 0;
  }
  // Drops what was popped when that is most of it; called between blocks.
  void Compact() {
    if (first_ < 4096) return;
    notes_.RemoveFirst(first_);
    first_ = 0;
  }

 private:
  SpillVector<Note> notes_;
  size_t first_ = 0;
};

using OutermostNotes = NoteQueue<OutermostNote>;
using CallNotes = NoteQueue<CallNote>;
using CudaNotes = NoteQueue<CudaNote>;
using RecordNotes = NoteQueue<RecordNote>;
using ReasonNotes = NoteQueue<ReasonNote>;

}  // namespace rlscope::analysis

#endif  // RLSCOPE_ANALYSIS_THREADS_NOTES_H_
