#include "analysis/gpu/gpu_merge.h"

#include <algorithm>

namespace rlscope::analysis {

GpuMerge::GpuMerge(const std::vector<GpuInput>& inputs, const std::vector<uint32_t>& streams,
                   trace::Detail detail)
    : inputs_(inputs), detail_(detail), streams_(streams.size()) {
  for (size_t i = 0; i < streams.size(); ++i) {
    streams_[i].number = streams[i];
    Push({inputs[streams[i]].first_ns, &streams_[i]});
  }
}

bool GpuMerge::Next() {
  if (current_ != nullptr && Advance(current_)) {
    const Head head = HeadOf(current_);
    if (heads_.empty() || !head.IsLater(heads_.front())) return true;
    Push(head);
  }
  current_ = nullptr;
  while (current_ == nullptr && !heads_.empty()) {
    std::pop_heap(heads_.begin(), heads_.end(), IsLater);
    Stream* const stream = heads_.back().stream;
    heads_.pop_back();
    if (stream->opened) {
      current_ = stream;
    } else if (Open(stream)) {
      Push(HeadOf(stream));
    }
  }
  return current_ != nullptr;
}

bool GpuMerge::Open(Stream* stream) {
  stream->opened = true;
  stream->source = inputs_[stream->number].open(detail_);
  return Load(stream);
}

// False: the stream has ended.
bool GpuMerge::Load(Stream* stream) {
  stream->index = 0;
  do {
    stream->batch = stream->source->Next();
  } while (stream->batch != nullptr && stream->batch->count == 0);
  if (stream->batch == nullptr) stream->source.reset();
  return stream->batch != nullptr;
}

bool GpuMerge::Advance(Stream* stream) {
  return ++stream->index < stream->batch->count || Load(stream);
}

void GpuMerge::Push(const Head& head) {
  heads_.push_back(head);
  std::push_heap(heads_.begin(), heads_.end(), IsLater);
}

}  // namespace rlscope::analysis
