#include "analysis/events/instances.h"

#include "analysis/process/history.h"
#include "analysis/sweep/streams.h"
#include "analysis/sweep/thread_archive.h"

namespace rlscope::analysis {
namespace {

class WithIterations : public InstanceSink {
 public:
  WithIterations(const History& history, InstanceRowSink* sink) : history_(history), sink_(sink) {}
  void Add(const OperationInstance& instance) override {
    sink_->Add(instance, history_.IterationAt(instance.start_ns));
  }

 private:
  const History& history_;
  InstanceRowSink* const sink_;
};

// Instances need no order between threads: the merge's keys are dropped, with their notes.
class KeyDropper : public KeyConsumer {
 public:
  explicit KeyDropper(Streams* streams) : notes_(streams->Notes()), calls_(streams->Calls()) {}
  void BeginEpoch(int64_t) override {}
  void Consume(const uint64_t*, size_t) override {
    for (OutermostNotes* notes : notes_) notes->Clear();
    for (CallNotes* calls : calls_) calls->Clear();
  }

 private:
  const std::vector<OutermostNotes*> notes_;
  const std::vector<CallNotes*> calls_;
};

}  // namespace

void FindInstances(const ProcessInput& input, OperationPaths* paths, InstanceRowSink* sink) {
  const History history(input.start_ns, input.end_ns, input.process_items, input.names);
  Losses losses;
  CallCounts counts;
  WithIterations instances(history, sink);
  const ThreadContext context = {
      &input, &history, paths, &losses, &counts, &instances, FunctionLayers(input.names)};
  Streams streams(context, /*gpu=*/true);
  if (input.saved) {
    trace::Archive archive = *input.saved;
    CarryThreads(&archive, paths, &streams);
  }
  KeyDropper dropper(&streams);
  streams.MergeInto(&dropper);
}

}  // namespace rlscope::analysis
