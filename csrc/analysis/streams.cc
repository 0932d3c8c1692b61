#include "analysis/streams.h"

#include <algorithm>

#include "analysis/merge_tree.h"
#include "analysis/process_state.h"

namespace rlscope::analysis {
namespace {

// The first such thread, if the kernel used the number again.
uint32_t FindMain(const ProcessInput& input) {
  for (uint32_t i = 0; i < input.threads.size(); ++i) {
    if (input.threads[i].os_tid == input.main_os_tid) return i;
  }
  return kNobody;
}

}  // namespace

Streams::Streams(const ThreadContext& context, bool gpu)
    : end_ns_(context.history->end_ns()),
      layout_(context.input->threads.size() + context.input->gpu.size()),
      main_(FindMain(*context.input)) {
  uint32_t stream = 0;
  for (const ThreadInput& thread : context.input->threads) {
    threads_.push_back(
        std::make_unique<ThreadStates>(context, thread, stream == main_, stream, layout_));
    leaves_.emplace_back(thread.weight, threads_.back().get());
    ++stream;
  }
  if (!gpu) return;
  for (const GpuInput& queue : context.input->gpu) {
    gpu_.push_back(
        std::make_unique<GpuStates>(*context.history, queue, context.losses, stream++, layout_));
    leaves_.emplace_back(queue.weight, gpu_.back().get());
  }
}

std::vector<NoteQueue*> Streams::Notes() const {
  std::vector<NoteQueue*> notes;
  for (const auto& thread : threads_) notes.push_back(thread->notes());
  return notes;
}

void Streams::MergeInto(KeyConsumer* consumer) {
  for (int64_t start_ns = NextChange(); start_ns <= end_ns_; start_ns = NextChange()) {
    const int64_t length_ns = std::min(end_ns_ - start_ns + 1, layout_.epoch_ns());
    MergeEpoch(consumer, start_ns, start_ns + length_ns);
  }
  for (const auto& thread : threads_) thread->Finish();
}

// Epochs without changes are skipped.
int64_t Streams::NextChange() const {
  int64_t next_ns = kNever;
  for (const auto& [weight, stream] : leaves_) next_ns = std::min(next_ns, stream->NextChange());
  return next_ns;
}

// Only the streams that change in the epoch take part: of a thousand short-lived threads, few at a
// time hold buffers.
void Streams::MergeEpoch(KeyConsumer* consumer, int64_t start_ns, int64_t end_ns) {
  std::vector<MergeTree::Leaf> leaves;
  std::vector<StateStream*> active;
  for (const auto& [weight, stream] : leaves_) {
    if (stream->NextChange() >= end_ns) continue;
    stream->BeginEpoch(start_ns, end_ns);
    leaves.push_back({weight, stream});
    active.push_back(stream);
  }
  MergeTree tree(leaves);
  consumer->BeginEpoch(start_ns);
  while (tree.root()->Refill()) consumer->Consume(tree.root()->keys(), tree.root()->size());
  for (StateStream* stream : active) stream->ReleaseBuffer();
}

}  // namespace rlscope::analysis
