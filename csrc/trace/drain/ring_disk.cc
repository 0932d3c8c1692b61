#include "trace/drain/ring_disk.h"

#include <fcntl.h>
#include <stdio.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/clock.h"
#include "trace/layout/shared_pages.h"

namespace rlscope::trace {
namespace {

constexpr uint64_t kProbeBytes = kFirstRingBytes;
constexpr int kRounds = 3;

// Times that the calling thread waited for something.
int64_t CountWaits() {
  struct rusage usage;
  return getrusage(RUSAGE_THREAD, &usage) == 0 ? usage.ru_nvcsw : 0;
}

int64_t LongestOf(volatile char* bytes, int descriptor) {
  int64_t longest = 0;
  for (int round = 0; round < kRounds; round++) {
    for (uint64_t offset = 0; offset < kProbeBytes; offset += kPageSize) bytes[offset]++;
    // SYNC_FILE_RANGE_WRITE: begins to write all of it, and does not wait for the end.
    if (syscall(SYS_sync_file_range, descriptor, 0, 0, /*flags=*/2) != 0) return 0;
    for (uint64_t offset = 0; offset < kProbeBytes; offset += kPageSize) {
      const StoreTimer timer;
      bytes[offset]++;
      const int64_t waited = timer.WaitedNs();
      if (waited > longest) longest = waited;
    }
  }
  return longest;
}

}  // namespace

StoreTimer::StoreTimer() : start_ns_(base::ReadMonotonicNs()), waits_(CountWaits()) {}

int64_t StoreTimer::WaitedNs() const {
  const int64_t ns = base::ReadMonotonicNs() - start_ns_;
  return CountWaits() == waits_ ? 0 : ns;
}

int64_t LongestStoreNs(const char* folder) {
  char path[4096 + 32];
  snprintf(path, sizeof path, "%s/probe", folder);
  const int descriptor = open(path, O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
  if (descriptor < 0) return 0;
  int64_t longest = 0;
  // Real blocks, as a ring's: a store into a hole would measure their allocation.
  if (syscall(SYS_fallocate, descriptor, 0, 0, static_cast<long>(kProbeBytes)) == 0) {
    void* address = mmap(nullptr, kProbeBytes, PROT_READ | PROT_WRITE, MAP_SHARED, descriptor, 0);
    if (address != MAP_FAILED) {
      longest = LongestOf(static_cast<volatile char*>(address), descriptor);
      munmap(address, kProbeBytes);
    }
  }
  unlink(path);
  close(descriptor);
  return longest;
}

}  // namespace rlscope::trace
