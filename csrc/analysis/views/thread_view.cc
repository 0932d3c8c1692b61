#include "analysis/views/thread_view.h"

namespace rlscope::analysis {

ThreadView::ThreadView(size_t streams, const KeyLayout& layout, int64_t start_ns)
    : layout_(layout), clock_{start_ns}, threads_(streams), cells_of_path_(streams) {
  threads_[kGpuStream].is_gpu = EveryState(-1);
  AddPage(kGpuStream, kUnknownPath, 0);
}

// Without a branch on whose key it is: that is a coin toss.
void ThreadView::Take(const uint64_t* keys, const uint64_t* end, int64_t epoch_start_ns) {
  const KeyLayout layout = layout_;
  if (keys != end && layout.StreamOf(*keys) == kGpuStream &&
      epoch_start_ns + layout.TimeOf(*keys) == clock_.now_ns) {
    ChangeGpuWithPhase();
    ++keys;
  }
  const ByGpu gpu_counts = gpu_counts_;
  GpuClock clock = clock_;
  ByGpu gpu_state = gpu_state_;
  for (; keys != end; ++keys) {
    const uint32_t stream = layout.StreamOf(*keys);
    clock.AdvanceTo(epoch_start_ns + layout.TimeOf(*keys));
    const ByGpu is_gpu = threads_[stream].is_gpu;
    gpu_state ^= is_gpu;
    clock.state ^= is_gpu & gpu_counts;
    Change(stream, StateOf(*keys), clock);
  }
  clock_ = clock;
  gpu_state_ = gpu_state;
}

// The GPU's key is the first of its time, so only a change of the phase can have come before it:
// what began with that begins in the GPU's new state.
void ThreadView::ChangeGpuWithPhase() {
  gpu_state_ = ~gpu_state_;
  clock_.state ^= gpu_counts_;
  for (Thread& thread : threads_) {
    if (thread.known_path != kUnknownPath || !IsFresh(thread, clock_)) continue;
    Open(&thread, thread.cell, thread.counted, clock_);
  }
}

void ThreadView::SetPhase(uint32_t phase, int64_t now, bool in_gap) {
  clock_.AdvanceTo(now);
  clock_.state = in_gap ? kNotBusy : gpu_state_;
  gpu_counts_ = EveryState(in_gap ? 0 : -1);
  if (phase == phase_) return;
  phase_ = phase;
  for (uint32_t stream = 0; stream < threads_.size(); ++stream) {
    Thread* thread = &threads_[stream];
    const uint32_t field = thread->cell % kFields;
    cells_of_path_[stream].clear();
    thread->known_path = kUnknownPath;
    if (field >= kLayers) continue;
    Rewind(thread, clock_);
    Close(thread, clock_);
    thread->counted = thread->cell;
    const uint32_t path = pages_[thread->cells / kFields].path;
    thread->cells = FindCells(stream, path);
    Open(thread, thread->cells + field, thread->counted, clock_);
  }
}

void ThreadView::Finish(int64_t now) {
  clock_.AdvanceTo(now);
  for (Thread& thread : threads_) {
    Rewind(&thread, clock_);
    Close(&thread, clock_);
  }
}

void ThreadView::SetPath(Thread* thread, uint32_t stream, uint32_t path, const GpuClock& clock) {
  Rewind(thread, clock);
  thread->cells = FindCells(stream, path);
  thread->known_path = path;
}

// No time passed since its last change.
bool ThreadView::IsFresh(const Thread& thread, const GpuClock& clock) {
  const ByGpu gained_ns = clock.gained_ns - thread.gained_ns;
  return gained_ns[0] == 0 && gained_ns[1] == 0;
}

// Takes back a change of the phase after which no time passed. (A thread's own keys are apart.)
void ThreadView::Rewind(Thread* thread, const GpuClock& clock) {
  if (!IsFresh(*thread, clock)) return;
  thread->cell = thread->counted;
  thread->began = clock.began;
}

uint32_t ThreadView::FindCells(uint32_t stream, uint32_t path) {
  std::vector<uint32_t>* known = &cells_of_path_[stream];
  if (path < known->size() && (*known)[path] != 0) return (*known)[path];
  PageIndex* index = index_.FindOrAdd((uint64_t{stream} << 32 | path) + 1);
  uint32_t page = index->first;
  while (page != 0 && pages_[page].phase != phase_) page = pages_[page].next;
  if (page == 0) page = index->first = AddPage(stream, path, index->first);
  if (path >= known->size()) known->resize(path + 1);
  return (*known)[path] = page * kFields;
}

// Returns its number.
uint32_t ThreadView::AddPage(uint32_t stream, uint32_t path, uint32_t next) {
  pages_.push_back({phase_, stream, path, next});
  cells_.AppendZeros(kFields);
  return static_cast<uint32_t>(pages_.size() - 1);
}

// ---- archive ------------------------------------------------------------------------------------

namespace {

void Carry(trace::Archive* archive, ByGpu* numbers) {
  for (int i = 0; i < 2; ++i) {
    int64_t number = (*numbers)[i];
    archive->Sum(&number);
    (*numbers)[i] = number;
  }
}

// 0 or -1.
void CarryMask(trace::Archive* archive, ByGpu* mask) {
  for (int i = 0; i < 2; ++i) {
    bool is_set = (*mask)[i] != 0;
    archive->Number(&is_set);
    (*mask)[i] = is_set ? -1 : 0;
  }
}

}  // namespace

// Nobody's page is there already.
void ThreadView::CarryPages(trace::Archive* archive, const ArchivedStreams& streams, uint32_t paths,
                            size_t phases) {
  const size_t count = archive->Count(pages_.size());
  for (uint32_t number = 0; number < count && archive->ok(); ++number) {
    Page page = number < pages_.size() ? pages_[number] : Page();
    if (number > kNobodysPage) {
      archive->Below(&page.phase, phases);
      streams.Carry(archive, &page.stream);
      archive->Below(&page.path, paths);
      if (page.stream == kGpuStream) archive->Fail();
    }
    if (!archive->ok()) return;
    if (number == pages_.size()) {
      PageIndex* const index = index_.FindOrAdd((uint64_t{page.stream} << 32 | page.path) + 1);
      pages_.push_back({page.phase, page.stream, page.path, index->first});
      cells_.AppendZeros(kFields);
      index->first = number;
    }
    for (uint32_t field = 0; field < kFields; ++field) {
      ThreadCell* const cell = &cells_[number * kFields + field];
      analysis::Carry(archive, &cell->duration_ns);
      analysis::Carry(archive, &cell->count);
    }
  }
}

void ThreadView::Carry(trace::Archive* archive, const ArchivedStreams& streams, uint32_t paths,
                       size_t phases) {
  CarryPages(archive, streams, paths, phases);
  archive->Time(&clock_.now_ns);
  analysis::Carry(archive, &clock_.gained_ns);
  analysis::Carry(archive, &clock_.began);
  CarryMask(archive, &clock_.state);
  CarryMask(archive, &clock_.last);
  CarryMask(archive, &gpu_state_);
  CarryMask(archive, &gpu_counts_);
  archive->Below(&phase_, phases);
  streams.CarryEach(archive, [&](uint32_t stream) {
    Thread& thread = threads_[stream];
    analysis::Carry(archive, &thread.gained_ns);
    analysis::Carry(archive, &thread.began);
    archive->Below(&thread.cell, cells_.size());
    archive->Below(&thread.cells, cells_.size());
    archive->Number(&thread.known_path);
    archive->Below(&thread.counted, cells_.size());
    const bool is_nobodys = thread.cells == 0 && thread.cell % kFields < kLayers;
    if (thread.cells % kFields != 0 || is_nobodys) return archive->Fail();
    cells_of_path_[stream].clear();
  });
}

}  // namespace rlscope::analysis
