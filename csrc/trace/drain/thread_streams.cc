#include "trace/drain/thread_streams.h"

#include <string.h>

namespace rlscope::trace {
namespace {

constexpr uint32_t kMaxStreams = 65536;

}  // namespace

ThreadStreams::~ThreadStreams() {
  for (uint32_t i = 0; i < count_; i++) free(streams_[i]);
  free(streams_);
}

ThreadStreams::Stream* ThreadStreams::Find(uint32_t thread) {
  for (uint32_t i = count_; i > 0; i--) {
    if (streams_[i - 1]->thread.thread == thread) return streams_[i - 1];
  }
  // An ended thread's place is taken first: 10,000 short threads need as many as ran at a time.
  for (uint32_t i = 0; i < count_; i++) {
    if (!streams_[i]->ended) continue;
    memset(static_cast<void*>(streams_[i]), 0, sizeof(Stream));
    streams_[i]->thread.thread = thread;
    return streams_[i];
  }
  if (count_ == kMaxStreams || !Grow(&streams_, count_, &capacity_)) return nullptr;
  auto* stream = static_cast<Stream*>(calloc(1, sizeof(Stream)));
  if (stream == nullptr) return nullptr;
  stream->thread.thread = thread;
  streams_[count_++] = stream;
  return stream;
}

}  // namespace rlscope::trace
