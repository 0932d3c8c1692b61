#include "trace/drain/control_page.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <unistd.h>

#include "base/clock.h"
#include "trace/drain/run_notes.h"

namespace rlscope::trace {
namespace {

// Free bytes that a folder for rings must have: where DIR is on a network, and where it is only
// slow, for then memory would be missed more than it helps.
constexpr uint64_t kLeastShared = 64ull << 20;
constexpr uint64_t kLeastSharedForSlow = 1ull << 30;

// File systems on which a shared mapping is slow, not coherent or not possible.
constexpr uint32_t kNetworkFileSystems[] = {
    0x6969,      // NFS
    0x65735546,  // FUSE
    0x01021997,  // 9p
    0x0bd00bd0,  // Lustre
    0xff534d42,  // CIFS
    0xfe534d42,  // SMB2
    0x00c36400,  // Ceph
    0x47504653,  // GPFS
    0x19830326,  // BeeGFS
    0x5346414f,  // AFS
};

bool IsNetwork(const char* directory) {
  struct statfs info;
  if (statfs(directory, &info) != 0) return false;
  for (const uint32_t type : kNetworkFileSystems) {
    if (static_cast<uint32_t>(info.f_type) == type) return true;
  }
  return false;
}

// Makes a private folder for this run's rings below `base`.
bool MakeFolder(const char* base, uint64_t least, char* folder, size_t size) {
  if (base == nullptr || base[0] != '/' || IsNetwork(base) || IsDiskFull(base, least)) return false;
  const int length = snprintf(folder, size, "%s/rlscope-%u-%u-%lld", base, getuid(), getpid(),
                              static_cast<long long>(base::ReadMonotonicNs()));
  return length > 0 && static_cast<size_t>(length) < size && mkdir(folder, 0700) == 0;
}

// DIR is no place for rings.
void ChooseOther(char* folder, size_t size) {
  if (!MakeFolder("/dev/shm", kLeastShared, folder, size) &&
      !MakeFolder(getenv("TMPDIR"), kLeastShared, folder, size) &&
      !MakeFolder("/tmp", kLeastShared, folder, size)) {
    memset(folder, 0, size);
  }
}

// DIR is one where records would wait for the disk.
void ChooseMemory(char* folder, size_t size) {
  if (!MakeFolder("/dev/shm", kLeastSharedForSlow, folder, size)) memset(folder, 0, size);
}

bool IsSlow(const char* directory, const DrainOptions& options) {
  char path[4096 + 32];
  snprintf(path, sizeof path, "%s/rings", directory);
  return options.longest_store_ns(path) > kLongStoreNs;
}

// Where the rings go; empty: DIR/rings.
int ChooseRings(const char* directory, const char* rings, const DrainOptions& options, char* folder,
                size_t size) {
  memset(folder, 0, size);
  if (rings != nullptr && rings[0] != '\0') {
    if (strlen(rings) >= size) return ENAMETOOLONG;
    strcpy(folder, rings);
    return mkdir(rings, 0700) == 0 || errno == EEXIST ? 0 : errno;
  }
  if (IsNetwork(directory)) {
    ChooseOther(folder, size);
  } else if (IsSlow(directory, options)) {
    ChooseMemory(folder, size);
  }
  return 0;
}

// Chooses the folder of the rings and leaves a note of it in the log.
int PlaceRings(const char* directory, const char* rings, const DrainOptions& options, char* folder,
               size_t size) {
  if (const int error = ChooseRings(directory, rings, options, folder, size)) return error;
  if (folder[0] == '\0') return 0;
  const int error = LogRings(directory, folder);
  if (error != 0) rmdir(folder);  // which succeeds when it is empty
  return error;
}

int MakeSubdirectory(const char* directory, const char* name) {
  char path[4096 + 32];
  snprintf(path, sizeof path, "%s/%s", directory, name);
  return mkdir(path, 0700) == 0 || errno == EEXIST ? 0 : errno;
}

// A page of real bytes, so that a store into it cannot fail.
int MapNewPage(const char* path, ControlPage** page) {
  const int descriptor = open(path, O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
  if (descriptor < 0) return errno;
  static const char zeros[kPageSize] = {};
  int error = 0;
  void* address = MAP_FAILED;
  if (write(descriptor, zeros, sizeof zeros) != static_cast<ssize_t>(sizeof zeros)) {
    error = errno == 0 ? ENOSPC : errno;
  } else {
    address = mmap(nullptr, kPageSize, PROT_READ | PROT_WRITE, MAP_SHARED, descriptor, 0);
    if (address == MAP_FAILED) error = errno;
  }
  if (error != 0) unlink(path);
  close(descriptor);
  if (error == 0) *page = static_cast<ControlPage*>(address);
  return error;
}

void Fill(ControlPage* page, const DrainOptions& options) {
  const base::ClockKind clock = base::DetectClock();
  page->abi_version = kAbiVersion;
  page->clock_kind = static_cast<uint32_t>(clock);
  page->tick_hz = base::EstimateTickHz(clock);
  page->recording = options.recording && options.delay_iterations == 0 ? 1 : 2;
  page->delay_iterations = options.delay_iterations;
  page->iterations = options.iterations;
  page->exit_after = options.exit_after;
  page->min_free_bytes = options.min_free_bytes;
}

// The time of the change first: a reader of the count finds the right time.
void PublishChange(ControlPage* page) {
  const auto clock = static_cast<base::ClockKind>(page->clock_kind);
  __atomic_store_n(&page->window_ticks, base::ReadTicks(clock), __ATOMIC_RELEASE);
  __atomic_fetch_add(&page->window_changes, 1, __ATOMIC_RELEASE);
}

}  // namespace

static_assert(sizeof(ControlPage) <= kPageSize);

int CreateControl(const char* directory, const char* rings, const DrainOptions& options,
                  ControlPage** page) {
  char folder[sizeof ControlPage::trace_rings];
  if (const int error = MakeSubdirectory(directory, "rings")) return error;
  if (const int error = MakeSubdirectory(directory, "trace")) return error;
  if (const int error = MakeLog(directory)) return error;
  char path[4096 + 32];
  snprintf(path, sizeof path, "%s/rings/control", directory);
  if (const int error = MapNewPage(path, page)) return error;
  if (const int error = PlaceRings(directory, rings, options, folder, sizeof folder)) {
    unlink(path);
    ReleaseControl(*page);
    return error;
  }
  memcpy((*page)->trace_rings, folder, sizeof folder);
  Fill(*page, options);
  if ((*page)->recording != 1) LogWindow(directory, kWindowWaits);
  __atomic_store_n(&(*page)->magic, kControlMagic, __ATOMIC_RELEASE);
  return 0;
}

void ReleaseControl(ControlPage* page) { munmap(page, kPageSize); }

bool SetRecording(ControlPage* page, bool on) {
  const uint32_t wanted = on ? 1 : 2;
  if (__atomic_exchange_n(&page->recording, wanted, __ATOMIC_ACQ_REL) == wanted) return false;
  PublishChange(page);
  return true;
}

void Cut(ControlPage* page, uint32_t why) {
  uint32_t none = 0;
  if (!__atomic_compare_exchange_n(&page->cut, &none, why, false, __ATOMIC_ACQ_REL,
                                   __ATOMIC_RELAXED)) {
    return;
  }
  page->cut_ns = base::ReadMonotonicNs();
  PublishChange(page);
}

void TouchControl(const char* directory) {
  char path[4096 + 32];
  snprintf(path, sizeof path, "%s/rings/control", directory);
  const int descriptor = open(path, O_WRONLY | O_NOFOLLOW | O_CLOEXEC);
  if (descriptor < 0) return;
  const uint64_t magic = kControlMagic;
  // Refused: other machines take the run to be over, and nothing else happens.
  [[maybe_unused]] const ssize_t written = write(descriptor, &magic, sizeof magic);
  close(descriptor);
}

bool IsDiskFull(const char* directory, uint64_t bytes) {
  struct statfs info;
  if (statfs(directory, &info) != 0) return false;
  return static_cast<uint64_t>(info.f_bavail) * static_cast<uint64_t>(info.f_bsize) < bytes;
}

}  // namespace rlscope::trace
