#include "good_run.h"

#include <string.h>

#include "base/clock_kind.h"
#include "base/crc32c.h"
#include "trace/layout/cuda_record.h"
#include "trace/layout/record.h"
#include "trace/layout/shared_pages.h"

namespace rlscope::trace {
namespace {

using Bytes = std::vector<uint8_t>;

constexpr uint64_t kSlots = 64;
constexpr uint64_t kArenaBytes = 1024;

template <typename T>
void Append(const T& value, Bytes* bytes) {
  const auto* data = reinterpret_cast<const uint8_t*>(&value);
  bytes->insert(bytes->end(), data, data + sizeof value);
}

// ---- rings --------------------------------------------------------------------------------------

// A ring whose first `drained` slots are in the file already. The producer wrote more than one lap.
class RingFile {
 public:
  RingFile(uint32_t number, RingUse use, uint32_t thread, uint32_t previous = 0)
      : slots_(kSlots), page_{} {
    page_.magic = kRingMagic;
    page_.abi_version = kAbiVersion;
    page_.number = number;
    page_.capacity = kSlots;
    page_.previous = previous;
    page_.state = static_cast<uint32_t>(RingState::kActive);
    page_.began_ns = 5;
    page_.thread = thread;
    page_.use = static_cast<uint32_t>(use);
  }

  void Add(uint32_t kind, uint32_t id, uint64_t ticks, uint32_t duration = 0) {
    slots_[page_.head % kSlots] = {ticks, duration, MakeWord(kind, id, Lap())};
    page_.head++;
  }
  void AddMore(uint64_t payload, uint32_t more = 0) { Add(kContinued, 0, payload, more); }
  void Drain() { page_.tail = page_.head; }

  Bytes File() const {
    Bytes bytes;
    Append(page_, &bytes);
    bytes.resize(kPageSize);
    for (const Slot& slot : slots_) Append(slot, &bytes);
    return bytes;
  }

 private:
  uint32_t Lap() const { return LapOf(page_.head, kSlots); }

  std::vector<Slot> slots_;
  RingPage page_;
};

// An operation with a native call, and at times a probe, and a wait, which takes two slots.
void AddStep(uint64_t ticks, RingFile* ring) {
  ring->Add(kOperationEnter, 1, ticks);
  ring->Add(kOperationEnter, 2, ticks + 10);
  ring->Add(kCall, 3, ticks + 20, 5);
  ring->Add(kOperationExit, 2, ticks + 30);
  if (ticks % 300 == 0) {
    ring->Add(kWait, 0, ticks + 40);
    ring->AddMore(7);
  }
  ring->Add(kOperationExit, 1, ticks + 50);
  if (ticks % 500 == 0) {
    ring->Add(kProbeRecord, 0, ticks + 60, 20);
    ring->Add(kProbe, kProbeRecordedCall, ticks + 90, 35);
  }
}

// Its first lap was drained.
RingFile ThreadRing(uint32_t number, uint32_t thread, uint64_t ticks) {
  RingFile ring(number, RingUse::kThread, thread);
  ring.Add(kThreadBegin, thread, ticks);
  for (uint32_t i = 0; i < 12; i++) AddStep(ticks + 100 + 100 * i, &ring);
  ring.Drain();
  for (uint32_t i = 0; i < 8; i++) AddStep(ticks + 2100 + 100 * i, &ring);
  return ring;
}

RingFile CallRing(uint32_t number, uint32_t thread) {
  RingFile ring(number, RingUse::kCudaCalls, thread);
  for (uint32_t i = 0; i < 20; i++) {
    const bool has_site = i % 2 == 0;
    ring.Add(has_site ? kLineCudaCall : kCudaCall, 4, 2000 + 20 * i, 9);
    ring.AddMore(CudaCallPayload(i + 1, 1), CudaCallMore(9, 0));
    if (has_site) ring.AddMore(1);
  }
  return ring;
}

RingFile GpuRing(uint32_t number) {
  RingFile ring(number, RingUse::kGpu, 0);
  for (uint32_t i = 0; i < 10; i++) {
    GpuWork work = {};
    work.interval = {2005 + 20 * i, 15, GpuKind::kKernel, 5, i + 1, 0, 0, {}};
    work.context = 1;
    work.stream = 7;
    Slot packed[kMostSlots] = {};
    PackGpuWork(work, packed);
    ring.Add(kGpuWork, 5, packed[0].tsc, packed[0].duration);
    for (uint32_t slot = 1; slot < kMostSlots; slot++) {
      ring.AddMore(packed[slot].tsc, packed[slot].duration);
    }
  }
  return ring;
}

// ---- pages --------------------------------------------------------------------------------------

// Entries of an arena, in order.
class Arena {
 public:
  Arena& Add(EntryKind kind, uint32_t id, uint32_t aux, const std::string& text,
             uint16_t flags = 0) {
    Append(
        ArenaEntry{static_cast<uint16_t>(kind), flags, id, aux, static_cast<uint32_t>(text.size())},
        &bytes_);
    bytes_.insert(bytes_.end(), text.begin(), text.end());
    bytes_.resize((bytes_.size() + 7) / 8 * 8);
    return *this;
  }
  const Bytes& bytes() const { return bytes_; }

