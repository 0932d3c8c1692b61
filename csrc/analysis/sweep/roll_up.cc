#include "analysis/sweep/roll_up.h"

#include <errno.h>
#include <unistd.h>

#include <algorithm>
#include <map>
#include <set>
#include <vector>

#include "analysis/sweep/trace_source.h"
#include "trace/directory/rolled_up_file.h"
#include "trace/layout/record.h"

namespace rlscope::analysis {
namespace {

using trace::CpuChunkRef;
using trace::ProcessTrace;
using trace::RolledUp;
using trace::TraceFile;

bool HoldsRecords(const TraceFile* file) { return file->rolled_up().empty(); }

// The files of a process that a partial sweep has read to their end.
class FilesBehind {
 public:
  FilesBehind(const ProcessTrace& process, const PartialSweep& sweep) : process_(process) {
    for (const auto& file : process.files()) {
      if (file->is_closed() && IsBehind(*file, sweep)) files_.insert(file.get());
    }
    while (KeepOneBefore()) {
    }
    for (const TraceFile* file : files_) {
      for (const CpuChunkRef& chunk : file->cpu()) chunks_.insert(chunk.payload);
    }
  }

  const std::set<const TraceFile*>& files() const { return files_; }
  // Else there is nothing to roll up.
  bool HoldRecords() const { return std::any_of(files_.begin(), files_.end(), HoldsRecords); }
  bool Hold(const CpuChunkRef& chunk) const { return chunks_.count(chunk.payload) != 0; }

  uint64_t bytes() const {
    uint64_t bytes = 0;
    for (const TraceFile* file : files_) bytes += file->bytes();
    return bytes;
  }

 private:
  bool IsBehind(const TraceFile& file, const PartialSweep& sweep) const {
    if (!file.rolled_up().empty()) return true;
    return std::all_of(file.cpu().begin(), file.cpu().end(), [&](const CpuChunkRef& chunk) {
      return IsRolledUp(chunk) || sweep.IsBehind(chunk.thread, trace::PlaceOf(chunk));
    });
  }
  bool IsRolledUp(const CpuChunkRef& chunk) const {
    const RolledUp* const before = process_.rolled_up();
    return before != nullptr && chunk.first_slot < before->SlotsOf(chunk.ring);
  }

  // Only the beginning of a ring can go: whatever comes after a part that stays has to stay.
  bool KeepOneBefore() {
    std::map<uint32_t, uint64_t> kept;  // first slot, by ring
    for (const auto& file : process_.files()) {
      if (files_.count(file.get()) != 0) continue;
      for (const CpuChunkRef& chunk : file->cpu()) {
        if (chunk.slots == 0 || IsRolledUp(chunk)) continue;
        const auto [place, added] = kept.emplace(chunk.ring, chunk.first_slot);
        if (!added) place->second = std::min(place->second, chunk.first_slot);
      }
    }
    for (const TraceFile* file : files_) {
      for (const CpuChunkRef& chunk : file->cpu()) {
        const auto first = kept.find(chunk.ring);
        if (chunk.slots == 0 || first == kept.end() || chunk.first_slot < first->second) continue;
        files_.erase(file);
        return true;
      }
    }
    return false;
  }

