// Streams in an archive, and their states. The numbers of streams are another sweep's, so they are
// written as their threads.
#ifndef RLSCOPE_ANALYSIS_ARCHIVE_ARCHIVED_STREAMS_H_
#define RLSCOPE_ANALYSIS_ARCHIVE_ARCHIVED_STREAMS_H_

#include <stdint.h>

#include <utility>
#include <vector>

#include "analysis/keys/key.h"
#include "trace/format/archive.h"

namespace rlscope::analysis {

class ArchivedStreams {
 public:
  // Numbers of the threads, by stream.
  explicit ArchivedStreams(std::vector<uint32_t> threads) : threads_(std::move(threads)) {}

  size_t size() const { return threads_.size(); }

  // carry(stream) for each of them.
  template <class CarryOne>
  void CarryEach(trace::Archive* archive, CarryOne carry) const {
    const size_t count = archive->Count(size());
    for (uint32_t i = 0; i < count; ++i) {
      uint32_t stream = i;
      Carry(archive, &stream);
      if (!archive->ok()) return;
      carry(stream);
    }
  }

  void Carry(trace::Archive* archive, uint32_t* stream) const {
    const bool is_thread = !archive->reads() && *stream != kGpuStream;
    uint64_t name = is_thread ? uint64_t{threads_[*stream]} + 1 : 0;
    archive->Number(&name);
    if (!archive->reads()) return;
    *stream = kGpuStream;
    if (name == 0) return;
    for (uint32_t i = kFirstThreadStream; i < threads_.size(); ++i) {
      if (uint64_t{threads_[i]} + 1 == name) *stream = i;
    }
    if (*stream == kGpuStream) archive->Fail();
  }

 private:
  const std::vector<uint32_t> threads_;
};

// `paths`: how many there are.
inline void CarryState(trace::Archive* archive, uint32_t paths, uint32_t* state) {
  uint32_t path = PathOf(*state), field = FieldOf(*state);
  archive->Below(&path, paths);
  archive->Below(&field, kFieldMask + 1);
  *state = MakeState(path, field);
}

}  // namespace rlscope::analysis

#endif  // RLSCOPE_ANALYSIS_ARCHIVE_ARCHIVED_STREAMS_H_
