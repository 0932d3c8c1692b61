// The rings of this process image: a pool of mapped files, handed from threads that ended to
// threads that begin once the drainer has emptied them. Needs process_lock throughout.
#ifndef RLSCOPE_RUNTIME_RINGS_H_
#define RLSCOPE_RUNTIME_RINGS_H_

#include <stdint.h>

#include "runtime/interval_writer_pool.h"
#include "runtime/rlscope.h"
#include "trace/layout/record.h"
#include "trace/layout/shared_pages.h"

namespace rlscope::runtime {

struct Ring {
  trace::RingPage* page;  // null: an empty place in the pool
  rlscope_slot* slots;
  uint64_t capacity;    // slots, a power of two
  uint64_t lap_base;    // position of slots[0] in the lap that is being written
  uint64_t lost;        // records lost since the last one that was written
  uint32_t generation;  // rlscope_process.generation of the image it belongs to
  bool attached;        // a thread writes into it
  uint32_t os_tid;      // of that thread
  // In a thread's own ring: the writer of its CUDA calls, null while it made none.
  IntervalWriter* calls;
  uint64_t short_waits;       // of that thread since its last record
  uint64_t short_wait_ticks;  // end of the last of them
  // The probes of that thread (probe.h):
  uint64_t probe_random;   // state of the generator; 0: not begun
  uint32_t probes_passed;  // exits and events that the due one still lets pass
};

// Slots that ordinary records leave free, so that a full ring still takes the records that say why:
// kShortWaits (2), kGap (2), kWait (2), kThreadEnd or kRingEnd, kWindowStop, and the kPads of a
// wrap (4).
constexpr uint64_t kReservedSlots = 14;

// An empty ring of at least `bytes` of slots for the calling thread: a recycled one or a new file.
// Null when the process has its 64 MiB, or the file system is full or refuses.
Ring* TakeRing(uint64_t bytes, trace::RingUse use);

// The same, but only one that exists already, of any size.
Ring* TakeRecycledRing(uint64_t least_bytes, trace::RingUse use);

// Calls visit(thread, os_tid, argument) for each thread that has a ring of its own.
void ForEachThread(void (*visit)(uint32_t thread, uint32_t os_tid, void* argument), void* argument);

// The thread is done with it; `end` is the position after its last record.
void GiveRingBack(Ring* ring, uint64_t end);

// Unmaps all rings but those that other threads may still be writing into; those go when their
// thread takes a new one (DropRing). `own`: the calling thread's ring, null if it has none.
void DropRings(Ring* own);
// With that of the CUDA calls of its thread.
void DropRing(Ring* ring);

// Fork child: the mappings do not exist here; forgets all of them without a system call.
void ForgetRings();

}  // namespace rlscope::runtime

#endif  // RLSCOPE_RUNTIME_RINGS_H_
