// Names of waits, as words for records: which object a descriptor stands for is asked of the kernel
// once in a while and remembered.
#ifndef RLSCOPE_NATIVE_CALLS_WAIT_NAMES_H_
#define RLSCOPE_NATIVE_CALLS_WAIT_NAMES_H_

#include <stdint.h>

#include <string>

namespace rlscope::native_calls {

struct WaitName {
  uint32_t word;  // trace::MakeWord(kCall, its id, 0); 0: no name can be had
  bool is_first;  // no call on this object has been recorded in this process
};

// Names a wait without an object.
uint32_t WordOfWait(const std::string& kind, const std::string& function);

// Names a wait for what a descriptor stands for, found at most some milliseconds before `ticks`.
// `site` tells functions apart.
WaitName NameOfDescriptor(uint32_t site, int descriptor, uint64_t ticks, const std::string& kind,
                          const std::string& function);

// Names a wait for the semaphore at an address of shared memory, found at most some seconds before
// `ticks`.
WaitName NameOfSemaphore(uint32_t site, const void* semaphore, uint64_t ticks,
                         const std::string& kind, const std::string& function);

uint32_t WordOfProcess(long pid, const std::string& kind, const std::string& function);

// The call that is_first spoke of was recorded.
void MarkRecorded(uint32_t word);

// Puts the two ends of a socketpair into the trace's names.
void NameSocketPair(int one, int other);

}  // namespace rlscope::native_calls

#endif  // RLSCOPE_NATIVE_CALLS_WAIT_NAMES_H_
