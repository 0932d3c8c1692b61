#include "cupti/activities.h"

#include <string.h>

#include "base/clock.h"
#include "cupti/gpu_window.h"
#include "runtime/hot.h"
#include "runtime/image.h"
#include "runtime/interval_writer.h"
#include "runtime/lock.h"
#include "runtime/process.h"
#include "runtime/rlscope.h"
#include "runtime/syscalls.h"
#include "trace/layout/cuda_record.h"

namespace rlscope::cupti {
namespace {

using trace::GpuKind;
using trace::GpuWork;

// ---- buffers ------------------------------------------------------------------------------------

// Per-thread buffers are CUPTI's default from 12.3 on: as many as threads that use the GPU.
constexpr size_t kBufferBytes = 512 * 1024;

// Lies at the start of a mapping, in front of the part that CUPTI fills.
struct Buffer {
  Buffer* next;
  Buffer* mapped_before;
  size_t valid;
  bool is_given;  // to CUPTI
};
constexpr size_t kHeaderBytes = 64;
static_assert(sizeof(Buffer) <= kHeaderBytes);

runtime::Lock lock;  // held for a few instructions
Buffer* free_buffers = nullptr;
Buffer* full_buffers = nullptr;  // the oldest first
Buffer** full_end = &full_buffers;
Buffer* mapped_buffers = nullptr;  // all of them

uint8_t* DataOf(Buffer* buffer) { return reinterpret_cast<uint8_t*>(buffer) + kHeaderBytes; }

Buffer* TakeFull() {
  runtime::LockGuard guard(&lock);
  Buffer* buffer = full_buffers;
  if (buffer == nullptr) return nullptr;
  full_buffers = buffer->next;
  if (full_buffers == nullptr) full_end = &full_buffers;
  return buffer;
}

// Memory is zeroed.
Buffer* MapBuffer() {
  auto* buffer = static_cast<Buffer*>(runtime::SysMapPrivate(kBufferBytes));
  if (buffer == nullptr) return nullptr;
  runtime::LockGuard guard(&lock);
  buffer->is_given = true;
  buffer->mapped_before = mapped_buffers;
  mapped_buffers = buffer;
  return buffer;
}

void Free(Buffer* buffer) {
  runtime::LockGuard guard(&lock);
  buffer->next = free_buffers;
  free_buffers = buffer;
}

// ---- names of kernels ---------------------------------------------------------------------------

// CUPTI names a kernel by a pointer that stays the same while its module is loaded.
constexpr uint32_t kCachedNames = 8192;
struct CachedName {
  const char* text;
  uint32_t id;
};
CachedName cached[kCachedNames];
uint32_t names_wanted = 0;  // counts module unloads
uint32_t names_cached = 0;  // when the cache was last emptied

uint32_t NameOf(const char* text) {
  if (text == nullptr) return 0;
  const uint64_t hash = (reinterpret_cast<uintptr_t>(text) >> 3) * 0x9e3779b97f4a7c15u;
  CachedName* place = &cached[hash >> 51];
  if (place->text != text) {
    place->id = rlscope_intern_name(static_cast<uint32_t>(trace::EntryKind::kKernelName), 0, text,
                                    strlen(text));
    place->text = text;
  }
  return place->id;
}
static_assert(kCachedNames == 1u << (64 - 51));

void RefreshNames() {
  const uint32_t wanted = __atomic_load_n(&names_wanted, __ATOMIC_ACQUIRE);
  if (wanted == names_cached) return;
  memset(cached, 0, sizeof cached);
  names_cached = wanted;
}

// ---- records ------------------------------------------------------------------------------------

// CUPTI's own clock is CLOCK_REALTIME. Its times differ from ours by their size, because some
// releases mix the two (the device's records of the one, the host's of the other).
constexpr uint64_t kRealtimeFromNs = 1000000000000000000;  // September 2001; 31 years of uptime
int64_t realtime_offset_ns = 0;

// Work that a call of a window launched may begin when the window has closed; which part of it
// counts is for the analysis to say. Here it is enough that work is not kept for ever.
constexpr int64_t kKeptAfterWindowNs = 1000000000;

bool IsKept(int64_t start_ns) {
  const bool is_recording = runtime::State() == RLSCOPE_RECORDING;
  if (is_recording || runtime::HasWindowChanged()) return true;
  const int64_t closed_ns = __atomic_load_n(&runtime::process.window_closed_ns, __ATOMIC_ACQUIRE);
  return closed_ns != 0 && start_ns <= closed_ns + kKeptAfterWindowNs;
}

void SetTimes(uint64_t start, uint64_t end, GpuWork* work) {
  const int64_t offset_ns = start >= kRealtimeFromNs ? realtime_offset_ns : 0;
  work->interval.start_ns = static_cast<int64_t>(start) - offset_ns;
  work->interval.duration_ns = end > start ? static_cast<int64_t>(end - start) : 0;
}

// Work lies between the process's begin and now, if CUPTI keeps to the clock that it was given; it
// turns a device's clock into that with some error.
constexpr int64_t kClockErrorNs = 1000000;
int64_t latest_ns = 0;
uint64_t impossible_times = 0;
uint64_t launches_read = 0;

bool IsPossible(int64_t start_ns, int64_t end_ns) {
  return start_ns >= runtime::process.began_ns && end_ns <= latest_ns + kClockErrorNs;
}

// A flush at the end of the process or of a window also delivers work that has not ended, with no
// times.
void Write(const GpuWork& work, uint32_t name) {
  if (work.interval.kind != GpuKind::kOverhead && !IsWorkKept(work.interval.correlation)) return;
  const int64_t end_ns = work.interval.start_ns + work.interval.duration_ns;
  if (end_ns > 0 && !IsPossible(work.interval.start_ns, end_ns)) impossible_times++;
  if (end_ns <= 0) {
    runtime::CountLoss(trace::kGpuUnfinished, 1);
  } else if (IsKept(work.interval.start_ns)) {
    runtime::WriteGpuWork(work, name);
  }
}

// Common to all records of work on a stream.
template <typename Activity>
GpuWork Begin(const Activity& activity, GpuKind kind) {
  GpuWork work = {};
  SetTimes(activity.start, activity.end, &work);
  work.interval.kind = kind;
  work.interval.correlation = CallNumber(activity.correlation);
  work.context = activity.context;
  work.stream = activity.stream;
  return work;
}

uint64_t PackGrid(const int32_t (&grid)[3]) {
  return static_cast<uint32_t>(grid[0]) | uint64_t{static_cast<uint16_t>(grid[1])} << 32 |
         uint64_t{static_cast<uint16_t>(grid[2])} << 48;
}
uint32_t PackBlock(const int32_t (&block)[3]) {
  return (static_cast<uint32_t>(block[0]) & 0xfff) |
         (static_cast<uint32_t>(block[1]) & 0xfff) << 12 | static_cast<uint32_t>(block[2]) << 24;
}

void CountLaunch() { __atomic_store_n(&launches_read, launches_read + 1, __ATOMIC_RELAXED); }

void ReadKernel(const ActivityKernel& kernel) {
  CountLaunch();
  GpuWork work = Begin(kernel, GpuKind::kKernel);
  work.device = kernel.device;
  work.interval.graph = kernel.graph;
  work.interval.detail.grid = PackGrid(kernel.grid);
  work.interval.detail.block = PackBlock(kernel.block);
  work.interval.detail.shared_memory = static_cast<uint32_t>(kernel.static_shared_memory) |
                                       uint64_t{static_cast<uint32_t>(kernel.dynamic_shared_memory)}
                                           << 32;
  work.interval.detail.registers = kernel.registers;
  Write(work, NameOf(kernel.name));
}

// Which of both ends is the host's memory; a copy between devices has none.
uint8_t HostMemory(uint8_t direction, uint8_t source, uint8_t destination) {
  constexpr uint8_t kDeviceToHost = 2, kArrayToHost = 4;
  return direction == kDeviceToHost || direction == kArrayToHost ? destination : source;
}

template <typename Activity>
void ReadCopy(const Activity& copy) {
  GpuWork work = Begin(copy, GpuKind::kMemcpy);
  work.device = copy.device;
  work.interval.bytes = copy.bytes;
  work.interval.graph = copy.graph;
  const uint8_t memory = HostMemory(copy.copy_kind, copy.source_kind, copy.destination_kind);
  work.interval.detail.how = static_cast<uint8_t>((copy.copy_kind & 15) | (memory & 15) << 4);
  Write(work, 0);
}

void ReadSet(const ActivityMemset& set) {
  GpuWork work = Begin(set, GpuKind::kMemset);
  work.device = set.device;
  work.interval.bytes = set.bytes;
  work.interval.graph = set.graph;
  work.interval.detail.how = static_cast<uint8_t>(set.memory_kind);
  Write(work, 0);
}

void ReadSynchronization(const ActivitySynchronization& sync) {
  GpuWork work = Begin(sync, GpuKind::kSync);
  work.interval.detail.how = static_cast<uint8_t>(sync.type);
  Write(work, 0);
}

void ReadGraph(const ActivityGraphTrace& graph) {
  CountLaunch();
  GpuWork work = Begin(graph, GpuKind::kGraph);
  work.device = graph.device;
  work.interval.graph = graph.graph;
  Write(work, 0);
}

// CUPTI numbers what it does itself from 1 << 16 in steps of that, and what the driver does from 1.
uint8_t KindOfOverhead(uint32_t kind) {
  constexpr uint8_t kOfDriver = 128;
  return static_cast<uint8_t>(kind >> 16 != 0 ? kind >> 16 : kind | kOfDriver);
}

void ReadOverhead(const ActivityOverhead& overhead) {
  GpuWork work = {};
  SetTimes(overhead.start, overhead.end, &work);
  work.interval.kind = GpuKind::kOverhead;
  work.interval.detail.how = KindOfOverhead(overhead.overhead_kind);
  Write(work, 0);
}

template <typename Activity>
const Activity& As(const uint8_t* record) {
  return *reinterpret_cast<const Activity*>(record);
}

void ReadRecord(const uint8_t* record) {
  switch (As<uint32_t>(record)) {
    case kActivityKernel:
    case kActivityConcurrentKernel:
      return ReadKernel(As<ActivityKernel>(record));
    case kActivityMemcpy:
      return ReadCopy(As<ActivityMemcpy>(record));
    case kActivityMemcpyPeer:
      return ReadCopy(As<ActivityMemcpyPeer>(record));
    case kActivityMemset:
      return ReadSet(As<ActivityMemset>(record));
    case kActivitySynchronization:
      return ReadSynchronization(As<ActivitySynchronization>(record));
    case kActivityGraphTrace:
      return ReadGraph(As<ActivityGraphTrace>(record));
    case kActivityOverhead:
      return ReadOverhead(As<ActivityOverhead>(record));
    default:
      return;
  }
}

void CountDropped(const Cupti& cupti) {
  size_t dropped = 0;
  if (cupti.count_dropped == nullptr) return;
  if (cupti.count_dropped(nullptr, 0, &dropped) != kCuptiSuccess || dropped == 0) return;
  runtime::CountLoss(trace::kCudaDropped, dropped);
}

}  // namespace

uint64_t records_read = 0;

void GiveBuffer(uint8_t** buffer, size_t* size, size_t* most_records) {
  Buffer* taken;
  {
    runtime::LockGuard guard(&lock);
    taken = free_buffers;
    if (taken != nullptr) {
      free_buffers = taken->next;
      taken->is_given = true;
    }
  }
  if (taken == nullptr) taken = MapBuffer();
  *buffer = taken == nullptr ? nullptr : DataOf(taken);
  *size = taken == nullptr ? 0 : kBufferBytes - kHeaderBytes;
  *most_records = 0;
}

void TakeBuffer(void*, uint32_t, uint8_t* data, size_t, size_t valid) {
  if (data == nullptr) return;
  auto* buffer = reinterpret_cast<Buffer*>(data - kHeaderBytes);
  runtime::LockGuard guard(&lock);
  if (!buffer->is_given) return;
  buffer->is_given = false;
  buffer->valid = valid;
  buffer->next = nullptr;
  *full_end = buffer;
  full_end = &buffer->next;
}

uint64_t LaunchesRead() { return __atomic_load_n(&launches_read, __ATOMIC_RELAXED); }

void SetRealtimeOffset(int64_t offset_ns) { realtime_offset_ns = offset_ns; }
uint64_t ImpossibleTimes() { return impossible_times; }

void ReadBuffers(const Cupti& cupti) {
  RefreshNames();
  latest_ns = base::ReadMonotonicNs();
  uint64_t read = RecordsRead();
  while (Buffer* buffer = TakeFull()) {
    uint8_t* record = nullptr;
    while (buffer->valid != 0 &&
           cupti.next_record(DataOf(buffer), buffer->valid, &record) == kCuptiSuccess) {
      ReadRecord(record);
      if (As<uint32_t>(record) != kActivityOverhead) read++;
    }
    // Once a buffer: the program's threads look at it in each call.
    __atomic_store_n(&records_read, read, __ATOMIC_RELAXED);
    Free(buffer);
  }
  CountDropped(cupti);
}

void TakeBuffersBack() {
  runtime::LockGuard guard(&lock);
  for (Buffer* buffer = mapped_buffers; buffer != nullptr; buffer = buffer->mapped_before) {
    if (!buffer->is_given) continue;
    buffer->is_given = false;
    buffer->next = free_buffers;
    free_buffers = buffer;
  }
}

void ForgetKernelNames() { __atomic_fetch_add(&names_wanted, 1, __ATOMIC_RELEASE); }

void ForgetBuffers() {
  lock.Reset();
  free_buffers = full_buffers = mapped_buffers = nullptr;
  full_end = &full_buffers;
  records_read = impossible_times = launches_read = 0;
}

}  // namespace rlscope::cupti
