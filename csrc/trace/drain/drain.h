// Turns the rings of one process image into chunks. One implementation for all drainers: the
// wrapper's process (drain_directory.h), the in-process helper (runtime/helper.h) and the reader,
// which salvages what a killed process or drainer left behind.
//
//   DrainScratch *scratch = NewDrainScratch();   // one for any number of images
//   DrainImage image(scratch);
//   if (image.Open(rings, "1234.567.89", DrainMode::kConsume) != 0) ...
//   image.Drain(sink, /*final=*/false);   // again and again
//   image.Drain(sink, /*final=*/true);    // the process is gone
//
// Order of frames: names, threads and metadata as they appear in the process page; before each
// CpuChunk a clock pair read after the newest record of it, so that every record lies between two
// pairs. A chunk is written at 4,096 items, a half-full ring, thread end or final; the tail of its
// ring moves after the write returned. Nothing that lies in a ring or page is trusted: positions
// and lengths are checked against the size of the mapping.
//
// Threads: one at a time. libc only.
#ifndef RLSCOPE_TRACE_DRAIN_DRAIN_H_
#define RLSCOPE_TRACE_DRAIN_DRAIN_H_

#include <stddef.h>
#include <stdint.h>

#include "trace/drain/drain_pass.h"
#include "trace/layout/image_path.h"
#include "trace/layout/shared_pages.h"

namespace rlscope::trace {

class Sink;

// Memory to build chunks in, a megabyte; one thread at a time. Null when there is none.
struct DrainScratch;
DrainScratch* NewDrainScratch();
void FreeDrainScratch(DrainScratch* scratch);

struct DrainStats {
  uint64_t events = 0;  // items written in chunks
  uint64_t chunks = 0;  // CpuChunks written
  uint64_t rings = 0;   // ring files seen
  uint64_t lost = 0;    // records the producers counted as lost
};

// How an image ended, for its EndChunk.
struct ImageEnd {
  int64_t end_ns = 0;         // CLOCK_MONOTONIC
  bool exited = false;        // an exit path was seen
  int64_t python_end_ns = 0;  // 0: take the process page's
};

class DrainImage {
 public:
  explicit DrainImage(DrainScratch* scratch);
  ~DrainImage();
  DrainImage(const DrainImage&) = delete;
  DrainImage& operator=(const DrainImage&) = delete;

  // Maps <rings>/<image>.process. 0, or an errno: ENOENT, EACCES, EINVAL (not such a page).
  int Open(const char* rings, const char* image, DrainMode mode);

  // From the name of its file. Valid after a successful Open().
  const ImageIdentity& identity() const;
  // Null before a successful Open(). Mapped memory that the producer may change at any time.
  const ProcessPage* page() const;

  // One pass: writes the ProcessChunk if this is the first, then names, threads, metadata and what
  // the rings hold. False: the sink refused a write (disk full); nothing that was not written is
  // lost, tails stay where they are.
  bool Drain(Sink* sink, bool final) {
    return Drain(sink, final ? DrainPass::kFinal : DrainPass::kDue);
  }
  bool Drain(Sink* sink, DrainPass pass);

  // The next pass writes to another file: first the ProcessChunk again.
  void BeginNextFile();

  // Asks the kernel about the threads of the process, which runs and whose pid is this machine's:
  // once a second is enough. What it said last is written with the end.
  void ReadThreads();

  // Asks the kernel which of them are awake, and reads where those of the interpreter are; the next
  // Drain() writes that. Of the same process.
  void SampleThreads();

  // The EndChunk with losses. After Drain(final). False as above.
  bool WriteEnd(Sink* sink, const ImageEnd& end);

  // Unlinks the process page, arenas and rings of the image.
  void RemoveFiles();

  const DrainStats& stats() const;
  // True when the last Drain() left a ring that it should have emptied: come back soon.
  bool busy() const;
  // The process said that it ended, or that its own helper drains it.
  bool closed() const;
  bool taken_over() const;

 private:
  struct State;
  State* state_;
};

}  // namespace rlscope::trace

#endif  // RLSCOPE_TRACE_DRAIN_DRAIN_H_