 private:
  Bytes bytes_;
};

template <typename Page>
Bytes PageFile(Page page, const Arena& arena) {
  page.arena_capacity = kArenaBytes;
  page.arena_used = arena.bytes().size();
  Bytes bytes;
  Append(page, &bytes);
  bytes.resize(kPageSize);
  bytes.insert(bytes.end(), arena.bytes().begin(), arena.bytes().end());
  bytes.resize(kPageSize + kArenaBytes);
  return bytes;
}

Bytes ProcessFile(uint32_t pid, int64_t began_ns, uint32_t rings, uint32_t arenas) {
  ProcessPage page = {};
  page.magic = kProcessMagic;
  page.abi_version = kAbiVersion;
  page.pid = pid;
  page.start_time = 77;
  page.began_ns = began_ns;
  page.clock_kind = static_cast<uint32_t>(base::ClockKind::kMonotonic);
  page.first_tick = static_cast<uint64_t>(began_ns);
  page.first_ns = began_ns;
  page.threads = 2;
  page.main_thread = pid;
  page.losses[kLostRecords] = 3;
  page.ring_files = rings;
  page.arena_files = arenas;
  Arena arena;  // no bit of a length makes an entry end where another one does
  arena.Add(EntryKind::kProgram, 0, 0, "./train.py")
      .Add(EntryKind::kThread, 1, pid, "main")
      .Add(EntryKind::kOperationName, 1, 0, "update")
      .Add(EntryKind::kOperationName, 2, 0, "backprop")
      .Add(EntryKind::kFunctionName, 3, 3, "torch:matmul_of_two_matrices")
      .Add(EntryKind::kPhaseName, 6, 0, "training")
      .Add(EntryKind::kThread, 2, pid + 1, "worker");
  return PageFile(page, arena);
}

Bytes NamesFile() {
  NamesPage page = {};
  page.magic = kNamesMagic;
  Arena arena;
  arena.Add(EntryKind::kCudaCallName, 4, 0, "cuLaunchKernel")
      .Add(EntryKind::kKernelName, 5, 0, "gemm")
      .Add(EntryKind::kSiteFunction, 1, 12, "train.pystep", 8)
      .Add(EntryKind::kSiteNode, 1, 0, std::string("\1\0\0\0\7\0\0\0", 8))
      .Add(EntryKind::kMetadata, 4, 0, "seed1");
  return PageFile(page, arena);
}

Bytes ControlFile() {
  ControlPage page = {};
  page.magic = kControlMagic;
  page.abi_version = kAbiVersion;
  page.recording = 1;
  page.clock_kind = static_cast<uint32_t>(base::ClockKind::kMonotonic);
  page.tick_hz = 1000000000;
  Bytes bytes;
  Append(page, &bytes);
  bytes.resize(kPageSize);
  return bytes;
}

ProcessRecord Began(uint32_t pid, int64_t began_ns) {
  ProcessRecord record = {};
  record.magic = kProcessRecordMagic;
  record.version = kAbiVersion;
  record.event = static_cast<uint16_t>(ProcessEvent::kBegan);
  record.pid = pid;
  record.start_time = 77;
  record.began_ns = record.time_ns = began_ns;
  strcpy(record.name, "python");
  record.crc = base::Crc32c(0, &record, sizeof record);
  return record;
}

}  // namespace

FolderFiles GoodRun() {
  FolderFiles files;
  Append(Began(100, 5), &files["processes.log"]);
  Append(Began(200, 6), &files["processes.log"]);
  files["rings/control"] = ControlFile();
  files["rings/100.77.5.process"] = ProcessFile(100, 5, /*rings=*/4, /*arenas=*/1);
  files["rings/100.77.5.1.names"] = NamesFile();
  files["rings/100.77.5.1.ring"] = ThreadRing(1, 1, 100).File();
  files["rings/100.77.5.2.ring"] = ThreadRing(2, 2, 150).File();
  files["rings/100.77.5.3.ring"] = CallRing(3, 1).File();
  files["rings/100.77.5.4.ring"] = GpuRing(4).File();
  files["rings/200.77.6.process"] = ProcessFile(200, 6, /*rings=*/1, /*arenas=*/0);
  files["rings/200.77.6.1.ring"] = ThreadRing(1, 1, 200).File();
  return files;
}

}  // namespace rlscope::trace
