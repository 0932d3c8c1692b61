#include "runtime/window.h"

#include "base/clock.h"
#include "runtime/hot.h"
#include "runtime/image.h"
#include "runtime/process.h"
#include "runtime/process_events.h"
#include "runtime/rare_record.h"
#include "trace/drain/control_page.h"
#include "trace/layout/record.h"

namespace rlscope::runtime {
namespace {

using trace::ControlPage;

const uint32_t no_changes = 0;

// What the state should be of a process that may record at all.
rlscope_state WantedState(const ControlPage& control) {
  const bool records = __atomic_load_n(&control.recording, __ATOMIC_ACQUIRE) == 1 &&
                       !process.stopped && !process.gave_up && !process.cut;
  if (!records) return RLSCOPE_PAUSED;
  if (!process.held) return RLSCOPE_RECORDING;
  return process.timed ? RLSCOPE_TIMED : RLSCOPE_PAUSED;
}

bool WantsToRecord(const ControlPage& control) { return WantedState(control) == RLSCOPE_RECORDING; }

void NoteCut(const ControlPage& control) {
  if (process.cut || __atomic_load_n(&control.cut, __ATOMIC_ACQUIRE) == 0) return;
  process.cut = true;
  CountLoss(trace::kCut, 1);
}

// Opens the image if this process may record at all. False: it may not.
bool EnsureImage() {
  if (image.page != nullptr) return true;
  if (State() == RLSCOPE_OFF || IsVforkChild() || !OpenImage()) return false;
  const uint32_t* changes = &image.control->window_changes;
  Store(&rlscope_process.window_word, changes);
  Store(&rlscope_process.window_seen, no_changes);
  NoteCut(*image.control);
  // Nothing was recorded before, so there is no window to end.
  if (!WantsToRecord(*image.control)) SetState(RLSCOPE_PAUSED);
  return true;
}

// The first process that counts iterations itself owns the run's iteration windows, and counts from
// the beginning; before that the first with automatic ones.
bool OwnsWindows(ControlPage* control, bool automatic) {
  const uint64_t own = static_cast<uint64_t>(process.began_ns) << 1 | !automatic;
  uint64_t owner = __atomic_load_n(&control->window_owner, __ATOMIC_ACQUIRE);
  while (owner == 0 || (!automatic && (owner & 1) == 0)) {
    if (__atomic_compare_exchange_n(&control->window_owner, &owner, own, false, __ATOMIC_ACQ_REL,
                                    __ATOMIC_ACQUIRE)) {
      __atomic_store_n(&control->iterations_begun, 0, __ATOMIC_RELEASE);
      return true;
    }
  }
  return owner == own;
}

struct Boundary {
  bool starts;
  bool stops;
  bool exits;
};

// The change of the window where iteration `begun`, counted from 1, begins.
Boundary BoundaryAt(const ControlPage& control, uint32_t begun) {
  const uint64_t done = begun - 1;
  const uint64_t last = static_cast<uint64_t>(control.delay_iterations) + control.iterations;
  Boundary boundary;
  boundary.starts = control.delay_iterations != 0 && done == control.delay_iterations;
  boundary.stops = control.iterations != 0 && done == last;
  const uint32_t exit_after = __atomic_load_n(&control.exit_after, __ATOMIC_RELAXED);
  boundary.exits = exit_after != 0 && done >= exit_after;
  return boundary;
}

bool IsIterationThread(bool automatic) {
  if (automatic && process.explicit_iterations) return false;
  // The thread of the automatic iterations has no say over the program's own.
  if (!automatic && !process.explicit_iterations) process.iteration_thread = nullptr;
  if (process.iteration_thread == nullptr) process.iteration_thread = &rlscope_self;
  if (process.iteration_thread != &rlscope_self) {
    if (!automatic) CountLoss(trace::kIterationIgnored, 1);
    return false;
  }
  if (!automatic) process.explicit_iterations = true;
  return true;
}

void SetWindow(ControlPage* control, bool on) {
  if (!trace::SetRecording(control, on)) return;
  LogEvent(static_cast<uint16_t>(trace::ProcessEvent::kWindow),
           on ? trace::kWindowStarts : trace::kWindowStops);
}

// What the record of an iteration says: id of kIteration. The one that ends here was seen in part.
uint32_t IterationFlags(bool automatic) {
  uint32_t unseen = __atomic_load_n(&process.gpu_unseen, __ATOMIC_RELAXED);
  while (!__atomic_compare_exchange_n(&process.gpu_unseen, &unseen,
                                      (unseen & kGpuUnseenNow) != 0 ? unseen : 0, false,
                                      __ATOMIC_RELAXED, __ATOMIC_RELAXED)) {
  }
  uint32_t flags = 0;
  if (automatic) flags |= trace::kIterationAutomatic;
  if (unseen != 0) flags |= trace::kIterationBeforeUnseen;
  return flags;
}

// The window opens before the iteration that begins it and closes after the record that ends the
// one before, so that it holds whole iterations.
int BeginIteration(bool automatic) {
  ControlPage* control = image.control;
  Boundary boundary = {};
  if (OwnsWindows(control, automatic)) {
    const uint32_t begun = __atomic_add_fetch(&control->iterations_begun, 1, __ATOMIC_ACQ_REL);
    boundary = BoundaryAt(*control, begun);
  }
  if (boundary.starts) SetWindow(control, true);
  FollowControl();
  // In this order: a call that begins in between has a number of this iteration.
  process.last_call_before = Load(process.last_call);
  if (State() == RLSCOPE_RECORDING)
    WriteRare(trace::kIteration, IterationFlags(automatic), ReadTicks());
  if (boundary.stops) SetWindow(control, false);
  FollowControl();
  return RLSCOPE_COUNTED | (boundary.exits ? RLSCOPE_ENDS_PROGRAM : 0);
}

// For the drainer, which sees the rings of other threads before it sees this one's.
void PublishChange(uint64_t ticks, bool starts) {
  trace::ProcessPage* page = image.page;
  const uint32_t number = page->window_changes;
  const uint64_t change = ticks << 1 | static_cast<uint64_t>(starts);
  __atomic_store_n(&page->window_change[number % trace::kWindowChanges], change, __ATOMIC_RELEASE);
  __atomic_store_n(&page->window_changes, number + 1, __ATOMIC_RELEASE);
}

// The process records neither before nor after it: no record tells of it.
void SwitchStopwatch(rlscope_state wanted) {
  if (State() == wanted || (State() != RLSCOPE_PAUSED && State() != RLSCOPE_TIMED)) return;
  if (wanted == RLSCOPE_TIMED) Store(&rlscope_process.window, rlscope_process.window + 1);
  SetState(wanted);
}

// Sets one of the reasons that decide on the state of this process.
void SetReason(bool* reason, bool applies) {
  if (State() == RLSCOPE_UNKNOWN) rlscope_initialize();
  LockGuard guard(&process_lock);
  if (State() == RLSCOPE_OFF || !EnsureImage()) return;
  FollowControl();
  *reason = applies;
  ApplyWindow(ReadTicks());
}

}  // namespace

void ApplyWindow(uint64_t ticks) {
  const rlscope_state wanted = WantedState(*image.control);
  const bool wants = wanted == RLSCOPE_RECORDING;
  if (!wants && State() != RLSCOPE_RECORDING) return SwitchStopwatch(wanted);
  if (wants && State() == RLSCOPE_RECORDING) return;
  if (wants) SetState(RLSCOPE_RECORDING);
  if (wants) Store(&rlscope_process.window, rlscope_process.window + 1);
  const uint32_t kind = wants ? trace::kWindowStart : trace::kWindowStop;
  const uint64_t written = WriteRare(kind, 0, ticks);
  if (written != 0) PublishChange(written, wants);
  if (wants) Store(&rlscope_process.window_start, written);
  if (wants) return;
  Store(&process.window_closed_ns, base::ReadMonotonicNs());
  SetState(RLSCOPE_PAUSED);
  SwitchStopwatch(wanted);
}

void FollowControl() {
  const ControlPage& control = *image.control;
  const uint32_t changes = __atomic_load_n(&control.window_changes, __ATOMIC_ACQUIRE);
  if (changes == rlscope_process.window_seen) return;
  Store(&rlscope_process.window_seen, changes);
  NoteCut(control);
  ApplyWindow(__atomic_load_n(&control.window_ticks, __ATOMIC_ACQUIRE));
}

void FollowNothing() {
  Store(&rlscope_process.window_word, &no_changes);
  Store(&rlscope_process.window_seen, no_changes);
}

void GiveUp() {
  if (process.gave_up) return;
  process.gave_up = true;
  CountLoss(trace::kNoDrainer, 1);
  ApplyWindow(ReadTicks());
}

}  // namespace rlscope::runtime

