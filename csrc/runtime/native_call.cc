// The rare halves of native calls: something was recorded inside, the window changed, the process
// forked, the ring is full, or the call was long.
#include "runtime/native_call.h"

#include "runtime/recorder.h"
#include "runtime/short_waits.h"

namespace {

namespace runtime = rlscope::runtime;
namespace trace = rlscope::trace;

// The begin of the call is in the trace, and in the window that is open.
bool IsOpenInWindow(uint32_t call) {
  constexpr uint32_t kMask = UINT32_MAX >> 1;
  return (call & 1) != 0 && call >> 1 == (runtime::Load(rlscope_process.window) & kMask);
}

}  // namespace

void rlscope_end_call(uint64_t end_ticks) {
  struct rlscope_thread* self = &rlscope_self;
  const uint64_t start = self->call_start;
  const uint32_t call = self->call;
  self->call_start = 0;
  self->call = 0;
  // A fork child, or another session: nothing is known of the call there.
  if (self->generation != runtime::Load(rlscope_process.generation)) return;
  if (start != 0 && runtime::CountsShortWaits(*self)) runtime::EndShortWaits(self);
  // Held back over the end of its window, it is still written: readers cut it there.
  if (start != 0) return runtime::WriteCall(trace::IdOf(call), start, end_ticks);
  if (IsOpenInWindow(call) && runtime::IsRecording()) runtime::Write(trace::kCallEnd, 0);
}

void rlscope_record_wait(uint32_t word, uint64_t start_ticks, uint64_t end_ticks) {
  const struct rlscope_thread* self = &rlscope_self;
  if (self->ring == nullptr || self->generation != runtime::Load(rlscope_process.generation)) {
    return;
  }
  if (runtime::IsRecording()) runtime::WriteCall(trace::IdOf(word), start_ticks, end_ticks);
}

void rlscope_begin_callback(struct rlscope_callback* callback) {
  struct rlscope_thread* self = &rlscope_self;
  callback->recorded = 0;
  callback->held = 0;
  if (!runtime::IsRecording()) {
    callback->held = self->call_start;
  } else if (runtime::HasRoom()) {
    runtime::Publish(trace::kCallbackBegin, 0, runtime::ReadTicks(), 0);
    callback->recorded = 1;
  }
  callback->call = self->call;
  callback->window = runtime::Load(rlscope_process.window);
  callback->generation = runtime::Load(rlscope_process.generation);
  self->call_start = 0;
  self->call = 0;
}

void rlscope_end_callback(const struct rlscope_callback* callback) {
  struct rlscope_thread* self = &rlscope_self;
  const bool recording = runtime::IsRecording();
  if (callback->generation != runtime::Load(rlscope_process.generation)) return;
  const bool same_window = callback->window == runtime::Load(rlscope_process.window);
  if (callback->recorded != 0 && same_window && recording) {
    runtime::Write(trace::kCallbackEnd, 0);
  }
  self->call = callback->call;
  self->call_start = same_window ? callback->held : 0;  // nothing was recorded meanwhile
}
