// The images of a run that one drainer has open: found by their pages among the rings, drained into
// a file each, closed when their process is gone. libc only. One thread at a time.
#ifndef RLSCOPE_TRACE_DRAIN_DRAINED_IMAGES_H_
#define RLSCOPE_TRACE_DRAIN_DRAINED_IMAGES_H_

#include <stdint.h>

#include "trace/drain/drain.h"
#include "trace/drain/drain_scratch.h"
#include "trace/drain/image_file.h"
#include "trace/drain/process_log_view.h"

namespace rlscope::trace {

class DrainedImages {
 public:
  // Both folders must live as long as this, and may be filled in before the first Discover.
  DrainedImages(const char* directory, const char* rings)
      : directory_(directory), rings_(rings), log_(directory) {}
  ~DrainedImages();
  DrainedImages(const DrainedImages&) = delete;
  DrainedImages& operator=(const DrainedImages&) = delete;

  // Before Discover; must live until CloseAll. `budget` of all files, null: no limit.
  void Use(DrainScratch* scratch, ByteBudget* budget);

  void Discover();
  uint32_t count() const { return count_; }

  // 0, or the errno for which its file takes nothing more; the image is left to others from then
  // on.
  int Drain(uint32_t index, bool final);
  // Drains all that an image has recorded, and goes on in another file (ImageFile::BeginNext).
  int BeginNext(uint32_t index);
  // Images that drain themselves, or did.
  uint32_t helped() const { return helped_; }
  // Asks the kernel which threads are awake, of every image whose process can be seen from here.
  void SampleThreads();
  // Ends the files of images whose process is gone; `all`: also of those that did not say so.
  // 0, or the errno of a file that took nothing more.
  int CloseGone(bool all);
  // Looks which files were removed; they take nothing more.
  void CheckRemoved();
  // Leaves those that live on to help themselves.
  void CloseAll();

  bool AnyBusy() const;
  // Adds what was written of all images, closed ones too, and the events that were written to files
  // that were then removed.
  void AddTo(DrainStats* sum, uint64_t* bytes, uint64_t* removed) const;

 private:
  struct Entry;

  bool IsOurs(Entry* entry);
  bool Knows(const char* image) const;
  bool MakeRoom();
  void Adopt(const char* image);
  bool IsVisible(const LoggedImage* logged) const;
  bool CanSample(Entry* entry, bool* refreshed);
  bool FindEnd(Entry* entry, const LoggedImage* logged, ImageEnd* end);
  int EndHelped(const Entry& entry, const ImageEnd& end);
  void Close(uint32_t index);

  const char* directory_;
  const char* rings_;
  DrainScratch* scratch_ = nullptr;
  ByteBudget* budget_ = nullptr;
  ProcessLogView log_;
  uint64_t own_namespace_ = 0;
  Entry** entries_ = nullptr;
  uint32_t count_ = 0, capacity_ = 0;
  uint32_t helped_ = 0;
  DrainStats ended_;  // of images that are closed
  uint64_t ended_bytes_ = 0;
};

}  // namespace rlscope::trace

#endif  // RLSCOPE_TRACE_DRAIN_DRAINED_IMAGES_H_