using rlscope::runtime::LockGuard;
using rlscope::runtime::process_lock;

int rlscope_follow(void) {
  namespace runtime = rlscope::runtime;
  if (runtime::State() == RLSCOPE_UNKNOWN) rlscope_initialize();
  if (runtime::State() == RLSCOPE_OFF) return 0;
  if (runtime::SharedPage() == nullptr || runtime::HasWindowChanged()) {
    LockGuard guard(&process_lock);
    if (runtime::State() == RLSCOPE_OFF || !runtime::EnsureImage()) return 0;
    runtime::FollowControl();
  }
  return runtime::State() == RLSCOPE_RECORDING;
}

void rlscope_start(void) { rlscope::runtime::SetReason(&rlscope::runtime::process.stopped, false); }

void rlscope_stop(void) { rlscope::runtime::SetReason(&rlscope::runtime::process.stopped, true); }

void rlscope_hold(int held) {
  rlscope::runtime::SetReason(&rlscope::runtime::process.held, held != 0);
}

void rlscope_time_operations(int timed) {
  rlscope::runtime::SetReason(&rlscope::runtime::process.timed, timed != 0);
}

int rlscope_iteration(int automatic) {
  namespace runtime = rlscope::runtime;
  rlscope_follow();
  LockGuard guard(&process_lock);
  if (runtime::State() == RLSCOPE_OFF || runtime::image.page == nullptr) return 0;
  if (!runtime::IsIterationThread(automatic != 0)) return 0;
  return runtime::BeginIteration(automatic != 0);
}
