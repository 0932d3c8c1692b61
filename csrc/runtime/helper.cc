#include "runtime/helper.h"

#include <pthread.h>
#include <sched.h>
#include <stdlib.h>

#include <new>

#include "base/clock.h"
#include "base/own_thread.h"
#include "runtime/image.h"
#include "runtime/process.h"
#include "runtime/syscalls.h"
#include "trace/drain/control_page.h"
#include "trace/drain/image_file.h"

extern "C" int pthread_join(pthread_t, void**) __attribute__((weak));

namespace rlscope::runtime {
namespace {

constexpr int64_t kBusySleepNs = 5000000;
constexpr int64_t kSleepNs = 250000000;  // rings that are half full wake it
constexpr int64_t kSecond = 1000000000;
constexpr uint32_t kMostDescriptors = 65536;  // closed one by one before Linux 5.9
constexpr long kCloseRange = 436;
constexpr long kCloseRangeUnshare = 2;

enum Request : uint32_t { kGoOn = 0, kPause = 1, kEnd = 2 };

struct Helper {
  pthread_t thread;
  bool running;
  uint32_t request;  // Request
  uint32_t done;     // 1: the thread has nothing left to do; futex
  int64_t cpu_ns;    // of the thread that runs
  int64_t past_cpu_ns;
  bool own_table;  // it has a descriptor table of its own
  trace::ControlPage* control;
  // Kept from one thread to the next; used by the running one only.
  trace::DrainScratch* scratch;
  trace::ImageFile* file;
  char directory[PATH_MAX];
  char rings[kRingsPathBytes];
  char name[kImageNameBytes];
};
Helper helper;

// Leaves the program's descriptors: it must be able to close a pipe for good.
bool LeaveDescriptors() {
  if (SysCall(kCloseRange, 0, ~0u, kCloseRangeUnshare) != 0) {
    if (SysCall(SYS_unshare, CLONE_FILES) != 0) return false;
    for (uint32_t i = 0; i < kMostDescriptors; i++) SysClose(static_cast<int>(i));
  }
  for (int i = 0; i < 3; i++) SysOpen("/dev/null", O_RDWR);
  return true;
}

void ReadCpu() {
  struct timespec time;
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
  __atomic_store_n(&helper.cpu_ns, time.tv_sec * kSecond + time.tv_nsec, __ATOMIC_RELAXED);
}

void DropFile() {
  if (helper.file != nullptr) {
    helper.file->~ImageFile();
    free(helper.file);
  }
  trace::FreeDrainScratch(helper.scratch);
  helper.file = nullptr;
  helper.scratch = nullptr;
}

bool OpenFile() {
  if (helper.file != nullptr) return true;
  helper.scratch = trace::NewDrainScratch();
  void* memory = malloc(sizeof(trace::ImageFile));
  if (helper.scratch == nullptr || memory == nullptr) return false;
  helper.file = new (memory) trace::ImageFile(helper.scratch);
  if (helper.file->Open(helper.directory, helper.rings, helper.name) == 0) return true;
  DropFile();
  return false;
}

void EndFile() {
  trace::ImageEnd end;
  end.end_ns = base::ReadMonotonicNs();
  end.exited = true;
  end.python_end_ns = process.python_end_ns;
  helper.file->End(end);
  DropFile();
}

Request Requested() {
  return static_cast<Request>(__atomic_load_n(&helper.request, __ATOMIC_ACQUIRE));
}

// When what need not happen at every pass is next due, CLOCK_MONOTONIC.
struct Due {
  int64_t check = 0, touch = 0;
};

void DoWhatIsDue(Due* due) {
  const int64_t now = base::ReadMonotonicNs();
  if (now < due->check) return;
  due->check = now + kSecond;
  if (trace::IsDiskFull(helper.directory, helper.control->min_free_bytes)) {
    trace::Cut(helper.control, trace::kNearlyFull);
  }
  helper.file->CheckRemoved();
  if (now < due->touch) return;
  due->touch = now + trace::kTouchNs;
  trace::TouchControl(helper.directory);
}

void DrainUntilAsked() {
  Due due;
  uint32_t* wake = &helper.control->wake;
  while (Requested() == kGoOn) {
    const uint32_t seen = __atomic_load_n(wake, __ATOMIC_ACQUIRE);
    DoWhatIsDue(&due);
    if (const int error = helper.file->Drain(/*final=*/false)) {
      trace::Cut(helper.control, static_cast<uint32_t>(error));
      return;
    }
    if (!helper.own_table) helper.file->CloseDescriptor();
    ReadCpu();
    if (Requested() != kGoOn) return;
    SysFutexWait(wake, seen, helper.file->image().busy() ? kBusySleepNs : kSleepNs,
                 /*shared=*/true);
  }
}

// A helper whose file takes nothing more stays until it is stopped, so that it is not started
// again at every record.
void WaitForRequest() {
  while (Requested() == kGoOn) SysFutexWait(&helper.request, kGoOn, kSleepNs, /*shared=*/false);
}

void* RunHelper(void*) {
  helper.own_table = LeaveDescriptors();
  if (OpenFile()) DrainUntilAsked();
  WaitForRequest();
  if (helper.file != nullptr && Requested() == kEnd) EndFile();
  if (helper.file != nullptr) helper.file->CloseDescriptor();
  ReadCpu();
  __atomic_store_n(&helper.done, 1, __ATOMIC_RELEASE);
  SysFutexWake(&helper.done, 1, /*shared=*/false);
  return nullptr;
}

template <int size>
void Copy(char (&to)[size], const char* from) {
  int i = 0;
  for (; i < size - 1 && from[i] != '\0'; i++) to[i] = from[i];
  to[i] = '\0';
}

}  // namespace

bool IsHelperRunning() { return __atomic_load_n(&helper.running, __ATOMIC_ACQUIRE); }

bool StartHelper() {
  if (helper.running) return true;
  if (!IsImageOpen() || pthread_create == nullptr || pthread_join == nullptr) return false;
  Copy(helper.directory, process.directory);
  Copy(helper.rings, image.rings);
  Copy(helper.name, image.name);
  helper.control = image.control;
  helper.request = kGoOn;
  helper.done = 0;
  __atomic_store_n(&image.page->helper, 1, __ATOMIC_RELEASE);
  if (base::StartOwnThread(&helper.thread, &RunHelper, nullptr) != 0) return false;
  __atomic_store_n(&helper.running, true, __ATOMIC_RELEASE);
  return true;
}

bool StopHelper(HelperStop how, int64_t wait_ns) {
  if (!helper.running) return true;
  __atomic_store_n(&helper.request, how == HelperStop::kEnd ? kEnd : kPause, __ATOMIC_RELEASE);
  SysFutexWake(&helper.request, 1, /*shared=*/false);
  WakeDrainer();
  const int64_t deadline = base::ReadMonotonicNs() + wait_ns;
  while (__atomic_load_n(&helper.done, __ATOMIC_ACQUIRE) == 0) {
    const int64_t left = deadline - base::ReadMonotonicNs();
    if (left <= 0) return false;
    SysFutexWait(&helper.done, 0, left, /*shared=*/false);
  }
  pthread_join(helper.thread, nullptr);
  helper.past_cpu_ns += helper.cpu_ns;
  helper.cpu_ns = 0;
  __atomic_store_n(&helper.running, false, __ATOMIC_RELEASE);
  return true;
}

int64_t HelperCpuNs() {
  return helper.past_cpu_ns + __atomic_load_n(&helper.cpu_ns, __ATOMIC_RELAXED);
}

void ForgetHelper() {
  helper.running = false;
  helper.scratch = nullptr;
  helper.file = nullptr;
  helper.cpu_ns = helper.past_cpu_ns = 0;
}

}  // namespace rlscope::runtime
