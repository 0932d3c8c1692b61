#include "analysis/thread_view.h"

namespace rlscope::analysis {

ThreadView::ThreadView(size_t streams, const KeyLayout& layout, int64_t start_ns)
    : layout_(layout),
      clock_{start_ns},
      flip_ns_(GpuClock::kRememberedFlips),
      threads_(streams),
      cells_of_path_(streams) {
  static_assert(kAbsentPages * kLayers > kFieldMask);
  clock_.flip_ns = flip_ns_.data();
  for (uint32_t page = 0; page < kAbsentPages; ++page) AddPage(0, kAbsentPath, 0);
}

void ThreadView::Take(const uint64_t* keys, const uint64_t* end, int64_t epoch_start_ns,
                      bool in_gap) {
  if (clock_.flips - settled_flips_ > GpuClock::kRememberedFlips / 2) Settle();
  const KeyLayout layout = layout_;
  GpuClock clock = clock_;
  for (; keys != end; ++keys) {
    const uint32_t state = StateOf(*keys);
    clock.AdvanceTo(epoch_start_ns + layout.TimeOf(*keys), !in_gap & (clock.busy_streams > 0));
    clock.busy_streams += BusyStep(FieldOf(state));
    Change(layout.StreamOf(*keys), state, clock);
  }
  clock_ = clock;
}

void ThreadView::SetPhase(uint32_t phase, int64_t now, bool was_gap) {
  clock_.AdvanceTo(now, !was_gap && clock_.busy_streams > 0);
  if (phase == phase_) return;
  phase_ = phase;
  for (uint32_t number = 0; number < threads_.size(); ++number) {
    Thread* thread = &threads_[number];
    cells_of_path_[number].clear();
    if (thread->path == kAbsentPath) continue;
    Close(thread, clock_);
    const uint32_t layer = thread->cell - thread->cells;
    thread->cells = FindCells(number, thread->path);
    thread->cell = thread->cells + layer;
  }
}

void ThreadView::Finish(int64_t now, bool was_gap) {
  clock_.AdvanceTo(now, !was_gap && clock_.busy_streams > 0);
  Settle();
}

// Before more flips happen than are remembered.
void ThreadView::Settle() {
  for (Thread& thread : threads_) Close(&thread, clock_);
  settled_flips_ = clock_.flips;
}

uint32_t ThreadView::FindCells(uint32_t thread, uint32_t path) {
  if (path == kAbsentPath) return 0;
  std::vector<uint32_t>* known = &cells_of_path_[thread];
  if (path < known->size() && (*known)[path] != 0) return (*known)[path];
  PageIndex* index = index_.FindOrAdd((uint64_t{thread} << 32 | path) + 1);
  uint32_t page = index->first;
  while (page != 0 && pages_[page].phase != phase_) page = pages_[page].next;
  if (page == 0) page = index->first = AddPage(thread, path, index->first);
  if (path >= known->size()) known->resize(path + 1);
  return (*known)[path] = page * kLayers;
}

// Returns its number.
uint32_t ThreadView::AddPage(uint32_t thread, uint32_t path, uint32_t next) {
  pages_.push_back({phase_, thread, path, next});
  cells_.AppendZeros(kLayers);
  return static_cast<uint32_t>(pages_.size() - 1);
}

}  // namespace rlscope::analysis
