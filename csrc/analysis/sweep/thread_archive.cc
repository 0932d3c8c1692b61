#include "analysis/sweep/thread_archive.h"

namespace rlscope::analysis {
namespace {

// An open call whose operation is the owner's is on two stacks.
bool NotesAgree(const Streams& streams, const OwnerCalls& calls) {
  for (size_t i = 0; i < streams.threads().size(); ++i) {
    if (streams.threads()[i]->notes_open() != calls.open(kFirstThreadStream + i)) return false;
  }
  return true;
}

}  // namespace

void CarryThreads(trace::Archive* archive, OperationPaths* paths, Streams* streams) {
  paths->Carry(archive);
  if (archive->ok()) streams->Carry(archive);
}

void CarryOwner(trace::Archive* archive, const Streams& streams, uint32_t paths, ThreadTable* table,
                ProcessInstant* instant, OwnerCalls* calls) {
  const ArchivedStreams archived(streams.Threads());
  table->Carry(archive, archived, paths, instant);
  calls->Carry(archive, archived, paths);
  if (archive->reads() && !NotesAgree(streams, *calls)) archive->Fail();
}

}  // namespace rlscope::analysis
