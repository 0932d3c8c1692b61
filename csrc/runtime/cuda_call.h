// CUDA calls as records: the outermost call of a thread is one record in the ring of its CUDA
// calls. A call inside it (a driver call of a runtime call) belongs to it.
#ifndef RLSCOPE_RUNTIME_CUDA_CALL_H_
#define RLSCOPE_RUNTIME_CUDA_CALL_H_

#include <stdint.h>

#include "runtime/call_sites.h"
#include "runtime/hot.h"
#include "runtime/interval_writer.h"
#include "runtime/rings.h"
#include "trace/layout/cuda_record.h"

namespace rlscope::runtime {

// The calling thread's; null while it made no call in this image.
inline __attribute__((always_inline)) IntervalWriter* CallWriter() {
  const struct rlscope_thread* self = &rlscope_self;
  if (self->ring == nullptr || self->generation != Load(rlscope_process.generation)) return nullptr;
  return static_cast<Ring*>(self->ring)->calls;
}

// True: EndCudaCall() of this thread must follow, when the call returns.
inline __attribute__((always_inline)) bool BeginCudaCall() {
  if (!IsRecording()) return false;
  IntervalWriter* writer = CallWriter();
  if (__builtin_expect(writer == nullptr, 0)) {
    writer = MakeCallWriter();
    if (writer == nullptr) return false;
  }
  const bool is_other =
      writer->window != Load(rlscope_process.window) || writer->session != Load(cuda_session);
  if (__builtin_expect(is_other, 0)) ForgetOpenCall(writer);
  if (writer->depth++ == 0) writer->start = ReadTicks();
  return true;
}

// The stack of the calling thread, which is in a call.
inline __attribute__((always_inline)) uint32_t FindCallSite(IntervalWriter* writer) {
  const auto find = Load(find_call_site);
  return find == nullptr ? 0 : find(&writer->sites);
}

// Ends what BeginCudaCall() of this thread began; ignored when a window began in between. `name()`
// is asked for after the clock: a function's first call learns it, which takes microseconds.
template <typename Name>
inline __attribute__((always_inline)) void EndCudaCall(const Name& name, uint32_t correlation,
                                                       uint32_t context, uint32_t status) {
  IntervalWriter* writer = CallWriter();
  if (writer == nullptr || writer->depth == 0 || --writer->depth != 0) return;
  const uint64_t duration = ReadTicks() - writer->start;
  if (__builtin_expect(writer->session != Load(cuda_session), 0)) {
    CountCutCall();
    correlation = 0;  // numbers of another session
  }
  const uint32_t name_id = name();
  const uint32_t site = FindCallSite(writer);
  const uint32_t kind = site == 0 ? trace::kCudaCall : trace::kLineCudaCall;
  const uint32_t slots = trace::SlotsOf(kind);
  struct rlscope_thread* self = &writer->self;
  if (__builtin_expect(self->limit - self->cursor < slots, 0) && !MakeIntervalRoom(writer, slots)) {
    return;
  }
  struct rlscope_slot* first = self->cursor;
  const uint32_t continued = trace::MakeWord(trace::kContinued, 0, self->lap);
  first[1].tsc = trace::CudaCallPayload(correlation, context);
  first[1].duration = trace::CudaCallMore(duration, status);
  __atomic_store_n(&first[1].word, continued, __ATOMIC_RELAXED);
  if (site != 0) {
    first[2].tsc = site;
    first[2].duration = 0;
    __atomic_store_n(&first[2].word, continued, __ATOMIC_RELAXED);
  }
  PublishTo(self, kind, name_id, writer->start, static_cast<uint32_t>(duration));
  self->cursor = first + slots;
}

// Whether the calling thread is in a recorded call.
inline bool IsInCudaCall() {
  const IntervalWriter* writer = CallWriter();
  return writer != nullptr && writer->depth != 0;
}

}  // namespace rlscope::runtime

#endif  // RLSCOPE_RUNTIME_CUDA_CALL_H_
