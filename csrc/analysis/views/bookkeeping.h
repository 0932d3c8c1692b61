// How many records of each kind cost time in each row of the breakdowns
// (docs/reference/semantics.md#bookkeeping-by-region).
//
//   threads -- RecordNotes ----------+
//   Sweeper -- states of the process +-- Resolve, block by block -- counts by row and kind
#ifndef RLSCOPE_ANALYSIS_VIEWS_BOOKKEEPING_H_
#define RLSCOPE_ANALYSIS_VIEWS_BOOKKEEPING_H_

#include <stdint.h>

#include <map>
#include <tuple>
#include <utility>
#include <vector>

#include "analysis/archive/archived_streams.h"
#include "analysis/process/process_state.h"
#include "analysis/spill/spill_table.h"
#include "analysis/spill/spill_vector.h"
#include "analysis/threads/notes.h"
#include "analysis/views/breakdown_rows.h"
#include "analysis/views/loop_stages.h"
#include "trace/format/archive.h"

namespace rlscope::analysis {

// Records of one kind whose cost lies in one row: those inside the time that they tell of, and
// those around it.
struct RecordCounts {
  uint64_t inside = 0;
  uint64_t outside = 0;
};

class Bookkeeping {
 public:
  // `records` by stream; `main` is the stream of the main thread, or kNobody.
  Bookkeeping(std::vector<RecordNotes*> records, uint32_t main);

  // From `now` on, the process is in this state. If several changes come at one time, the last one
  // counts. `counted`: what the owner adds to the counts; without an owner, the main thread.
  void SetInstant(int64_t now, const ProcessInstant& instant, uint64_t counted) {
    State* const state = StateFrom(now);
    state->counts = instant.counts;
    state->counted = counted;
    state->owner = instant.owner;
    state->first_row = instant.first_row;
  }
  void SetPhase(int64_t now, uint32_t phase, bool recording);
  // As those of LoopStages, after them.
  void EnterLoop(int64_t now, const LoopBeginning& beginning);
  void LeaveLoop(int64_t now, const LoopBeginning& beginning);

  // Everything before `now` has happened: counts the records of that time.
  void Resolve(int64_t now);

  // After Resolve.
  void Carry(trace::Archive* archive, const ArchivedStreams& streams, const RowLimits& limits);

  // At the end. Calls visit(stream, stage, phase, row, kind, counts) for every row with records:
  // for the threads by their own states (stage kWhole), and for the process as stream kNobody.
  template <class Visit>
  void ForEachRow(const LoopBeginning& beginning, const OperationPaths& paths, Visit visit) const {
    const Parts& before_loop = BeforeLoop(beginning);
    for (size_t cell = 0; cell < cells_.size(); ++cell) {
      const RecordCounts whole = cells_[cell];
      const Block& block = blocks_[cell / kCells];
      const uint32_t row = MakeRow(block.path, 0, false) + RowInPath(cell);
      const auto give = [&](LoopStages::Stage stage, RecordCounts counts) {
        if (counts.inside + counts.outside == 0) return;
        visit(block.stream, stage, block.phase, row, KindOf(cell), counts);
      };
      if (block.stream != kNobody || !begun_) {
        give(LoopStages::kWhole, whole);
        continue;
      }
      const RecordCounts before = before_loop.Get(cell + 1).counts;
      const RecordCounts rest = rest_.Get(cell + 1).counts;
      give(LoopStages::kStartUp, before);
      give(LoopStages::InLoop(paths.node(block.path)),
           {whole.inside - before.inside - rest.inside,
            whole.outside - before.outside - rest.outside});
      give(LoopStages::kEnd, rest);
    }
  }

