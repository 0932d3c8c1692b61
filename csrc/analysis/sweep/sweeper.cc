#include "analysis/sweep/sweeper.h"

#include <algorithm>
#include <utility>

#include "analysis/process/deepest_layer.h"

namespace rlscope::analysis {

Sweeper::Sweeper(SweepResult* result, Streams* streams, const ProcessInput& input,
                 const SweepOptions& options)
    : result_(result),
      layout_(streams->layout()),
      notes_(streams->Notes()),
      threads_(result->threads.get()),
      bookkeeping_(result->bookkeeping.get()),
      table_(streams->size(), streams->main()),
      outermost_paths_(streams->size(), kNoPath),
      owner_calls_(&result->counts, streams->Calls(), streams->Threads()),
      run_to_note_(ChooseLoop(options)),
      now_ns_(result->history.start_ns()),
      bucket_end_ns_(kNever),
      states_(input.states, std::max(now_ns_, input.saved_until_ns)) {
  for (uint32_t i = 0; i < input.threads.size(); ++i) {
    streams_[input.threads[i].thread] = kFirstThreadStream + i;
  }
  const TimeGrid& grid = result->grid;
  if (options.buckets > 0) bucket_end_ns_ = grid.StartOf(grid.BucketOf(now_ns_) + 1);
  result_->process.SetTimeShift(layout_.time_shift());
  result_->process.Reserve(result_->paths.size());
  ApplyEdges(now_ns_);
}

void Sweeper::BeginEpoch(int64_t epoch_start_ns) {
  epoch_start_ns_ = epoch_start_ns;
  result_->process.Flush();
  unflushed_keys_ = 0;
}

void Sweeper::Consume(const uint64_t* keys, size_t count) {
  result_->keys += count;
  unflushed_keys_ += count;
  if (unflushed_keys_ > RowTimes::kMostCounts) {
    result_->process.Flush();
    unflushed_keys_ = count;
  }
  result_->process.Reserve(result_->paths.size());
  while (count > 0) {
    const int64_t edge_ns = NextEdge();
    const uint64_t* end = keys + count;
    if (TimeOf(end[-1]) >= edge_ns) {
      end = std::partition_point(keys, end, [&](uint64_t key) { return TimeOf(key) < edge_ns; });
    }
    if (threads_ != nullptr) threads_->Take(keys, end, epoch_start_ns_);
    recording_ ? Run(keys, end) : RunInGap(keys, end);
    count -= static_cast<size_t>(end - keys);
    keys = end;
    if (count > 0) ApplyEdges(edge_ns);
  }
  owner_calls_.Resolve(now_ns_);
  result_->counts.waits()->Resolve(now_ns_);
  if (bookkeeping_ != nullptr) bookkeeping_->Resolve(now_ns_);
  for (OutermostNotes* notes : notes_) notes->Compact();
}

void Sweeper::Finish() {
  const int64_t end_ns = result_->history.end_ns();
  for (int64_t edge_ns = NextEdge(); edge_ns < end_ns; edge_ns = NextEdge()) ApplyEdges(edge_ns);
  AdvanceTo(end_ns);
  if (in_loop_) LeaveLoop(end_ns);
  owner_calls_.Resolve(kNever);
  result_->counts.waits()->Resolve(kNever);
  result_->counts.waits()->Finish();
  if (bookkeeping_ != nullptr) {
    bookkeeping_->SetPhase(end_ns, 0, /*recording=*/false);
    bookkeeping_->Resolve(kNever);
  }
  result_->process.Flush();
  result_->process.FollowStages();
  if (bucket_end_ns_ != kNever)
    result_->process.EndBucket(result_->grid.BucketOf(bucket_end_ns_ - 1));
  if (in_iteration_) result_->process.EndIteration(static_cast<int64_t>(iteration_));
  result_->process.EndNoIteration();
  if (threads_ != nullptr) threads_->Finish(end_ns);
}

// ---- keys ---------------------------------------------------------------------------------------

Sweeper::RunLoop Sweeper::ChooseLoop(const SweepOptions& options) {
  return CountsZeros() ? ChooseLoopOf<DeepestByZeros>(options)
                       : ChooseLoopOf<DeepestByComparing>(options);
}

template <class Deepest>
Sweeper::RunLoop Sweeper::ChooseLoopOf(const SweepOptions& options) {
  if (options.bookkeeping) {
    return options.counts ? &Sweeper::RunToNote<Deepest, true, true>
                          : &Sweeper::RunToNote<Deepest, false, true>;
  }
  return options.counts ? &Sweeper::RunToNote<Deepest, true, false>
                        : &Sweeper::RunToNote<Deepest, false, false>;
}

void Sweeper::Run(const uint64_t* keys, const uint64_t* end) {
  // From the epoch before to this one any time may pass.
  if (keys != end) AdvanceTo(TimeOf(*keys));
  while (keys != end) {
    keys = (this->*run_to_note_)(keys, end);
    if (keys[-1] & kNoteBit) TakeNotes(layout_.StreamOf(keys[-1]), now_ns_);
  }
}

// The inner loop: charges and applies keys up to and including the first one with a note. Returns
// the key after it.
template <class Deepest, bool kCounts, bool kRecords>
const uint64_t* Sweeper::RunToNote(const uint64_t* keys, const uint64_t* end) {
  const KeyLayout layout = layout_;
  ThreadTable::Thread* const table = &table_[0];
  ProcessInstant instant = instant_;
  const ThreadTable::Thread* const owner =
      instant.owner == kNobody ? nullptr : table + instant.owner;
  const ThreadTable::Thread* const counted = OwnerOrMain();
  RowTimes rows = *result_->process.times();
  // Times as they stand in a key.
  const uint64_t time_mask = ~uint64_t{0} << layout.time_shift();
  uint64_t now = static_cast<uint64_t>(now_ns_ - epoch_start_ns_) << layout.time_shift();
  uint64_t key = 0;
  while (keys != end && !(key & kNoteBit)) {
    key = *keys++;
    const uint64_t time = key & time_mask;
    const uint32_t row = instant.first_row + Deepest::RowOf(instant.counts);
    if (__builtin_expect(rows.Add(row, time - now), 0)) {
      result_->process.Touch(row);
    }
    now = time;
    ThreadTable::Thread* const thread = table + layout.StreamOf(key);
    if (!kCounts) {
      ThreadTable::Change(&instant, thread, thread == owner, key);
    } else if (__builtin_expect(ThreadTable::ChangeAndTell(&instant, thread, thread == owner, key),
                                0)) {
      owner_calls_.SetPath(TimeOf(key), instant.path());
    }
    if (kRecords) bookkeeping_->SetInstant(TimeOf(key), instant, counted->counted);
  }
  instant_ = instant;
  *result_->process.times() = rows;
  now_ns_ = epoch_start_ns_ + layout.TimeOf(now);
  return keys;
}

void Sweeper::RunInGap(const uint64_t* keys, const uint64_t* end) {
  for (; keys != end; ++keys) {
    AdvanceTo(TimeOf(*keys));
    const uint32_t stream = layout_.StreamOf(*keys);
    ThreadTable::Change(&instant_, &table_[stream], stream == instant_.owner, *keys);
    owner_calls_.SetPath(now_ns_, instant_.path());
    if (*keys & kNoteBit) TakeNotes(stream, now_ns_);
  }
  SetInstant(now_ns_);
}

void Sweeper::TakeNotes(uint32_t stream, int64_t now) {
  OutermostNotes* notes = notes_[stream];
  bool owner_may_change = table_[stream].has_operation() != table_[stream].may_own;
  for (; !notes->empty() && notes->front().time_ns <= now; notes->Pop()) {
    table_[stream].begin_ns = notes->front().begin_ns;
    outermost_paths_[stream] = notes->front().path;
    owner_may_change = true;
  }
  if (!owner_may_change) return;
  instant_ = table_.ChangeOwner(instant_, stream);
  owner_calls_.SetPath(now, instant_.path());
  SetInstant(now);
  ChangeStage(now);
}

// The process may have another owner, or the owner another outermost operation.
void Sweeper::ChangeStage(int64_t now) {
  const bool was_in_loop = in_loop_;
  const bool is_owned = instant_.owner != kNobody;
  const OperationPaths::Node& outermost =
      result_->paths.node(is_owned ? outermost_paths_[instant_.owner] : kNoPath);
  in_loop_ = is_owned && !outermost.around_loop;
  if (in_loop_ && !was_in_loop) EnterLoop(now);
  if (was_in_loop && !in_loop_) LeaveLoop(now);
  if (in_loop_) result_->process.SetLoopName(now, outermost.first_name);
  if (!in_loop_ && (is_owned || !recording_)) result_->process.FollowStages();
}

void Sweeper::EnterLoop(int64_t now) {
  result_->process.EnterLoop(now, result_->paths);
  if (result_->process.stages().may_begin()) result_->counts.waits()->MayBegin(now);
  const LoopBeginning& beginning = result_->process.stages().beginning();
  if (bookkeeping_ != nullptr) bookkeeping_->EnterLoop(now, beginning);
}

void Sweeper::LeaveLoop(int64_t now) {
  const LoopStages& stages = result_->process.stages();
  WaitSums* const waits = result_->counts.waits();
  if (stages.lasted(now)) {
    waits->MayEnd(now);
  } else if (stages.may_begin()) {
    waits->DoesNotBegin();
  }
  result_->process.LeaveLoop(now, result_->paths);
  const LoopBeginning& beginning = result_->process.stages().beginning();
  if (bookkeeping_ != nullptr) bookkeeping_->LeaveLoop(now, beginning);
}

const ThreadTable::Thread* Sweeper::OwnerOrMain() {
  const uint32_t stream = OwnerOrMainStream();
  return stream != kNobody ? &table_[stream] : &nobody_;
}

void Sweeper::SetInstant(int64_t now) {
  if (bookkeeping_ != nullptr) bookkeeping_->SetInstant(now, instant_, OwnerOrMain()->counted);
}

// ---- edges --------------------------------------------------------------------------------------

int64_t Sweeper::NextEdge() const {
  const SpillVector<Edge>& edges = result_->history.edges();
  const int64_t next_ns = edge_ < edges.size() ? edges[edge_].time_ns : kNever;
  return std::min({next_ns, bucket_end_ns_, NextIterationEdge(), states_.time_ns()});
}

int64_t Sweeper::NextIterationEdge() const {
  const SpillVector<IterationRow>& iterations = result_->history.iterations();
  if (iteration_ == iterations.size()) return kNever;
  return in_iteration_ ? iterations[iteration_].end_ns : iterations[iteration_].start_ns;
}

void Sweeper::ApplyEdges(int64_t now) {
  AdvanceTo(now);
  TakeStates(now);
  result_->process.Flush();
  if (now == bucket_end_ns_) {
    result_->process.EndBucket(result_->grid.BucketOf(now - 1));
    bucket_end_ns_ += result_->grid.bucket_ns;
  }
  ApplyIterations(now);
  const SpillVector<Edge>& edges = result_->history.edges();
  const bool is_edge = edge_ < edges.size() && edges[edge_].time_ns <= now;
  if (is_edge) result_->process.FollowStages();
  for (; edge_ < edges.size() && edges[edge_].time_ns <= now; ++edge_) {
    result_->process.SetPhase(edges[edge_].phase);
    recording_ = edges[edge_].recording;
    if (threads_ != nullptr) threads_->SetPhase(edges[edge_].phase, now, !recording_);
    if (bookkeeping_ != nullptr) bookkeeping_->SetPhase(now, edges[edge_].phase, recording_);
  }
}

void Sweeper::ApplyIterations(int64_t now) {
  while (NextIterationEdge() <= now) {
    if (in_iteration_) {
      result_->process.EndIteration(static_cast<int64_t>(iteration_++));
    } else {
      result_->process.BeginIteration();
    }
    in_iteration_ = !in_iteration_;
  }
}

// The state is that of the time before: what begins now was not applied yet.
void Sweeper::TakeStates(int64_t now) {
  for (; states_.time_ns() <= now; states_.Next()) {
    const bool counts = recording_ && now < result_->history.end_ns();
    if (!counts) continue;
    result_->states.push_back({now, instant_.row(), IsAwake() ? 0u : 1u, FindStack()});
  }
}

bool Sweeper::IsAwake() const {
  return std::any_of(states_.awake().begin(), states_.awake().end(), [&](uint32_t thread) {
    const auto stream = streams_.find(thread);
    return stream != streams_.end() && table_.CountsNow(stream->second);
  });
}

uint32_t Sweeper::FindStack() const {
  const uint32_t of = OwnerOrMainStream();
  for (const auto& [thread, node] : states_.stacks()) {
    const auto stream = streams_.find(thread);
    if (stream != streams_.end() && stream->second == of) return node;
  }
  return 0;
}

void Sweeper::AdvanceTo(int64_t now) {
  if (now == now_ns_) return;
  const uint32_t row = recording_ ? instant_.row() : MakeRow(kNotRecordedPath, 0, false);
  result_->process.Charge(row, now - now_ns_);
  now_ns_ = now;
}

}  // namespace rlscope::analysis
