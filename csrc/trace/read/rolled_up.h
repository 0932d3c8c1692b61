// The part of a process's trace that was rolled up (docs/design/0009-...): its raw chunks are gone,
// and the state of a sweep at their end is kept instead. A trace file of its own holds it, beside
// the names, threads and clock pairs that the files with those chunks held.
#ifndef RLSCOPE_TRACE_READ_ROLLED_UP_H_
#define RLSCOPE_TRACE_READ_ROLLED_UP_H_

#include <stdint.h>

#include <vector>

#include "trace/format/archive.h"
#include "trace/read/event_counts.h"

namespace rlscope::trace {

// Where the chunks of a thread stand in order.
struct ChunkPlace {
  uint64_t base_ticks = 0;
  uint64_t last_ticks = 0;
  uint32_t ring = 0;
  uint64_t first_slot = 0;

  void Carry(Archive* archive);
};
bool operator<(const ChunkPlace& one, const ChunkPlace& other);

template <class Ref>
ChunkPlace PlaceOf(const Ref& chunk) {
  return {chunk.base_ticks, chunk.last_ticks, chunk.ring, chunk.first_slot};
}

struct RolledUpThread {
  uint32_t thread = 0;
  int64_t first_ns = 0;  // of its first item; INT64_MAX: it has none so far
  int64_t ended_ns = 0;  // of its kThreadEnd; INT64_MAX: it goes on
};

// A ring's slots up to here are rolled up: chunks of them that are found all the same are older
// copies.
struct RolledUpRing {
  uint32_t ring = 0;
  uint64_t slots = 0;
};

struct RolledUp {
  int64_t until_ns = 0;          // the sweep came to here; single records before it may be gone
  int64_t first_ns = INT64_MAX;  // of all records that are gone
  int64_t last_ns = INT64_MIN;
  uint64_t bytes = 0;  // of the files that are gone, and
  EventCounts events;  // in them
  uint64_t missing_slots = 0;
  std::vector<RolledUpThread> threads;  // by number
  std::vector<RolledUpRing> rings;      // by number

  // The part above. What follows in the archive is of the sweep.
  void Carry(Archive* archive);

  // Slots of this ring that are rolled up.
  uint64_t SlotsOf(uint32_t ring) const;
  const RolledUpThread* FindThread(uint32_t thread) const;
};

// Changes with what an archive holds; another version cannot be read.
constexpr uint32_t kArchiveVersion = 2;

}  // namespace rlscope::trace

#endif  // RLSCOPE_TRACE_READ_ROLLED_UP_H_