 private:
  // What the process is like from some time on.
  struct State {
    int64_t from_ns;
    uint64_t counts;   // LayerCounts
    uint64_t counted;  // of these, the owner's or the main thread's
    uint32_t owner;
    uint32_t first_row;
    uint32_t phase;
    uint64_t candidates;  // LoopBeginning's so far
    bool in_loop;
    bool recording;
  };
  static constexpr State kFirst = {INT64_MIN, 0, 0,     kNobody, FirstRowOf(kNoPath),
                                   0,         0, false, false};
  // Rows of one path, of a thread or the process, in one phase: a cell for each row and kind.
  struct Block {
    uint32_t stream;  // kNobody: the process
    uint32_t phase;
    uint32_t path;
  };
  static constexpr size_t kCells = kRowsOfPath * kRecordKinds;
  static size_t CellInBlock(uint32_t row, RecordKind kind) {
    return row % kRowsOfPath * kRecordKinds + static_cast<size_t>(kind);
  }
  static uint32_t RowInPath(size_t cell) {
    return static_cast<uint32_t>(cell % kCells / kRecordKinds);
  }
  static RecordKind KindOf(size_t cell) { return static_cast<RecordKind>(cell % kRecordKinds); }
  // The counts of a stage that is kept apart.
  struct Part {
    uint64_t key;  // cell + 1
    RecordCounts counts;
  };
  using Parts = SpillTable<Part>;
  // What came before a candidate of LoopBeginning.
  struct Candidate {
    uint64_t number = 0;
    Parts before;
  };
  // Blocks of a thread or the process in the phase of its last record, by path; 0 not known, else
  // the block's number and 1.
  struct KnownBlocks {
    uint32_t phase = UINT32_MAX;
    std::vector<uint32_t> of_path;
  };
  static constexpr size_t kNowhere = SIZE_MAX;
  static constexpr uint32_t kNoRow = UINT32_MAX;

  // To be changed: so far the state is as before. Valid until the next call.
  State* StateFrom(int64_t now) {
    if (states_.back().from_ns != now) {
      states_.push_back(states_.back());
      states_.back().from_ns = now;
    }
    return &states_.back();
  }
  void ResolveStream(uint32_t stream, int64_t now);
  size_t FindState(size_t from, int64_t time_ns) const;
  void Count(uint32_t stream, const RecordNote& note, size_t at);
  uint32_t RowOfProcess(const State& at, uint32_t stream, uint32_t state) const;
  void AddToProcess(const RecordNote& note, size_t at, uint32_t row, bool inside);
  void AddToPart(Parts* parts, size_t cell, uint64_t count, bool inside);
  Parts CountedSoFar() const;
  void DropCandidates(const LoopBeginning& beginning);
  const Parts& BeforeLoop(const LoopBeginning& beginning) const;
  static void Add(RecordCounts* counts, uint64_t count, bool inside) {
    (inside ? counts->inside : counts->outside) += count;
  }
  // First cell of the rows of a path.
  size_t FindBlock(uint32_t stream, uint32_t phase, uint32_t path);
  uint32_t FindOrAddBlock(const Block& block);
  void CarryParts(trace::Archive* archive, Parts* parts);
  void CarryCandidates(trace::Archive* archive);
  void CarryCells(trace::Archive* archive);

  const std::vector<RecordNotes*> records_;
  const uint32_t main_;
  std::vector<State> states_ = {kFirst};  // from before the last time that was resolved; not empty
  SpillVector<Block> blocks_;
  SpillVector<RecordCounts> cells_;                                        // kCells a block
  std::map<std::tuple<uint32_t, uint32_t, uint32_t>, uint32_t> block_of_;  // stream, phase, path
  std::vector<KnownBlocks> known_blocks_;  // by stream; the last of the process

  // As in LoopStages: of the process, before its training loop, and since the loop was left.
  Parts before_;
  Parts rest_;
  std::vector<Candidate> candidates_;  // those that LoopBeginning has, or has dropped since
  bool begun_ = false;
  int64_t entered_ns_ = 0;
  // Where the loop was left, by place in `states_`: for the first time, and for the last.
  size_t first_left_ = kNowhere;
  size_t last_left_ = kNowhere;
};

}  // namespace rlscope::analysis

#endif  // RLSCOPE_ANALYSIS_VIEWS_BOOKKEEPING_H_
