#include "analysis/sweep/streams.h"

#include <algorithm>

#include "analysis/archive/archived_streams.h"
#include "analysis/process/process_state.h"

namespace rlscope::analysis {
namespace {

// The first such thread, if the kernel used the number again.
uint32_t FindMain(const ProcessInput& input) {
  for (uint32_t i = 0; i < input.threads.size(); ++i) {
    if (input.threads[i].os_tid == input.main_os_tid) return kFirstThreadStream + i;
  }
  return kNobody;
}

uint64_t WeightOf(const std::vector<MergeTree::Leaf>& leaves) {
  uint64_t weight = 0;
  for (const MergeTree::Leaf& leaf : leaves) weight += leaf.weight;
  return weight;
}

}  // namespace

Streams::Streams(const ThreadContext& context, bool gpu)
    : input_(*context.input),
      end_ns_(context.history->end_ns()),
      layout_(kFirstThreadStream + context.input->threads.size()),
      main_(FindMain(*context.input)) {
  uint32_t stream = kFirstThreadStream;
  for (const ThreadInput& thread : context.input->threads) {
    threads_.push_back(
        std::make_unique<ThreadStates>(context, thread, stream == main_, stream, layout_));
    thread_leaves_.push_back({thread.weight, threads_.back().get()});
    ++stream;
  }
  if (!gpu) return;
  for (const GpuInput& queue : context.input->gpu) {
    gpu_.push_back(std::make_unique<GpuStates>(*context.history, queue, context.losses, layout_));
    gpu_leaves_.push_back({queue.weight, gpu_.back().get()});
  }
}

std::vector<OutermostNotes*> Streams::Notes() {
  std::vector<OutermostNotes*> notes = {&no_notes_};
  for (const auto& thread : threads_) notes.push_back(thread->notes());
  return notes;
}

std::vector<CallNotes*> Streams::Calls() {
  std::vector<CallNotes*> calls = {&no_calls_};
  for (const auto& thread : threads_) calls.push_back(thread->call_notes());
  return calls;
}

std::vector<CudaNotes*> Streams::CudaCalls() {
  std::vector<CudaNotes*> calls = {&no_cuda_calls_};
  for (const auto& thread : threads_) calls.push_back(thread->cuda_notes());
  return calls;
}

std::vector<RecordNotes*> Streams::Records() {
  std::vector<RecordNotes*> records = {&no_records_};
  for (const auto& thread : threads_) records.push_back(thread->record_notes());
  return records;
}

std::vector<ReasonNotes*> Streams::Reasons() {
  std::vector<ReasonNotes*> reasons = {&no_reasons_};
  for (const auto& thread : threads_) reasons.push_back(thread->reason_notes());
  return reasons;
}

std::vector<uint32_t> Streams::Threads() const {
  std::vector<uint32_t> threads = {0};
  for (const ThreadInput& thread : input_.threads) threads.push_back(thread.thread);
  return threads;
}

void Streams::MergeInto(KeyConsumer* consumer) {
  MergeUntil(consumer, end_ns_ + 1);
  for (const auto& thread : threads_) thread->Finish();
}

void Streams::MergeUntil(KeyConsumer* consumer, int64_t until_ns) {
  for (int64_t start_ns = NextChange(); start_ns < until_ns; start_ns = NextChange()) {
    const int64_t length_ns = std::min(until_ns - start_ns, layout_.epoch_ns());
    MergeEpoch(consumer, start_ns, start_ns + length_ns);
  }
}

void Streams::Carry(trace::Archive* archive) {
  ArchivedStreams(Threads()).CarryEach(archive, [&](uint32_t stream) {
    if (stream != kGpuStream) threads_[stream - kFirstThreadStream]->Carry(archive);
  });
}

// Epochs without changes are skipped.
int64_t Streams::NextChange() const {
  int64_t next_ns = kNever;
  for (const Leaf& leaf : thread_leaves_) next_ns = std::min(next_ns, leaf.stream->NextChange());
  for (const Leaf& leaf : gpu_leaves_) next_ns = std::min(next_ns, leaf.stream->NextChange());
  return next_ns;
}

// Only the streams that change in the epoch take part: of a thousand short-lived threads, few at a
// time hold buffers.
std::vector<MergeTree::Leaf> Streams::BeginEpoch(const std::vector<Leaf>& leaves, int64_t start_ns,
                                                 int64_t end_ns) {
  std::vector<MergeTree::Leaf> active;
  for (const Leaf& leaf : leaves) {
    if (leaf.stream->NextChange() >= end_ns) continue;
    leaf.stream->BeginEpoch(start_ns, end_ns);
    active.push_back({leaf.weight, leaf.stream});
  }
  return active;
}

void Streams::ShowReached(int64_t time_ns) const {
  if (input_.reached_ns != nullptr) input_.reached_ns->store(time_ns, std::memory_order_relaxed);
}

void Streams::MergeEpoch(KeyConsumer* consumer, int64_t start_ns, int64_t end_ns) {
  std::vector<MergeTree::Leaf> leaves = BeginEpoch(thread_leaves_, start_ns, end_ns);
  const std::vector<MergeTree::Leaf> gpu = BeginEpoch(gpu_leaves_, start_ns, end_ns);
  const MergeTree gpu_tree(gpu);
  if (!gpu.empty()) {
    gpu_union_.SetInput(gpu_tree.root());
    leaves.push_back({WeightOf(gpu), &gpu_union_});
  }
  const MergeTree tree(leaves);
  consumer->BeginEpoch(start_ns);
  while (tree.root()->Refill()) {
    consumer->Consume(tree.root()->keys(), tree.root()->size());
    ShowReached(start_ns + layout_.TimeOf(tree.root()->keys()[tree.root()->size() - 1]));
  }
  for (const Leaf& leaf : thread_leaves_) leaf.stream->ReleaseBuffer();
  for (const Leaf& leaf : gpu_leaves_) leaf.stream->ReleaseBuffer();
}

}  // namespace rlscope::analysis
