// The rings of a process image, turned into chunks: each thread's in order, whatever rings it went
// through. Threads: one at a time. Libc only.
#ifndef RLSCOPE_TRACE_DRAIN_IMAGE_RINGS_H_
#define RLSCOPE_TRACE_DRAIN_IMAGE_RINGS_H_

#include <stdint.h>

#include "trace/drain/drain_pass.h"
#include "trace/drain/drain_scratch.h"
#include "trace/drain/image_entries.h"
#include "trace/drain/ring_view.h"
#include "trace/drain/thread_streams.h"
#include "trace/write/window_changes.h"

namespace rlscope::trace {

class ImageRings {
 public:
  ImageRings() = default;
  ~ImageRings();
  ImageRings(const ImageRings&) = delete;
  ImageRings& operator=(const ImageRings&) = delete;

  // All must outlive this.
  void Open(ProcessPage* page, const ImagePath* path, DrainMode mode, DrainScratch* scratch,
            ImageEntries* entries);

  // Maps rings that are new. `look`: asks the file system, whatever the page says, and passes over
  // files that cannot be read.
  void Discover(bool look);

  // One pass over all rings. False: the sink refused a write; what was not written stays.
  bool Drain(Sink* sink, DrainPass pass);

  uint32_t count() const { return count_; }
  uint64_t events() const { return events_; }  // items written
  uint64_t chunks() const { return chunks_; }
  // Records whose ticks ran backwards. A drainer counts them in the process page instead, so that
  // the drainer that goes on after it still knows them.
  uint64_t clamped() const { return clamped_; }
  // Damage, counted: files that are no rings; rings whose files were removed, cut short or damaged
  // while they were read; and records that are none or cannot be reached. Those that lie between
  // chunks the reader counts itself.
  uint64_t unreadable_files() const { return unreadable_files_; }
  uint64_t damaged() const { return damaged_; }
  uint64_t missing_records() const { return missing_records_; }
  // The last pass did not finish: a ring could not be emptied in its turn.
  bool busy() const { return busy_; }

 private:
  struct Source {
    RingView view;
    ThreadStreams::Stream* stream;  // null: no thread yet; of CUDA rings always
    uint64_t begin;                 // where this drainer found it
    uint64_t position;              // all below is written
    uint64_t limit;                 // of the last pass: where no record can lie
    uint64_t open_wait;             // begin of the wait that the last DrainPass::kAll found open
    bool told_open_wait;            // it is in a chunk
    bool damaged;                   // nothing is read from it any more
  };
  // A piece of a ring that makes one chunk: records of one thread.
  struct Segment {
    uint64_t end;  // position after it
    uint32_t items;
    bool thread_ended;
    bool ring_ended;
    bool stopped;  // ends before a kThreadBegin, or where another drainer ended it
  };

  bool consumes() const { return mode_ == DrainMode::kConsume; }
  int Map(uint32_t number, Source** ring) const;
  bool Add(Source* ring);
  bool HasPage() const;
  void NoteDamage(Source* ring);
  bool IsIntact() const;
  bool DrainRing(Source* ring, Sink* sink, DrainPass pass, bool force, bool* moved);
  bool WriteDue(Source* ring, Sink* sink, DrainPass pass, bool force, bool* moved);
  bool MustWait(const Source& ring);
  bool Attach(Source* ring, bool force);
  bool FollowThread(Source* ring);
  static uint64_t LimitOf(const Source& ring);
  void PassOverDamage(Source* ring);
  Segment FindSegment(const Source& ring) const;
  bool IsDue(const Source& ring, const Segment& segment, DrainPass pass) const;
  bool WriteSegment(Source* ring, const Segment& segment, Sink* sink);
  bool WriteItems(Source* ring, uint64_t end, Sink* sink);
  bool WriteIntervals(Source* ring, uint64_t end, Sink* sink);
  template <typename Encoder, typename BeginChunk, typename FinishChunk>
  bool WriteChunks(Source* ring, uint64_t end, Encoder* encoder, BeginChunk begin,
                   FinishChunk finish);
  bool TellOpenWait(Source* ring, Sink* sink);
  bool EndOnOpenWait(Source* ring, Sink* sink);
  bool WriteOpenWait(Source* ring, const Slot& begin, bool ahead, Sink* sink);
  bool HasMoved(const Source& ring) const;
  void MoveTo(Source* ring, uint64_t position);
  void CountClamped(uint64_t count);
  void Finish(Source* ring, const Segment& segment);

  ProcessPage* page_ = nullptr;
  const ImagePath* path_ = nullptr;
  DrainMode mode_ = DrainMode::kSalvage;
  DrainScratch* scratch_ = nullptr;
  ImageEntries* entries_ = nullptr;

  Source** rings_ = nullptr;  // by number less 1; null: unreadable
  uint32_t count_ = 0, capacity_ = 0;
  ThreadStreams streams_;
  WindowChanges changes_;
  uint64_t events_ = 0;
  uint64_t chunks_ = 0;
  uint64_t clamped_ = 0;
  uint64_t unreadable_files_ = 0;
  uint64_t damaged_ = 0;
  uint64_t replaced_ = 0;  // base::PagesReplaced() when the turn of a ring began
  uint64_t missing_records_ = 0;
  bool busy_ = false;
};

}  // namespace rlscope::trace

#endif  // RLSCOPE_TRACE_DRAIN_IMAGE_RINGS_H_
