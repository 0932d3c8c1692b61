#include "capture/gaps.h"

#include "base/clock.h"
#include "capture/note.h"
#include "runtime/image.h"

namespace rlscope::capture {
namespace {

constexpr int kPatience = 3;  // flushes, 600 ms

struct Gaps {
  uint64_t count;
  int64_t duration_ns;
  int64_t since_ns;  // 0: none is open
  bool displaced;    // the open one was not asked for
};
Gaps gaps;

struct Watch {
  int64_t synchronized_ns;
  int silent;  // flushes since then; 0: none is waited for
};
Watch watch;
uint64_t records_before = 0;       // at the last flush
uint32_t awaits = 0;               // AwaitsSynchronization()
int64_t last_synchronization = 0;  // CLOCK_MONOTONIC; 0: none since it was asked for

void Describe() {
  Note note;
  note.Number("count", gaps.count);
  note.Number("duration_ns", static_cast<uint64_t>(gaps.duration_ns));
  if (gaps.since_ns != 0) note.Number("since_ns", static_cast<uint64_t>(gaps.since_ns));
  note.Write("cuda_gaps");
}

void Begin(trace::Loss kind, int64_t since_ns) {
  if (gaps.since_ns != 0) return;
  gaps.since_ns = since_ns;
  gaps.count++;
  runtime::CountLoss(kind, 1);
  Describe();
}

// A synchronisation that was noticed since the last flush: its record is in this one, or late.
void StartWatch() {
  const int64_t noticed_ns = __atomic_exchange_n(&last_synchronization, 0, __ATOMIC_ACQ_REL);
  const bool records_came_before = records_before != 0;  // else they are refused, or unused
  if (noticed_ns == 0 || watch.silent != 0 || !records_came_before) return;
  watch = {noticed_ns, 1};
}

}  // namespace

void BeginGap(trace::Loss kind) { Begin(kind, base::ReadMonotonicNs()); }

void EndGap() {
  if (gaps.since_ns == 0) return;
  gaps.duration_ns += base::ReadMonotonicNs() - gaps.since_ns;
  gaps.since_ns = 0;
  gaps.displaced = false;
  watch = Watch();
  Describe();
}

void CheckRecords(uint64_t records) {
  StartWatch();
  if (records != records_before) {
    watch.silent = 0;
    if (gaps.displaced) EndGap();
  } else if (watch.silent != 0 && ++watch.silent > kPatience && !gaps.displaced) {
    gaps.displaced = true;
    Begin(trace::kCudaDisplaced, watch.synchronized_ns);
  }
  records_before = records;
  __atomic_store_n(&awaits, 1, __ATOMIC_RELEASE);
}

bool AwaitsSynchronization() { return __atomic_load_n(&awaits, __ATOMIC_RELAXED) != 0; }

void NoticeSynchronization() {
  __atomic_store_n(&awaits, 0, __ATOMIC_RELAXED);
  __atomic_store_n(&last_synchronization, base::ReadMonotonicNs(), __ATOMIC_RELEASE);
}

void ForgetGaps() {
  gaps = Gaps();
  watch = Watch();
  records_before = 0;
  last_synchronization = 0;
  awaits = 0;
}

}  // namespace rlscope::capture
