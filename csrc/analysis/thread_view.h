// Time of each thread by phase, operation, layer, and the process's GPU state.
//
// A thread's cell only changes when the thread's state does, so the sweep keeps one clock per GPU
// state for the whole process; a thread that changes takes what the clocks gained since its last
// change. Stretches are found the same way: the clock numbers the changes of the GPU state (flips)
// and remembers when the last of them were.
#ifndef RLSCOPE_ANALYSIS_THREAD_VIEW_H_
#define RLSCOPE_ANALYSIS_THREAD_VIEW_H_

#include <stdint.h>

#include <vector>

#include "analysis/call_counts.h"
#include "analysis/key.h"
#include "analysis/spill_table.h"

namespace rlscope::analysis {

// Time that passed while a GPU worked. The small part, which the loop over keys keeps in registers.
struct GpuClock {
  // In 32 KiB, which the first-level cache holds. A block of keys adds at most a quarter.
  static constexpr uint64_t kRememberedFlips = 1 << 12;

  int64_t now_ns;  // the clock runs up to here
  uint32_t busy_streams = 0;
  int64_t busy_ns = 0;
  uint64_t flips = 0;          // stretches of one state that began, but the first
  uint32_t last_gpu = 0;       // state of the last nonzero time
  int64_t* flip_ns = nullptr;  // when flip i was: [i % kRememberedFlips]

  void AdvanceTo(int64_t time_ns, bool gpu_busy) {
    const int64_t elapsed_ns = time_ns - now_ns;
    const bool flip = (gpu_busy != last_gpu) & (elapsed_ns != 0);
    flip_ns[(flips + 1) % kRememberedFlips] = now_ns;
    flips += flip;
    last_gpu ^= flip;
    busy_ns += elapsed_ns & -static_cast<int64_t>(gpu_busy);
    now_ns = time_ns;
  }
};

struct ThreadCell {
  int64_t duration_ns[2];  // by GPU state
  uint64_t count[2];
};

class ThreadView {
 public:
  // Streams that are no threads may be among them: they are never in a layer.
  ThreadView(size_t streams, const KeyLayout& layout, int64_t start_ns);

  // Takes the next keys, whose times count from `epoch_start_ns`. In a gap the GPU is not busy.
  void Take(const uint64_t* keys, const uint64_t* end, int64_t epoch_start_ns, bool in_gap);
  // From `now` on: all threads go on in another phase, a gap may begin or end.
  void SetPhase(uint32_t phase, int64_t now, bool was_gap);
  // No keys come before `now` any more.
  void Finish(int64_t now, bool was_gap);

  // Calls function(thread, phase, path, layer, gpu_busy, duration_ns, count) for every row.
  template <class Function>
  void ForEachRow(Function function) const {
    for (uint32_t number = 0; number < pages_.size(); ++number) {
      const Page& page = pages_[number];
      if (page.path == kAbsentPath) continue;
      for (uint32_t layer = 0; layer < kLayers; ++layer) {
        const ThreadCell& cell = cells_[number * kLayers + layer];
        for (int gpu = 0; gpu < 2; ++gpu) {
          if (cell.duration_ns[gpu] == 0) continue;
          function(page.thread, page.phase, page.path, layer, gpu == 1, cell.duration_ns[gpu],
                   cell.count[gpu]);
        }
      }
    }
  }

 private:
  static constexpr uint32_t kAbsentPath = UINT32_MAX;
  // Pages that take the time of absent threads: as many as hold a cell for every field.
  static constexpr uint32_t kAbsentPages = 2;

  struct Page {
    uint32_t phase;
    uint32_t thread;
    uint32_t path;
    uint32_t next;  // of the same thread and path, another phase; 0 none
  };
  struct PageIndex {
    uint64_t key;  // (thread << 32 | path) + 1
    uint32_t first;
  };
  // A cache line of what every change needs.
  struct alignas(64) Thread {
    uint32_t path = kAbsentPath;
    uint32_t cells = 0;    // first cell of its path
    uint32_t cell = 0;     // where its time goes
    uint32_t counted = 0;  // cell of the last nonzero time
    // The clock at the last change.
    int64_t since_ns = 0;
    int64_t busy_ns = 0;
    uint64_t flips = 0;
    uint32_t last_gpu = 0;
  };

  // The stretches of the time since the thread's last change: the first goes on in the GPU state of
  // before, unless the state flipped at that very time; the others began at flips, by turns.
  void Close(Thread* thread, const GpuClock& clock) {
    const int64_t elapsed_ns = clock.now_ns - thread->since_ns;
    if (elapsed_ns == 0) return;
    const int64_t busy_ns = clock.busy_ns - thread->busy_ns;
    const uint64_t flips = clock.flips - thread->flips;
    // Up to one flip, the first stretch is all the time in the GPU state of before.
    uint64_t went_on = (thread->last_gpu != 0 ? busy_ns : elapsed_ns - busy_ns) != 0;
    if (flips > 1)
      went_on = clock.flip_ns[(thread->flips + 1) % GpuClock::kRememberedFlips] > thread->since_ns;
    const uint64_t other_cell = thread->cell != thread->counted;
    ThreadCell* cell = &cells_[thread->cell];
    cell->duration_ns[0] += elapsed_ns - busy_ns;
    cell->duration_ns[1] += busy_ns;
    cell->count[thread->last_gpu] += flips / 2 + (went_on & other_cell);
    cell->count[1 - thread->last_gpu] += (flips + 1) / 2;
    thread->counted = thread->cell;
    thread->since_ns = clock.now_ns;
    thread->busy_ns = clock.busy_ns;
    thread->flips = clock.flips;
    thread->last_gpu = clock.last_gpu;
  }

  void Change(uint32_t stream, uint32_t state, const GpuClock& clock) {
    Thread* thread = &threads_[stream];
    Close(thread, clock);
    const uint32_t field = FieldOf(state);
    const uint32_t path = field < kLayers ? PathOf(state) : kAbsentPath;
    if (__builtin_expect(path != thread->path, 0)) {
      thread->path = path;
      thread->cells = FindCells(stream, path);
    }
    thread->cell = thread->cells + field;
  }
  void Settle();

  uint32_t FindCells(uint32_t thread, uint32_t path);
  uint32_t AddPage(uint32_t thread, uint32_t path, uint32_t next);

  const KeyLayout layout_;
  GpuClock clock_;
  std::vector<int64_t> flip_ns_;
  uint64_t settled_flips_ = 0;
  uint32_t phase_ = 0;
  std::vector<Thread> threads_;
  // By thread and path: first cells in the phase that runs; 0 not known yet.
  std::vector<std::vector<uint32_t>> cells_of_path_;
  SpillVector<Page> pages_;
  SpillVector<ThreadCell> cells_;  // kLayers a page
  SpillTable<PageIndex> index_;
};

}  // namespace rlscope::analysis

#endif  // RLSCOPE_ANALYSIS_THREAD_VIEW_H_
