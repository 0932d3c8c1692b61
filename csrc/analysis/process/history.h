// The history of a process as a whole: its windows, phases, iterations and progress, from the
// records that concern the process (docs/reference/semantics.md#windows,
// docs/reference/semantics.md#phases-and-iterations; progress:
// docs/reference/semantics-notes.md#phases-iterations-progress).
#ifndef RLSCOPE_ANALYSIS_PROCESS_HISTORY_H_
#define RLSCOPE_ANALYSIS_PROCESS_HISTORY_H_

#include <stdint.h>

#include <string>
#include <utility>
#include <vector>

#include "analysis/process/losses.h"
#include "analysis/spill/spill_vector.h"
#include "trace/read/chunk_parser.h"

namespace rlscope::analysis {

// A thread's records about the process as a whole.
struct ProcessItem {
  int64_t time_ns;
  uint64_t value;
  uint32_t kind;  // record.h
  uint32_t id;
  uint32_t thread;     // number
  uint32_t order = 0;  // of recording, in its thread
};

struct Window {
  int64_t start_ns;
  int64_t stop_ns;
};

// The changes for the whole process at one time. While in a gap the phase is 0.
struct Edge {
  int64_t time_ns;
  uint32_t phase;  // from here on: row of phase_names()
  bool recording;  // from here on
};

struct PhaseRow {
  uint32_t name;
  int64_t start_ns;
  int64_t end_ns;
};

struct IterationRow {
  int64_t start_ns;
  int64_t end_ns;
  bool complete;
  bool automatic;
  bool gpu_recorded;  // it is complete, and all of its GPU work was recorded
};

// A stretch of time.
struct Span {
  int64_t start_ns;
  int64_t end_ns;
};

// What is known of the iteration that holds a time: it is complete, and the program's own or an
// automatic one; or it is the last one, which may still become complete.
enum class IterationKind : uint32_t { kNone, kExplicit, kAutomatic, kRunning };
constexpr uint32_t kIterationKinds = 4;

struct IterationSpan {
  int64_t start_ns;
  int64_t end_ns;
  IterationKind kind;
};

struct ProgressRow {
  int64_t start_ns;
  double done;
  double total;
};

class History {
 public:
  // `items` by time (ties: thread, order of recording). Names of the phases come from `names`.
  History(int64_t start_ns, int64_t end_ns, const SpillVector<ProcessItem>& items,
          const std::vector<trace::Name>& names);

  // When the first window starts and the last one stops: the process's own times if nothing says
  // otherwise.
  int64_t start_ns() const { return windows_.front().start_ns; }
  int64_t end_ns() const { return windows_.back().stop_ns; }

  const std::vector<Window>& windows() const { return windows_; }  // at least one
  bool has_gaps() const;                                           // some time between windows
  // The last window ended by a record, not with the process.
  bool stopped() const { return stopped_; }
  const SpillVector<Edge>& edges() const { return edges_; }  // from start_ns on, by time
  const std::vector<std::string>& phase_names() const { return phase_names_; }  // [0] = "(none)"
  const SpillVector<PhaseRow>& phases() const { return phases_; }
  const SpillVector<IterationRow>& iterations() const { return iterations_; }
  SpillVector<IterationRow> TakeIterations() { return std::move(iterations_); }
  // The time in complete iterations, and in the last one. Neighbours of one kind are one span.
  const std::vector<IterationSpan>& iteration_spans() const { return iteration_spans_; }
  // The kind that rates count: the program's own, where it has any.
  IterationKind counted_kind() const { return counted_kind_; }
  const SpillVector<ProgressRow>& progress() const { return progress_; }
  uint64_t ignored_iterations() const { return ignored_iterations_; }

  // Row of the iteration in which this time lies, -1 if in none.
  int64_t IterationAt(int64_t time_ns) const;

 private:
  friend class HistoryBuilder;
  std::vector<Window> windows_;
  bool stopped_ = false;
  SpillVector<Edge> edges_;
  std::vector<std::string> phase_names_;
  SpillVector<PhaseRow> phases_;
  SpillVector<IterationRow> iterations_;
  std::vector<IterationSpan> iteration_spans_;
  IterationKind counted_kind_ = IterationKind::kAutomatic;
  SpillVector<ProgressRow> progress_;
  uint64_t ignored_iterations_ = 0;
};

}  // namespace rlscope::analysis

#endif  // RLSCOPE_ANALYSIS_PROCESS_HISTORY_H_
