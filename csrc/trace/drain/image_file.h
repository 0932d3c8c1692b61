// The trace file of one process image: DIR/trace/<host>.<pid>.<start_time>.<n>.rls, and its
// content. The drainer of a directory has one for each image, the in-process helper its own.
#ifndef RLSCOPE_TRACE_DRAIN_IMAGE_FILE_H_
#define RLSCOPE_TRACE_DRAIN_IMAGE_FILE_H_

#include <errno.h>
#include <stdint.h>

#include "trace/drain/drain.h"
#include "trace/write/sink.h"

namespace rlscope::trace {

class ImageFile {
 public:
  // `budget` of the run's files, null: no limit. Both must outlive this.
  explicit ImageFile(DrainScratch* scratch, ByteBudget* budget = nullptr)
      : image_(scratch), sink_(-1, budget) {}
  ~ImageFile();
  ImageFile(const ImageFile&) = delete;
  ImageFile& operator=(const ImageFile&) = delete;

  // Maps the image `name` of folder `rings`; its file will lie in <directory>/trace. `directory`
  // must outlive this. 0 or an errno, as DrainImage::Open().
  int Open(const char* directory, const char* rings, const char* name);

  // One pass; the file is created at the first. 0, or the errno for which it takes nothing more.
  int Drain(bool final);
  // Drains all that is there, and goes on in another file if there are chunks in this one. An errno
  // as above.
  int BeginNext();
  // The last pass, the EndChunk, and away with the rings. An errno as above; then the rings stay.
  int End(const ImageEnd& end);
  // Looks whether the file was removed: then it takes nothing more (ENOENT), for that would go
  // nowhere, and the reader finds the rest in the rings.
  void CheckRemoved();
  bool removed() const { return sink_.error() == ENOENT; }

  // Lets go of the descriptor until the next pass. A thread with another descriptor table must
  // call this before it hands the file to one with this table.
  void CloseDescriptor();

  DrainImage& image() { return image_; }
  uint64_t bytes() const { return sink_.bytes(); }

 private:
  int OpenDescriptor();
  int CreateFile();
  int Refusal();

  DrainImage image_;
  FileSink sink_;
  const char* directory_ = nullptr;
  char path_[4096 + 512] = "";
  int next_number_ = 0;
  uint64_t chunks_before_ = 0;  // in files that this one goes on,
  uint64_t bytes_before_ = 0;
};

}  // namespace rlscope::trace

#endif  // RLSCOPE_TRACE_DRAIN_IMAGE_FILE_H_
