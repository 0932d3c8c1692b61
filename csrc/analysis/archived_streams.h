// Streams in an archive: their numbers are another sweep's, so they are written as their threads.
#ifndef RLSCOPE_ANALYSIS_ARCHIVED_STREAMS_H_
#define RLSCOPE_ANALYSIS_ARCHIVED_STREAMS_H_

#include <stdint.h>

#include <utility>
#include <vector>

#include "analysis/key.h"
#include "trace/format/archive.h"

namespace rlscope::analysis {

class ArchivedStreams {
 public:
  // Numbers of the threads, by stream.
  explicit ArchivedStreams(std::vector<uint32_t> threads) : threads_(std::move(threads)) {}

  size_t size() const { return threads_.size(); }

  void Carry(trace::Archive* archive, uint32_t* stream) const {
    uint64_t name = *stream == kGpuStream ? 0 : uint64_t{threads_[*stream]} + 1;
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

}  // namespace rlscope::analysis

#endif  // RLSCOPE_ANALYSIS_ARCHIVED_STREAMS_H_
