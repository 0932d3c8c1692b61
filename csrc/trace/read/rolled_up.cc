#include "trace/read/rolled_up.h"

#include <algorithm>
#include <tuple>

namespace rlscope::trace {

bool operator<(const ChunkPlace& one, const ChunkPlace& other) {
  return std::tie(one.base_ticks, one.last_ticks, one.ring, one.first_slot) <
         std::tie(other.base_ticks, other.last_ticks, other.ring, other.first_slot);
}

void ChunkPlace::Carry(Archive* archive) {
  archive->Number(&base_ticks);
  archive->Number(&last_ticks);
  archive->Number(&ring);
  archive->Number(&first_slot);
}

void RolledUp::Carry(Archive* archive) {
  uint32_t version = kArchiveVersion;
  archive->Number(&version);
  if (version != kArchiveVersion) return archive->Fail();
  archive->Time(&until_ns);
  archive->Time(&first_ns);
  archive->Time(&last_ns);
  archive->Number(&bytes);
  events.Carry(archive);
  archive->Number(&missing_slots);
  threads.resize(archive->Count(threads.size()));
  for (RolledUpThread& thread : threads) {
    archive->Number(&thread.thread);
    archive->Time(&thread.first_ns);
    archive->Time(&thread.ended_ns);
  }
  rings.resize(archive->Count(rings.size()));
  for (RolledUpRing& ring : rings) {
    archive->Number(&ring.ring);
    archive->Number(&ring.slots);
  }
}

uint64_t RolledUp::SlotsOf(uint32_t ring) const {
  for (const RolledUpRing& each : rings) {
    if (each.ring == ring) return each.slots;
  }
  return 0;
}

const RolledUpThread* RolledUp::FindThread(uint32_t thread) const {
  for (const RolledUpThread& each : threads) {
    if (each.thread == thread) return &each;
  }
  return nullptr;
}

}  // namespace rlscope::trace
