#include "analysis/views/bookkeeping.h"

#include <algorithm>

namespace rlscope::analysis {
namespace {

template <class Candidate>
const Candidate* FindByNumber(const std::vector<Candidate>& candidates, uint64_t number) {
  const auto found = std::find_if(candidates.begin(), candidates.end(),
                                  [&](const Candidate& each) { return each.number == number; });
  return found == candidates.end() ? nullptr : &*found;
}

}  // namespace

Bookkeeping::Bookkeeping(std::vector<RecordNotes*> records, uint32_t main)
    : records_(std::move(records)), main_(main), known_blocks_(records_.size() + 1) {}

void Bookkeeping::SetPhase(int64_t now, uint32_t phase, bool recording) {
  State* const state = StateFrom(now);
  state->phase = phase;
  state->recording = recording;
}

void Bookkeeping::EnterLoop(int64_t now, const LoopBeginning& beginning) {
  entered_ns_ = now;
  State* const state = StateFrom(now);
  state->in_loop = true;
  if (state->candidates == beginning.made()) return;
  state->candidates = beginning.made();
  candidates_.push_back({beginning.made() - 1, CountedSoFar()});
}

void Bookkeeping::LeaveLoop(int64_t now, const LoopBeginning& beginning) {
  StateFrom(now)->in_loop = false;
  if (candidates_.size() > beginning.candidates().size()) DropCandidates(beginning);
  if (now <= entered_ns_) return;
  last_left_ = states_.size() - 1;
  if (first_left_ == kNowhere) first_left_ = last_left_;
}

void Bookkeeping::DropCandidates(const LoopBeginning& beginning) {
  const auto is_none = [&](const Candidate& candidate) {
    return FindByNumber(beginning.candidates(), candidate.number) == nullptr;
  };
  candidates_.erase(std::remove_if(candidates_.begin(), candidates_.end(), is_none),
                    candidates_.end());
}

// All of it lies before the time that is swept.
Bookkeeping::Parts Bookkeeping::CountedSoFar() const {
  Parts counted;
  for (size_t cell = 0; cell < cells_.size(); ++cell) {
    const RecordCounts& counts = cells_[cell];
    const bool of_process = blocks_[cell / kCells].stream == kNobody;
    if (of_process && counts.inside + counts.outside > 0) {
      counted.FindOrAdd(cell + 1)->counts = counts;
    }
  }
  return counted;
}

const Bookkeeping::Parts& Bookkeeping::BeforeLoop(const LoopBeginning& beginning) const {
  const LoopBeginning::Candidate* const set_up = beginning.LastSetUp();
  if (set_up == nullptr) return before_;
  const Candidate* const own = FindByNumber(candidates_, set_up->number);
  return own != nullptr ? own->before : before_;
}

// What came after the loop is in it once it is left again.
void Bookkeeping::Resolve(int64_t now) {
  if (last_left_ != kNowhere) {
    if (!begun_) before_ = std::move(rest_);
    rest_ = Parts();
  }
  for (uint32_t stream = kFirstThreadStream; stream < records_.size(); ++stream) {
    ResolveStream(stream, now);
  }
  begun_ |= last_left_ != kNowhere;
  first_left_ = last_left_ = kNowhere;
  const size_t last = states_.size() - 1;
  const bool has_before = last > 0 && states_[last].from_ns == now;
  states_.erase(states_.begin(), states_.begin() + static_cast<ptrdiff_t>(last - has_before));
}

void Bookkeeping::ResolveStream(uint32_t stream, int64_t now) {
  RecordNotes* const records = records_[stream];
  for (size_t at = 0; !records->empty() && records->front().time_ns < now; records->Pop()) {
    const RecordNote& note = records->front();
    at = FindState(at, note.time_ns);
    const bool is_end = !states_[at].recording;
    const bool begins_then = at > 0 && states_[at].from_ns == note.time_ns;
    const bool before = begins_then && (note.leaves || is_end) && states_[at - 1].recording;
    if (before || !is_end) Count(stream, note, at - before);
  }
  records->Compact();
}

// The last state that began by then, from one that did: mostly a few further on.
size_t Bookkeeping::FindState(size_t from, int64_t time_ns) const {
  size_t step = 1;
  while (from + step < states_.size() && states_[from + step].from_ns <= time_ns) {
    from += step;
    step *= 2;
  }
  while ((step /= 2) > 0) {
    if (from + step < states_.size() && states_[from + step].from_ns <= time_ns) from += step;
  }
  return from;
}

void Bookkeeping::Count(uint32_t stream, const RecordNote& note, size_t at) {
  const State& state = states_[at];
  const uint32_t busy = static_cast<uint32_t>(state.counts & 1);
  for (const bool inside : {true, false}) {
    const uint32_t own = inside ? note.inside : note.outside;
    const size_t block = FindBlock(stream, state.phase, PathOf(own));
    const size_t cell = block + CellInBlock(FieldOf(own) * 2 + busy, note.kind);
    Add(&cells_[cell], note.count, inside);
    const uint32_t row = RowOfProcess(state, stream, own);
    if (row != kNoRow) AddToProcess(note, at, row, inside);
  }
}

// In which row of the process a thread in state `own` makes its record, kNoRow if in none.
uint32_t Bookkeeping::RowOfProcess(const State& at, uint32_t stream, uint32_t own) const {
  if (stream == (at.owner == kNobody ? main_ : at.owner)) {
    const uint64_t counts = at.counts - at.counted + LayerCounts::Of(FieldOf(own));
    return FirstRowOf(own) + LayerCounts::RowOf(counts);
  }
  const bool works_for_owner = stream != main_ && !IsOperation(PathOf(own));
  const bool owner_may_wait = at.counted != 0 && at.counted != LayerCounts::Of(kPythonRank);
  if (at.owner == kNobody || !works_for_owner || !owner_may_wait) return kNoRow;
  return at.first_row + LayerCounts::RowOf(at.counts);
}

void Bookkeeping::AddToProcess(const RecordNote& note, size_t at, uint32_t row, bool inside) {
  const State& state = states_[at];
  const size_t block = FindBlock(kNobody, state.phase, PathOfRow(row));
  const size_t cell = block + CellInBlock(row, note.kind);
  Add(&cells_[cell], note.count, inside);
  if (state.candidates < states_.back().candidates) {
    for (Candidate& candidate : candidates_) {
      if (state.candidates <= candidate.number) {
        AddToPart(&candidate.before, cell, note.count, inside);
      }
    }
  }
  if (state.in_loop) return;
  if (last_left_ == kNowhere || at >= last_left_) {
    AddToPart(&rest_, cell, note.count, inside);
  } else if (!begun_ && at < first_left_) {
    AddToPart(&before_, cell, note.count, inside);
  }
}

void Bookkeeping::AddToPart(Parts* parts, size_t cell, uint64_t count, bool inside) {
  Add(&parts->FindOrAdd(cell + 1)->counts, count, inside);
}

size_t Bookkeeping::FindBlock(uint32_t stream, uint32_t phase, uint32_t path) {
  KnownBlocks* const known = &known_blocks_[std::min<size_t>(stream, records_.size())];
  if (known->phase != phase) *known = {phase, {}};
  if (path >= known->of_path.size()) known->of_path.resize(path + 1);
  uint32_t* const number = &known->of_path[path];
  if (*number == 0) *number = FindOrAddBlock({stream, phase, path}) + 1;
  return (*number - 1) * kCells;
}

uint32_t Bookkeeping::FindOrAddBlock(const Block& block) {
  const auto [at, is_new] = block_of_.try_emplace({block.stream, block.phase, block.path},
                                                  static_cast<uint32_t>(blocks_.size()));
  if (is_new) {
    blocks_.push_back(block);
    cells_.AppendZeros(kCells);
  }
  return at->second;
}

// ---- archive ------------------------------------------------------------------------------------

void Bookkeeping::CarryParts(trace::Archive* archive, Parts* parts) {
  CarryTable(archive, parts, [&](Part part) {
    size_t cell = part.key == 0 ? 0 : part.key - 1;
    archive->Below(&cell, cells_.size());
    archive->Number(&part.counts.inside);
    archive->Number(&part.counts.outside);
    part.key = cell + 1;
    return part;
  });
}

// Most are zero.
void Bookkeeping::CarryCells(trace::Archive* archive) {
  Parts counted;
  for (size_t cell = 0; cell < cells_.size() && !archive->reads(); ++cell) {
    const RecordCounts& counts = cells_[cell];
    if (counts.inside + counts.outside > 0) counted.FindOrAdd(cell + 1)->counts = counts;
  }
  CarryParts(archive, &counted);
  if (!archive->reads()) return;
  for (const Part& part : counted.slots()) {
    if (part.key != 0) cells_[part.key - 1] = part.counts;
  }
}

void Bookkeeping::CarryCandidates(trace::Archive* archive) {
  size_t count = candidates_.size();
  archive->Below(&count, LoopBeginning::kMostCandidates);
  if (archive->reads()) candidates_.resize(count);
  for (Candidate& candidate : candidates_) {
    archive->Number(&candidate.number);
    CarryParts(archive, &candidate.before);
  }
}

void Bookkeeping::Carry(trace::Archive* archive, const ArchivedStreams& streams,
                        const RowLimits& limits) {
  const size_t blocks = archive->Count(blocks_.size());
  for (size_t i = 0; i < blocks && archive->ok(); ++i) {
    Block block = archive->reads() ? Block() : blocks_[i];
    bool of_process = block.stream == kNobody;
    archive->Number(&of_process);
    if (of_process) block.stream = kNobody;
    if (!of_process) streams.Carry(archive, &block.stream);
    if (block.stream == kGpuStream) archive->Fail();  // it makes no records
    archive->Below(&block.phase, limits.phases);
    archive->Below(&block.path, limits.paths);
    if (archive->reads() && archive->ok()) FindOrAddBlock(block);
  }
  CarryCells(archive);
  for (Parts* parts : {&before_, &rest_}) CarryParts(archive, parts);
  CarryCandidates(archive);
  archive->Number(&begun_);
  archive->Time(&entered_ns_);
  if (archive->reads()) states_ = {kFirst};
  archive->Number(&states_.back().candidates);
  archive->Below(&states_.back().phase, limits.phases);
  archive->Number(&states_.back().in_loop);
  archive->Number(&states_.back().recording);
}

}  // namespace rlscope::analysis
