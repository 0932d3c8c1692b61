// Time of each thread by phase, operation, layer, and the process's GPU state.
//
// A thread's cell only changes when the thread's state does, so the sweep keeps one clock per GPU
// state for the whole process; a thread that changes takes what the clocks gained since its last
// change. Stretches of time are counted the same way.
#ifndef RLSCOPE_ANALYSIS_VIEWS_THREAD_VIEW_H_
#define RLSCOPE_ANALYSIS_VIEWS_THREAD_VIEW_H_

#include <stdint.h>

#include <vector>

#include "analysis/archive/archived_streams.h"
#include "analysis/keys/key.h"
#include "analysis/spill/spill_table.h"
#include "analysis/threads/call_counts.h"

namespace rlscope::analysis {

// One number for each state of the GPU, in one register: [0] not busy, [1] busy. A mask holds -1
// for the state that it means.
using ByGpu = int64_t __attribute__((vector_size(16)));
constexpr ByGpu kNotBusy = {-1, 0};
constexpr ByGpu kBusy = {0, -1};

inline ByGpu EveryState(int64_t value) { return ByGpu{value, value}; }

// The small part, which the loop over keys keeps in registers.
struct GpuClock {
  int64_t now_ns;  // the clock runs up to here
  ByGpu gained_ns = {0, 0};
  ByGpu began = {0, 0};    // stretches that began with a change of the state
  ByGpu state = kNotBusy;  // mask: from now on
  ByGpu last = kNotBusy;   // mask: of the last nonzero time

  // Only a state that lasts begins a stretch.
  void AdvanceTo(int64_t time_ns) {
    const ByGpu elapsed_ns = EveryState(time_ns - now_ns);
    const ByGpu passed = elapsed_ns != 0;
    gained_ns += elapsed_ns & state;
    began -= state & ~last & passed;
    last = (state & passed) | (last & ~passed);
    now_ns = time_ns;
  }
};

struct ThreadCell {
  ByGpu duration_ns;
  ByGpu count;
};

class ThreadView {
 public:
  // The GPU's stream is among them: it is never in a layer.
  ThreadView(size_t streams, const KeyLayout& layout, int64_t start_ns);

  // Takes the next keys, whose times count from `epoch_start_ns`.
  void Take(const uint64_t* keys, const uint64_t* end, int64_t epoch_start_ns);
  // From `now` on: all threads go on in another phase. In a gap the GPU is not busy.
  void SetPhase(uint32_t phase, int64_t now, bool in_gap);
  // No keys come before `now` any more.
  void Finish(int64_t now);

  void Carry(trace::Archive* archive, const ArchivedStreams& streams, uint32_t paths,
             size_t phases);

  // Calls function(thread, phase, path, layer, gpu_busy, duration_ns, count) for every row; threads
  // by their place in the input.
  template <class Function>
  void ForEachRow(Function function) const {
    for (uint32_t number = kNobodysPage + 1; number < pages_.size(); ++number) {
      const Page& page = pages_[number];
      for (uint32_t layer = 0; layer < kLayers; ++layer) {
        const ThreadCell& cell = cells_[number * kFields + layer];
        for (int gpu = 0; gpu < 2; ++gpu) {
          if (cell.duration_ns[gpu] == 0) continue;
          function(page.stream - kFirstThreadStream, page.phase, page.path, layer, gpu == 1,
                   cell.duration_ns[gpu], cell.count[gpu]);
        }
      }
    }
  }

 private:
  static constexpr uint32_t kUnknownPath = UINT32_MAX;
  // A page holds a cell for every field, also for those that are no layer.
  static constexpr uint32_t kFields = kFieldMask + 1;
  static constexpr uint32_t kNobodysPage = 0;  // takes the time before a thread's first key

  struct Page {
    uint32_t phase;
    uint32_t stream;
    uint32_t path;
    uint32_t next;  // of the same stream and path, another phase; 0 none
  };
  struct PageIndex {
    uint64_t key;  // (stream << 32 | path) + 1
    uint32_t first;
  };
  // A cache line of what every change needs.
  struct alignas(64) Thread {
    // The clock at the last change; a stretch less where one began with that change.
    ByGpu gained_ns = {0, 0};
    ByGpu began = {0, 0};
    uint32_t cell = kAbsent;  // where its time goes, and
    uint32_t cells = 0;       // first cell of its path
    // Its path, if the next key of that path may go on with `cells`; not when the phase changed.
    uint32_t known_path = kUnknownPath;
    uint32_t counted = kAbsent;  // cell before the last change of the phase
    ByGpu is_gpu = {0, 0};       // mask: all ones for the GPU's stream
  };

  void Close(Thread* thread, const GpuClock& clock) {
    ThreadCell* cell = &cells_[thread->cell];
    cell->duration_ns += clock.gained_ns - thread->gained_ns;
    cell->count += clock.began - thread->began;
  }

  // The first stretch begins here, unless the GPU's state changes with the thread's: then it begins
  // with that change.
  static void Open(Thread* thread, uint32_t cell, uint32_t before, const GpuClock& clock) {
    const ByGpu begins = EveryState(-static_cast<int64_t>(cell != before));
    thread->gained_ns = clock.gained_ns;
    thread->began = clock.began + (clock.state & clock.last & begins);
    thread->cell = cell;
  }

  void Change(uint32_t stream, uint32_t state, const GpuClock& clock) {
    Thread* thread = &threads_[stream];
    if (__builtin_expect(PathOf(state) != thread->known_path, 0)) {
      SetPath(thread, stream, PathOf(state), clock);
    }
    Close(thread, clock);
    Open(thread, thread->cells + FieldOf(state), thread->cell, clock);
  }

  void SetPath(Thread* thread, uint32_t stream, uint32_t path, const GpuClock& clock);
  void ChangeGpuWithPhase();
  void CarryPages(trace::Archive* archive, const ArchivedStreams& streams, uint32_t paths,
                  size_t phases);
  static bool IsFresh(const Thread& thread, const GpuClock& clock);
  static void Rewind(Thread* thread, const GpuClock& clock);
  uint32_t FindCells(uint32_t stream, uint32_t path);
  uint32_t AddPage(uint32_t stream, uint32_t path, uint32_t next);

  const KeyLayout layout_;
  GpuClock clock_;
  ByGpu gpu_state_ = kNotBusy;  // mask; also in a gap
  ByGpu gpu_counts_ = {0, 0};   // mask: none in a gap
  uint32_t phase_ = 0;
  std::vector<Thread> threads_;
  // By stream and path: first cells in the phase that runs; 0 not known yet.
  std::vector<std::vector<uint32_t>> cells_of_path_;
  SpillVector<Page> pages_;
  SpillVector<ThreadCell> cells_;  // kFields a page
  SpillTable<PageIndex> index_;
};

}  // namespace rlscope::analysis

#endif  // RLSCOPE_ANALYSIS_VIEWS_THREAD_VIEW_H_
