#include "analysis/instances.h"

#include "analysis/history.h"
#include "analysis/streams.h"

namespace rlscope::analysis {
namespace {

class InstanceRows : public InstanceSink {
 public:
  InstanceRows(const History& history, SpillVector<InstanceRow>* rows)
      : history_(history), rows_(rows) {}
  void Add(const OperationInstance& instance) override {
    rows_->push_back({instance, history_.IterationAt(instance.start_ns)});
  }

 private:
  const History& history_;
  SpillVector<InstanceRow>* const rows_;
};

// Instances need each thread's own order only; the merge's keys are dropped, with their notes.
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

std::unique_ptr<InstanceResult> FindInstances(const ProcessInput& input) {
  auto result = std::make_unique<InstanceResult>(input);
  const History history(input.start_ns, input.end_ns, input.process_items, input.names);
  result->has_gaps = history.has_gaps();
  Losses losses;
  CallCounts counts;
  InstanceRows rows(history, &result->rows);
  const ThreadContext context = {
      &input, &history, &result->paths, &losses, &counts, &rows, FunctionLayers(input.names)};
  Streams streams(context, /*gpu=*/true);
  KeyDropper dropper(&streams);
  streams.MergeInto(&dropper);
  return result;
}

}  // namespace rlscope::analysis