  const ProcessTrace& process_;
  std::set<const TraceFile*> files_;
  std::set<const uint8_t*> chunks_;  // payloads
};

void AddSlots(const CpuChunkRef& chunk, RolledUp* rolled_up) {
  const uint64_t end = chunk.first_slot + chunk.slots;
  for (trace::RolledUpRing& ring : rolled_up->rings) {
    if (ring.ring != chunk.ring) continue;
    ring.slots = std::max(ring.slots, end);
    return;
  }
  rolled_up->rings.push_back({chunk.ring, end});
}

void AddChunk(const ProcessTrace& process, const CpuChunkRef& chunk, RolledUp* rolled_up) {
  if (chunk.slots > 0) rolled_up->events.Add(chunk);  // else its record's chunk counts them
  rolled_up->missing_slots += chunk.missing_slots;
  rolled_up->first_ns = std::min(rolled_up->first_ns, process.clock().ToNs(chunk.base_ticks));
  rolled_up->last_ns = std::max(rolled_up->last_ns, process.clock().ToNs(chunk.last_ticks));
}

RolledUp Describe(const ProcessTrace& process, const FilesBehind& behind, int64_t until_ns) {
  RolledUp rolled_up;
  if (process.rolled_up() != nullptr) rolled_up = *process.rolled_up();
  rolled_up.until_ns = std::max(rolled_up.until_ns, until_ns);
  for (const TraceFile* file : behind.files()) {
    rolled_up.bytes += file->rolled_up().empty() ? file->bytes() : 0;
    for (const CpuChunkRef& chunk : file->cpu()) AddSlots(chunk, &rolled_up);
  }
  rolled_up.threads.clear();
  for (size_t i = 0; i < process.threads().size(); ++i) {
    const trace::ThreadChunks& chunks = process.threads()[i];
    const bool was_there = process.rolled_up() != nullptr &&
                           process.rolled_up()->FindThread(chunks.thread.thread) != nullptr;
    bool is_there = was_there;
    for (const CpuChunkRef& chunk : chunks.cpu) {
      if (!behind.Hold(chunk)) continue;
      AddChunk(process, chunk, &rolled_up);
      is_there = true;
    }
    if (is_there) rolled_up.threads.push_back(FindRolledUpThread(process, i));
  }
  return rolled_up;
}

// What is on disk of the time after the edge may be half of it: the iteration of one thread, and
// not yet the stop of another, before which nothing of it counts. Windows say whether the process
// recorded from its start.
SpillVector<ProcessItem> KnownFor(const SpillVector<ProcessItem>& items, int64_t until_ns) {
  SpillVector<ProcessItem> known;
  for (const ProcessItem& item : items) {
    const bool is_window = item.kind == trace::kWindowStart || item.kind == trace::kWindowStop;
    if (item.time_ns < until_ns || is_window) known.push_back(item);
  }
  return known;
}

uint64_t FirstTicksLeft(const ProcessTrace& process, const FilesBehind& behind) {
  uint64_t first_ticks = UINT64_MAX;
  for (const trace::ThreadChunks& chunks : process.threads()) {
    for (const CpuChunkRef& chunk : chunks.cpu) {
      if (!behind.Hold(chunk)) first_ticks = std::min(first_ticks, chunk.base_ticks);
    }
  }
  return first_ticks;
}

}  // namespace

const char* WhyNotRolledUp(const trace::ProcessImage& image) {
  if (image.trace == nullptr) return "nothing";
  const auto has_calls = [](const trace::ThreadChunks& chunks) { return !chunks.cuda.empty(); };
  const auto& threads = image.trace->threads();
  const bool has_cuda =
      !image.trace->gpu_streams().empty() || std::any_of(threads.begin(), threads.end(), has_calls);
  return has_cuda ? "cuda" : "";
}

base::Status RollUp(const trace::ProcessImage& image, const std::string& folder,
                    const RollUpOptions& options, RolledUpBytes* bytes) {
  if (*WhyNotRolledUp(image) != '\0') return base::Status();
  const ProcessTrace& process = *image.trace;
  const RolledUp* const before = process.rolled_up();
  if (before != nullptr && options.until_ns < before->until_ns) return base::Status();
  const auto holds_records = [](const auto& file) { return HoldsRecords(file.get()); };
  if (std::none_of(process.files().begin(), process.files().end(), holds_records)) {
    return base::Status();
  }
  ProcessInput input = MakeUnfinishedInput(image);
  input.most_paths = options.most_paths;
  const History history(input.start_ns, input.end_ns, input.process_items, input.names);
  // After a stop the process has ended, unless it starts again.
  const int64_t until_ns =
      history.stopped() ? std::min(options.until_ns, history.end_ns()) : options.until_ns;
  if (history.start_ns() >= until_ns || (before != nullptr && !input.saved)) {
    return base::Status();
  }
  input.process_items = KnownFor(input.process_items, until_ns);
  PartialSweep sweep(input, options.sweep, until_ns);
  const FilesBehind behind(process, sweep);
  if (!behind.HoldRecords() || static_cast<int64_t>(behind.bytes()) < options.least_saved) {
    return base::Status();
  }
  trace::RolledUpFile file(folder, process);
  base::Status status = file.Write(FirstTicksLeft(process, behind), [&](trace::Archive* archive) {
    RolledUp rolled_up = Describe(process, behind, until_ns);
    rolled_up.Carry(archive);
    CarryItemsOf(process, [&](const CpuChunkRef& chunk) { return behind.Hold(chunk); }, archive);
    sweep.Write(archive);
  });
  const int64_t saved = static_cast<int64_t>(behind.bytes()) - static_cast<int64_t>(file.bytes());
  if (!status.ok() || saved < options.least_saved) return status;
  status = file.Publish();
  if (!status.ok()) return status;
  bytes->removed += behind.bytes();
  bytes->written += file.bytes();
  for (const TraceFile* removed : behind.files()) {
    if (removed->path() != file.path()) unlink(removed->path().c_str());
  }
  return status;
}

}  // namespace rlscope::analysis
