#include "runtime/thread_times.h"

#include <fcntl.h>

#include "base/clock.h"
#include "base/proc.h"
#include "runtime/detached.h"
#include "runtime/image.h"
#include "runtime/rings.h"
#include "runtime/syscalls.h"
#include "runtime/text.h"

namespace rlscope::runtime {
namespace {

struct Reading {
  uint32_t thread;
  uint32_t os_tid;
  bool is_known;
  base::SchedulerTimes times;
};

struct Batch {
  static constexpr uint32_t kMost = 32;
  uint32_t count = 0;
  Reading readings[kMost];
};

void ReadOne(Reading* reading) {
  char path[64];
  Text(path, sizeof path).Add("/proc/self/task/").Add(reading->os_tid).Add("/schedstat");
  const int descriptor = OpenHidden(path, O_RDONLY, 0);
  if (descriptor < 0) return;
  char text[96];
  const long length = SysRead(descriptor, text, sizeof text - 1);
  SysClose(descriptor);
  if (length <= 0) return;
  text[length] = '\0';
  reading->is_known = base::ParseSchedulerTimes(text, &reading->times);
}

void ReadAll(void* argument) {
  auto* batch = static_cast<Batch*>(argument);
  for (uint32_t i = 0; i < batch->count; i++) ReadOne(&batch->readings[i]);
}

void Note(Batch* batch, uint16_t flags) {
  const int64_t now = base::ReadMonotonicNs();
  RunDetached(&ReadAll, batch);
  for (uint32_t i = 0; i < batch->count; i++) {
    const Reading& reading = batch->readings[i];
    const trace::ThreadTimes times = {reading.times.running_ns, reading.times.runnable_ns, now};
    if (!reading.is_known) continue;
    AppendEntry(trace::EntryKind::kThreadTimes, flags, reading.thread, 0,
                reinterpret_cast<const char*>(&times), sizeof times);
  }
  batch->count = 0;
}

void Add(Batch* batch, uint32_t thread, uint32_t os_tid) {
  batch->readings[batch->count++] = {thread, os_tid, false, {}};
}

}  // namespace

void NoteThreadTimes(uint32_t thread, uint32_t os_tid, uint16_t flags) {
  Batch batch;
  Add(&batch, thread, os_tid);
  Note(&batch, flags);
}

void NoteTimesOfAllThreads() {
  Batch batch;
  ForEachThread(
      [](uint32_t thread, uint32_t os_tid, void* argument) {
        auto* threads = static_cast<Batch*>(argument);
        Add(threads, thread, os_tid);
        if (threads->count == Batch::kMost) Note(threads, trace::kThreadEnds);
      },
      &batch);
  if (batch.count != 0) Note(&batch, trace::kThreadEnds);
}

}  // namespace rlscope::runtime
