#include "cupti/gaps.h"

#include "base/clock.h"
#include "cupti/note.h"
#include "runtime/image.h"

namespace rlscope::cupti {
namespace {

constexpr int kPatience = 3;  // flushes after a synchronisation: 600 ms

struct Gaps {
  uint64_t count;
  int64_t duration_ns;
  int64_t since_ns;  // 0: none is open
  bool displaced;    // the open one was not asked for
};
Gaps gaps;

struct Watch {
  int64_t synchronized_ns;  // 0: none is waited for
  uint64_t records;         // that had been read when the synchronisation began
  int silent;               // flushes since then
};
Watch watch;
bool expects_records = false;
uint64_t records_before = 0;  // at the last flush

// What the program's threads did.
uint32_t has_launched = 0;         // without a launch, a synchronisation may leave no record
uint64_t records_at_begin = 0;     // of the synchronisation
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
  Describe();  // opens the image that counts the loss, if this is the first that is known of it
  runtime::CountLoss(kind, 1);
}

bool MayExpect() {
  return expects_records &&
         (records_before != 0 || __atomic_load_n(&has_launched, __ATOMIC_RELAXED) != 0);
}

// A synchronisation that was noticed since the last flush: its record is in this one, or late.
void StartWatch() {
  const int64_t noticed_ns = __atomic_exchange_n(&last_synchronization, 0, __ATOMIC_ACQ_REL);
  if (noticed_ns == 0 || watch.synchronized_ns != 0 || !MayExpect()) return;
  watch = {noticed_ns, __atomic_load_n(&records_at_begin, __ATOMIC_RELAXED), 0};
}

// `patience`: how many flushes without a record are none too many.
void CheckWatch(uint64_t records, int patience) {
  if (watch.synchronized_ns == 0) return;
  if (records != watch.records) {
    watch = Watch();
  } else if (++watch.silent > patience && !gaps.displaced) {
    gaps.displaced = true;
    Begin(trace::kCudaDisplaced, watch.synchronized_ns);
  }
}

}  // namespace

uint32_t awaits_synchronization = 0;

void BeginGap(trace::Loss kind, int64_t since_ns) { Begin(kind, since_ns); }

void EndGap() {
  if (gaps.since_ns == 0) return;
  gaps.duration_ns += base::ReadMonotonicNs() - gaps.since_ns;
  gaps.since_ns = 0;
  gaps.displaced = false;
  watch = Watch();
  Describe();
}

bool IsDisplaced() { return gaps.since_ns != 0 && gaps.displaced; }

void ExpectRecords(bool expected) {
  expects_records = expected;
  __atomic_store_n(&awaits_synchronization, expected ? 1 : 0, __ATOMIC_RELEASE);
}

void CheckRecords(uint64_t records, bool is_last) {
  StartWatch();
  CheckWatch(records, is_last ? 0 : kPatience);
  if (records != records_before && gaps.displaced) EndGap();
  records_before = records;
  __atomic_store_n(&awaits_synchronization, 1, __ATOMIC_RELEASE);
}

void NoticeLaunch() { __atomic_store_n(&has_launched, 1, __ATOMIC_RELAXED); }

void NoticeSynchronization(uint64_t records) {
  __atomic_store_n(&awaits_synchronization, 0, __ATOMIC_RELAXED);
  __atomic_store_n(&records_at_begin, records, __ATOMIC_RELAXED);
  __atomic_store_n(&last_synchronization, base::ReadMonotonicNs(), __ATOMIC_RELEASE);
}

void ForgetSynchronization() {
  __atomic_store_n(&last_synchronization, 0, __ATOMIC_RELEASE);
  watch = Watch();
}

void ForgetGaps() {
  gaps = Gaps();
  watch = Watch();
  expects_records = false;
  records_before = records_at_begin = 0;
  last_synchronization = 0;
  awaits_synchronization = has_launched = 0;
}

}  // namespace rlscope::cupti
