// The notes of a process image besides records, as they stand in its page and arenas, written in
// chunks: the process itself, names, threads, metadata, clock pairs. Threads: one at a time. Libc
// only.
#ifndef RLSCOPE_TRACE_DRAIN_IMAGE_ENTRIES_H_
#define RLSCOPE_TRACE_DRAIN_IMAGE_ENTRIES_H_

#include <stdint.h>

#include "base/clock.h"
#include "trace/drain/arena_view.h"
#include "trace/drain/living_threads.h"
#include "trace/drain/source_files.h"
#include "trace/drain/state_samples.h"
#include "trace/layout/image_path.h"
#include "trace/layout/shared_pages.h"
#include "trace/write/chunks.h"
#include "trace/write/sink.h"

namespace rlscope::trace {

class ImageEntries {
 public:
  ImageEntries() = default;
  ~ImageEntries();
  ImageEntries(const ImageEntries&) = delete;
  ImageEntries& operator=(const ImageEntries&) = delete;

  // `page`, a mapping of `bytes`, and the others must outlive this. The path, and not the
  // page, says whose page it is. `has_clock`: the image's clock can be read here and now,
  // which is not so for a reader hours later or elsewhere.
  // `files`, if there are any, get those of the functions of call sites.
  void Open(const ProcessPage* page, uint64_t bytes, const ImagePath* path, ChunkBuffer* buffer,
            SourceFiles* files, bool has_clock);

  // The ProcessChunk and the first clock pair, once a file. False: the sink refused, here and
  // below.
  bool WriteHeader(Sink* sink);

  // The header is to be written again, for another file. Names and the like are not: a reader
  // joins all files of an image.
  void BeginNextFile() { began_ = false; }

  // All that was published and is not written. `look`: asks the file system for further arenas,
  // whatever the page says.
  bool WriteNew(Sink* sink, bool look);

  // Entries that must stand before records that were seen in a ring: whatever they may refer to,
  // and a clock pair that is newer than they are.
  bool WriteBeforeRecords(Sink* sink, bool look) {
    return WriteNew(sink, look) && WriteClockPair(sink);
  }

  LivingThreads* living() { return &living_; }
  StateSamples* states() { return &states_; }
  uint32_t files() const { return files_; }  // further arenas seen
  // Damage, counted.
  uint64_t unreadable_files() const { return unreadable_files_; }
  uint64_t damaged_bytes() const { return damaged_bytes_ + arena_.GivenUp(); }
  uint32_t tick_shift() const { return tick_shift_; }

 private:
  bool WriteClockPair(Sink* sink);
  bool WriteArena(Sink* sink);
  int MapArena(uint32_t number, void** address, uint64_t* bytes) const;
  bool NextFile(Sink* sink, bool look, bool* moved);

  const ProcessPage* page_ = nullptr;
  const ImagePath* path_ = nullptr;
  ChunkBuffer* buffer_ = nullptr;
  SourceFiles* files_of_sites_ = nullptr;
  base::ClockKind clock_ = base::ClockKind::kMonotonic;
  uint32_t tick_shift_ = 0;  // of the file (tick_unit.h)
  bool has_clock_ = false;
  bool began_ = false;  // the ProcessChunk is written

  LivingThreads living_;
  StateSamples states_;
  ArenaView arena_;          // the one that is being read
  void* mapping_ = nullptr;  // of a further file, null for the process page's own
  uint64_t mapping_bytes_ = 0;
  uint32_t files_ = 0;
  uint64_t unreadable_files_ = 0;
  uint64_t damaged_bytes_ = 0;
};

}  // namespace rlscope::trace

#endif  // RLSCOPE_TRACE_DRAIN_IMAGE_ENTRIES_H_
