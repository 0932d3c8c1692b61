// Whether a file system is a place for mapped rings. The kernel write-protects a mapped page while
// it writes it back, and the next store into it may have to wait: for the disk where pages must be
// stable meanwhile (checksums, RAID), for the journal elsewhere. Libc only.
#ifndef RLSCOPE_TRACE_DRAIN_RING_DISK_H_
#define RLSCOPE_TRACE_DRAIN_RING_DISK_H_

#include <stdint.h>

namespace rlscope::trace {

// A record that waits longer than this would show in the program.
constexpr int64_t kLongStoreNs = 1000000;

// Times a store into a mapped page.
class StoreTimer {
 public:
  StoreTimer();
  // How long ago it was made, if the calling thread has waited since; 0 if it has not: then the
  // time is none of the disk's, the thread may have lost its CPU to another.
  int64_t WaitedNs() const;

 private:
  int64_t start_ns_;
  int64_t waits_;
};

// The longest of 48 stores into mapped pages of a new file in `folder` while the kernel writes them
// back, as WaitedNs(). The file is removed. 0 where that cannot be measured. Takes 0.2 ms in
// memory, 1 to 3 ms on ext4.
int64_t LongestStoreNs(const char* folder);

}  // namespace rlscope::trace

#endif  // RLSCOPE_TRACE_DRAIN_RING_DISK_H_
