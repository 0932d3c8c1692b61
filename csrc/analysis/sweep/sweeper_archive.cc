// The state of a sweep between two parts of a trace. In this order, so that those who follow the
// threads alone read the beginning (thread_archive.h):
//
//   paths, threads | owner | losses, times, counts, views, records
#include "analysis/sweep/sweeper.h"
#include "analysis/sweep/thread_archive.h"

namespace rlscope::analysis {

bool Sweeper::Carry(trace::Archive* archive, Streams* streams, int64_t until_ns) {
  const uint64_t undecodable_chunks = result_->losses.undecodable_chunks;
  const uint64_t ignored_iterations = result_->losses.iteration_of_other_thread;
  if (!archive->reads()) {
    owner_calls_.Resolve(until_ns);
    result_->counts.waits()->Resolve(until_ns);
    ResolveRecords(until_ns);
    result_->process.Flush();
  }
  analysis::CarryThreads(archive, &result_->paths, streams);
  if (!archive->ok()) return false;
  const uint32_t paths = result_->paths.size();
  result_->process.Reserve(paths);
  CarryOwner(archive, *streams, paths, &table_, &instant_, &owner_calls_);
  Losses losses = result_->losses;
  losses.Carry(archive);
  CarryTimes(archive);
  result_->process.Carry(archive, {paths, result_->history.phase_names().size(),
                                   result_->history.iterations().size()});
  CarryStage(archive, ArchivedStreams(streams->Threads()));
  CarryGrid(archive);
  result_->counts.Carry(archive, paths);
  CarryRunning(archive);
  CarryThreads(archive, ArchivedStreams(streams->Threads()));
  CarryRecords(archive, ArchivedStreams(streams->Threads()));
  if (!archive->reads()) return true;
  // What the reader could not decode of the rest was counted before the archive was read.
  result_->losses = losses;
  result_->losses.undecodable_chunks += undecodable_chunks;
  result_->losses.iteration_of_other_thread = ignored_iterations;
  return archive->ok();
}

void Sweeper::CarryTimes(trace::Archive* archive) {
  const History& history = result_->history;
  archive->Time(&now_ns_);
  archive->Number(&recording_);
  archive->Below(&edge_, history.edges().size() + 1);
  archive->Below(&iteration_, history.iterations().size() + 1);
  archive->Number(&in_iteration_);
  if (in_iteration_ && iteration_ == history.iterations().size()) archive->Fail();
  // Else buckets without end would lie between.
  if (now_ns_ < history.start_ns() || now_ns_ > history.end_ns()) archive->Fail();
  if (!archive->ok()) in_iteration_ = false;
}

// After the process view.
void Sweeper::CarryStage(trace::Archive* archive, const ArchivedStreams& streams) {
  streams.CarryEach(archive, [&](uint32_t stream) {
    archive->Below(&outermost_paths_[stream], result_->paths.size());
  });
  in_loop_ = result_->process.stages().in_loop();
}

// The grid reaches further by now, or had more buckets than are asked for: those so far are added
// up to its own. It begins where it did.
void Sweeper::CarryGrid(trace::Archive* archive) {
  TimeGrid* const grid = &result_->grid;
  TimeGrid before = *grid;
  archive->Time(&before.origin_ns);
  archive->Number(&before.bucket_ns);
  const bool is_power = before.bucket_ns > 0 && (before.bucket_ns & (before.bucket_ns - 1)) == 0;
  if (!is_power || before.bucket_ns > INT64_MAX / 4) archive->Fail();
  if (!archive->reads() || !archive->ok()) return;
  if (bucket_end_ns_ == kNever) return result_->process.DropTimeline();
  grid->origin_ns = before.origin_ns;
  while (grid->bucket_ns < before.bucket_ns) {
    *grid = {grid->origin_ns, 2 * grid->bucket_ns, grid->level + 1};
  }
  uint32_t doublings = 0;
  while (before.bucket_ns << doublings < grid->bucket_ns) ++doublings;
  const int64_t bucket = grid->BucketOf(now_ns_);
  result_->process.CoarsenTimeline(doublings, bucket);
  bucket_end_ns_ = grid->StartOf(bucket + 1);
}

// The last iteration may be complete by now; else it may be, or not, still.
void Sweeper::CarryRunning(trace::Archive* archive) {
  const SpillVector<IterationRow>& iterations = result_->history.iterations();
  size_t running = iterations.size();  // and one more
  archive->Below(&running, iterations.size() + 1);
  if (!archive->reads() || !archive->ok() || running == 0) return;
  const IterationRow& row = iterations[running - 1];
  const bool is_last = running == iterations.size();
  if (!row.complete && is_last) return;
  result_->counts.SettleRunning(!row.complete   ? IterationKind::kNone
                                : row.automatic ? IterationKind::kAutomatic
                                                : IterationKind::kExplicit);
}

// Also where nobody asks for them: the archive goes on after them.
void Sweeper::CarryThreads(trace::Archive* archive, const ArchivedStreams& streams) {
  ThreadView unwanted(streams.size(), layout_, now_ns_);
  ThreadView* const threads = threads_ != nullptr ? threads_ : &unwanted;
  threads->Carry(archive, streams, result_->paths.size(), result_->history.phase_names().size());
}

// Edges after the last key were not applied yet.
void Sweeper::ResolveRecords(int64_t until_ns) {
  if (bookkeeping_ == nullptr) return;
  const SpillVector<Edge>& edges = result_->history.edges();
  for (size_t i = edge_; i < edges.size() && edges[i].time_ns < until_ns; ++i) {
    bookkeeping_->SetPhase(edges[i].time_ns, edges[i].phase, edges[i].recording);
  }
  bookkeeping_->Resolve(until_ns);
}

// The last part: who does not ask for it leaves it.
void Sweeper::CarryRecords(trace::Archive* archive, const ArchivedStreams& streams) {
  if (bookkeeping_ == nullptr) return;
  const History& history = result_->history;
  bookkeeping_->Carry(
      archive, streams,
      {result_->paths.size(), history.phase_names().size(), history.iterations().size()});
  if (archive->reads()) SetInstant(INT64_MIN);
}

}  // namespace rlscope::analysis
