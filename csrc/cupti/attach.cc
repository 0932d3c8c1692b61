#include "cupti/attach.h"

#include <errno.h>
#include <string.h>

#include "base/clock.h"
#include "base/env.h"
#include "cupti/callbacks.h"
#include "cupti/flusher.h"
#include "cupti/gpu_window.h"
#include "cupti/library.h"
#include "cupti/note.h"
#include "cupti/subscription.h"
#include "runtime/first_record.h"
#include "runtime/process.h"
#include "runtime/rlscope.h"

extern "C" {
int __cxa_atexit(void (*)(void*), void*, void*) __attribute__((weak));
int __cxa_at_quick_exit(void (*)(void*), void*) __attribute__((weak));
}

namespace rlscope::cupti {
namespace {

constexpr uint32_t kFirstKnown = 17;   // CUPTI 11.7
constexpr uint32_t kLastOfFirst = 28;  // 12.9
constexpr uint32_t kFirstOfSecond = 130000;
constexpr uint32_t kEndOfSecond = 140000;

bool IsKnown(uint32_t version) {
  return (version >= kFirstKnown && version <= kLastOfFirst) ||
         (version >= kFirstOfSecond && version < kEndOfSecond);
}

// Whether rlscope decides in the run if there are windows.
bool IsShareChosen() { return IsEnv("RLSCOPE_GPU_SHARE", "auto"); }

// CUPTI with all of it ours; null, and the note says why.
const Cupti* Begin(Taken taken, Note* note) {
  const Cupti& cupti = LoadCupti();
  if (cupti.path[0] != '\0') note->Text("library", cupti.path);
  if (cupti.problem[0] != '\0') {
    note->Problem(Missing::kAll, "CUDA is not recorded", cupti.problem, 0);
    return nullptr;
  }
  // Which GPUs its device numbers mean.
  const char* visible = base::GetEnv("CUDA_VISIBLE_DEVICES");
  if (visible != nullptr) note->Text("visible_devices", visible);
  const char* order = base::GetEnv("CUDA_DEVICE_ORDER");
  if (order != nullptr) note->Text("device_order", order);
  if (cupti.version != 0) note->Number("version", cupti.version);
  if (taken == Taken::kInsideInit && WantsWindows(cupti, note)) {
    UseGpuWindows();
    // Graphs must be recorded alike in all windows, and are older than most. With auto there may be
    // no window, and there is none where a graph was traced.
    if (!IsShareChosen()) taken = Taken::kLater;
  }
  if (!Subscribe(cupti, &OnCallback, taken, note)) return nullptr;
  if (!IsKnown(cupti.version))
    note->Problem(Missing::kNothingWhole, "rlscope does not know this version of CUPTI", nullptr,
                  0);
  return &cupti;
}

void AtExit(void*) { EndCupti(); }

void EndAtExit() {
  if (__cxa_atexit != nullptr) __cxa_atexit(&AtExit, nullptr, nullptr);
  if (__cxa_at_quick_exit != nullptr) __cxa_at_quick_exit(&AtExit, nullptr);
}

// ---- later than cuInit() ------------------------------------------------------------------------

bool IsRecorded() {
  const char* how = base::GetEnv("RLSCOPE_CUDA");
  return how == nullptr || *how == '\0' || strcmp(how, "cupti") == 0;
}

bool IsInjectedByOthers() {
  const char* injected = base::GetEnv("CUDA_INJECTION64_PATH");
  return injected != nullptr && *injected != '\0' && strstr(injected, "librlscope") == nullptr;
}

const Cupti* AttachNow(const char* why_late) {
  Note note;
  const Cupti* cupti = Begin(Taken::kLater, &note);
  note.Number("attached_ns", static_cast<uint64_t>(base::ReadMonotonicNs()));
  note.Problem(Missing::kNothingWhole, "CUDA calls and GPU work before attached_ns are missing",
               why_late, 0);
  note.Write();
  if (cupti != nullptr) EndAtExit();
  return cupti;
}

const Cupti* AttachBesideOthers() { return AttachNow("CUDA_INJECTION64_PATH names another tool"); }
const Cupti* AttachAfterPause() { return AttachNow("another profiler used CUPTI until then"); }

// The first record of a thread: the process is one worth watching.
void OnFirstRecord() {
  if (IsInjectedByOthers() && IsRecorded()) WatchForCuda(&AttachBesideOthers);
}

__attribute__((constructor)) void Register() { runtime::SetFirstRecordHook(&OnFirstRecord); }

}  // namespace

void Attach() {
  if (rlscope_initialize() == RLSCOPE_OFF || !IsRecorded()) return;
  if (DeferWhilePaused(&AttachAfterPause)) return;
  const int saved_errno = errno;
  Note note;
  if (const Cupti* cupti = Begin(Taken::kInsideInit, &note)) {
    if (!StartFlusher(cupti, gpu_window.are_used != 0 && !IsShareChosen()))
      note.Problem(Missing::kWork, "GPU work is missing",
                   "rlscope could not start a thread that reads it", 0);
    EndAtExit();
  }
  note.Write();
  errno = saved_errno;
}

void EndCupti() {
  const int saved_errno = errno;
  const int64_t began_ns = base::ReadMonotonicNs();
  EndFlusher();
  runtime::process.cupti_flush_ns += base::ReadMonotonicNs() - began_ns;
  errno = saved_errno;
}

}  // namespace rlscope::cupti
