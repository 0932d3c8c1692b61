// What a thread's keys cannot say: a queue beside them. A key with the note bit says that the queue
// of its stream holds something for the key's time.
#ifndef RLSCOPE_ANALYSIS_NOTES_H_
#define RLSCOPE_ANALYSIS_NOTES_H_

#include <stddef.h>
#include <stdint.h>

#include <vector>

namespace rlscope::analysis {

struct Note {
  enum class Kind : uint32_t {
    kOutermostBegan,  // another operation is outermost now; value = when it began
    // Native calls of a thread without an open operation, in order: their operation is the owner's.
    kCallBegan,  // function
    kCallEnded,  // value, self_ns of the innermost one that began
    kCall,       // a whole call: function, value, self_ns
  };
  int64_t time_ns;
  Kind kind;
  uint32_t function;
  int64_t value;  // of a call: its duration_ns
  int64_t self_ns;
};

// First in, first out. Bounded by the keys that are under way between a thread's stream and the
// root of the merge.
class NoteQueue {
 public:
  void Push(const Note& note) { notes_.push_back(note); }
  bool empty() const { return first_ == notes_.size(); }
  const Note& front() const { return notes_[first_]; }
  void Pop() {
    if (++first_ < notes_.size()) return;
    notes_.clear();
    first_ = 0;
  }
  void Clear() {
    notes_.clear();
    first_ = 0;
  }
  // Drops what was popped when that is most of it; called between blocks.
  void Compact() {
    if (first_ < 4096) return;
    notes_.erase(notes_.begin(), notes_.begin() + first_);
    first_ = 0;
  }

 private:
  std::vector<Note> notes_;
  size_t first_ = 0;
};

}  // namespace rlscope::analysis

#endif  // RLSCOPE_ANALYSIS_NOTES_H_
