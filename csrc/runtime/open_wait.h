// The wait that the calling thread is in, where a drainer finds it when the process is killed: in
// the page of the thread's ring, from the begin of the wait until a record tells of it.
//
//   wait    --|--------------------|---------      |--------- SIGKILL
//   page      begin                0               begin
//   slots                          kCall [begin, end)
//
// It is taken back before the record is published: a drainer that sees the record does not see it.
#ifndef RLSCOPE_RUNTIME_OPEN_WAIT_H_
#define RLSCOPE_RUNTIME_OPEN_WAIT_H_

#include "runtime/rings.h"
#include "runtime/rlscope.h"

namespace rlscope::runtime {

inline trace::RingPage* OwnRingPage(const struct rlscope_thread& self) {
  return static_cast<const Ring*>(self.ring)->page;
}

// After BeginCall() of a wait.
inline void ShowOpenWait(const struct rlscope_thread& self) {
  trace::RingPage* page = OwnRingPage(self);
  page->wait_ticks = self.call_start;
  __atomic_store_n(&page->wait_word, self.call, __ATOMIC_RELEASE);
}

// Before anything is recorded of it, or when it is to leave no record. The thread has a ring of
// this image.
inline void HideOpenWait(const struct rlscope_thread& self) {
  __atomic_store_n(&OwnRingPage(self)->wait_word, 0, __ATOMIC_RELEASE);
}

// The same where the wait may have returned in a fork child, in another session or after the
// thread's last record.
inline void HideOpenWait(const struct rlscope_thread& self, uint32_t generation) {
  if (self.ring != nullptr && self.generation == generation) HideOpenWait(self);
}

}  // namespace rlscope::runtime

#endif  // RLSCOPE_RUNTIME_OPEN_WAIT_H_
