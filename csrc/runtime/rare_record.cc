#include "runtime/rare_record.h"

#include "runtime/first_record.h"
#include "runtime/threads.h"

namespace rlscope::runtime {
namespace {

// End of the thread's last record; a ring that was never written holds zeros.
uint64_t LastTicks(const rlscope_thread& self, const Ring& ring) {
  const bool wrapped = self.cursor == ring.slots;
  const rlscope_slot* last = (wrapped ? ring.slots + ring.capacity : self.cursor) - 1;
  if (trace::KindOf(last->word) == trace::kContinued) last--;
  const bool is_end = trace::KindOf(last->word) == trace::kProbe;
  return last->tsc + (is_end ? 0 : last->duration);
}

}  // namespace

uint64_t WriteRare(uint32_t kind, uint32_t id, uint64_t ticks) {
  rlscope_thread* self = &rlscope_self;
  Ring* ring = EnsureRing(self);
  if (ring == nullptr) return 0;
  WriteShortWaits(self);
  WriteHeldCall(self);
  const uint64_t last = LastTicks(*self, *ring);
  const uint64_t written = ticks < last ? last : ticks;
  return WriteReserved(self, kind, id, written) ? written : 0;
}

}  // namespace rlscope::runtime
