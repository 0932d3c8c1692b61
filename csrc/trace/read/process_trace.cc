#include "trace/read/process_trace.h"

#include <algorithm>
#include <map>
#include <tuple>

#include "base/utf8.h"
#include "trace/read/decoder.h"

namespace rlscope::trace {
namespace {

uint64_t AddSaturated(uint64_t a, uint64_t b) {
  uint64_t sum;
  return __builtin_add_overflow(a, b, &sum) ? UINT64_MAX : sum;
}

struct Coverage {
  uint64_t duplicates = 0;
  uint64_t missing_slots = 0;
  uint64_t overlapping = 0;
};

// Whether two chunks are of one record that is still to be written.
template <typename Ref>
bool IsSameAhead(const Ref& chunk, const Ref& other) {
  return chunk.slots == 0 && other.slots == 0 && chunk.ring == other.ring &&
         chunk.first_slot == other.first_slot && chunk.last_ticks == other.last_ticks;
}

// Sorts chunks by ring and position and drops those whose slots an earlier one has: what a
// drainer wrote just before it died, and the reader found in the ring again. Chunks are cut at
// the same tail, so one of two holds the other; the longer one stays, in slots or, where one knew
// of a wait only that it began, in time. Chunks ahead of their record have no slots.
// `on_missing(chunk, slots)` learns of slots that no chunk has.
// What is rolled up was in chunks, too.
template <typename Ref, typename OnMissing>
Coverage DropDuplicates(std::vector<Ref>* chunks, const RolledUp* rolled_up, OnMissing on_missing) {
  std::sort(chunks->begin(), chunks->end(), [](const Ref& a, const Ref& b) {
    return std::make_tuple(a.ring, a.first_slot, ~a.slots, ~a.last_ticks) <
           std::make_tuple(b.ring, b.first_slot, ~b.slots, ~b.last_ticks);
  });
  Coverage coverage;
  std::vector<Ref> kept;
  uint64_t covered = 0;  // slots of the ring below this are in `kept`, or missing
  uint64_t missing = 0;  // not yet reported
  for (size_t i = 0; i < chunks->size(); ++i) {
    Ref chunk = (*chunks)[i];
    if (i == 0 || chunk.ring != (*chunks)[i - 1].ring) {
      covered = rolled_up == nullptr ? 0 : rolled_up->SlotsOf(chunk.ring);
      missing = 0;
    }
    const uint64_t end = chunk.first_slot + chunk.slots;
    if (chunk.first_slot < covered || (!kept.empty() && IsSameAhead(chunk, kept.back()))) {
      ++(end <= covered ? coverage.duplicates : coverage.overlapping);
      continue;
    }
    missing = AddSaturated(missing, chunk.first_slot - covered);
    coverage.missing_slots = AddSaturated(coverage.missing_slots, chunk.first_slot - covered);
    covered = end;
    if (chunk.count == 0) continue;
    if (missing > 0) on_missing(&chunk, missing);
    missing = 0;
    kept.push_back(chunk);
  }
  *chunks = std::move(kept);
  return coverage;
}

// The same for GPU work: one piece of a ring makes a chunk for each stream, and a drainer may have
// died between them. Chunks from no ring are all kept.
Coverage DropDuplicatePieces(std::vector<GpuChunkRef>* chunks) {
  const auto place = [](const GpuChunkRef& chunk) {
    return std::make_tuple(chunk.ring, chunk.first_slot, ~chunk.slots, chunk.device, chunk.context,
                           chunk.stream);
  };
  std::stable_sort(chunks->begin(), chunks->end(),
                   [&](const GpuChunkRef& a, const GpuChunkRef& b) { return place(a) < place(b); });
  Coverage coverage;
  std::vector<GpuChunkRef> kept;
  uint64_t first = 0, covered = 0;  // of the last piece that was kept
  for (size_t i = 0; i < chunks->size(); ++i) {
    const GpuChunkRef& chunk = (*chunks)[i];
    const bool new_ring = i == 0 || chunk.ring != (*chunks)[i - 1].ring;
    if (new_ring) first = covered = 0;
    const uint64_t end = chunk.first_slot + chunk.slots;
    const bool same_piece = !new_ring && chunk.first_slot == first && end == covered;
    if (chunk.ring != 0 && !same_piece && chunk.first_slot < covered) {
      ++(end <= covered ? coverage.duplicates : coverage.overlapping);
      continue;
    }
    if (chunk.ring != 0 && !new_ring && place(chunk) == place((*chunks)[i - 1])) {
      ++coverage.duplicates;
      continue;
    }
    if (chunk.ring != 0 && !same_piece) {
      coverage.missing_slots = AddSaturated(coverage.missing_slots, chunk.first_slot - covered);
      first = chunk.first_slot;
      covered = end;
    }
    if (chunk.count != 0) kept.push_back(chunk);
  }
  *chunks = std::move(kept);
  return coverage;
}

template <typename Ref>
void SortByTime(std::vector<Ref>* chunks) {
  std::sort(chunks->begin(), chunks->end(), [](const Ref& a, const Ref& b) {
    return std::tie(a.base_ticks, a.last_ticks, a.ring, a.first_slot) <
           std::tie(b.base_ticks, b.last_ticks, b.ring, b.first_slot);
  });
}

void Merge(const Thread& later, Thread* thread) {
  thread->thread = later.thread;
  if (later.os_tid != 0) thread->os_tid = later.os_tid;
  if (!later.name.empty()) thread->name = later.name;
  thread->is_python = thread->is_python || later.is_python;
  if (later.first_times.read_ns == 0) return;
  const ThreadTimes first = thread->first_times, last = thread->last_times;
  if (first.read_ns == 0 || later.first_times.read_ns < first.read_ns) {
    thread->first_times = later.first_times;
  }
  if (later.last_times.read_ns > last.read_ns) thread->last_times = later.last_times;
}

void Merge(const Metadata& later, Metadata* metadata) {
  for (const auto& entry : later.entries) {
    const auto same = std::find_if(metadata->entries.begin(), metadata->entries.end(),
                                   [&](const auto& known) { return known.first == entry.first; });
    if (same == metadata->entries.end()) {
      metadata->entries.push_back(entry);
    } else {
      same->second = entry.second;
    }
  }
  if (!later.process_name.empty()) metadata->process_name = later.process_name;
  if (!later.program.empty()) metadata->program = later.program;
  if (!later.python.empty()) metadata->python = later.python;
}

}  // namespace

ProcessTrace::ProcessTrace(std::vector<std::unique_ptr<TraceFile>> files)
    : files_(std::move(files)) {
  LeaveOutOtherClocks();
  FindRolledUp();
  JoinRest();
  JoinNames();
  JoinThreads();
  JoinCpu();
  JoinCuda();
  JoinGpu();
}

// Ticks of two files can only be compared when they are of one clock and one unit. A damaged page
// may name another clock than the file beside it.
void ProcessTrace::LeaveOutOtherClocks() {
  const auto first = std::find_if(files_.begin(), files_.end(),
                                  [](const auto& file) { return file->has_process(); });
  info_ = (first == files_.end() ? files_.front() : *first)->process();
  const auto differs = [&](const std::unique_ptr<TraceFile>& file) {
    const ProcessInfo& other = file->process();
    return file->has_process() &&
           (other.clock != info_.clock || other.tick_shift != info_.tick_shift);
  };
  for (const auto& file : files_) {
    if (!differs(file)) continue;
    problems_.push_back(
        {file->path(), 0, file->bytes(), "this file uses another clock than its process"});
  }
  files_.erase(std::remove_if(files_.begin(), files_.end(), differs), files_.end());
}

// The pieces of one file, which must be whole. If a roll-up was interrupted before it removed the
// other file, there are two, and the one that reaches further counts.
void ProcessTrace::FindRolledUp() {
  for (const auto& file : files_) {
    if (file->rolled_up().empty() || ReadRolledUp(*file)) continue;
    problems_.push_back({file->path(), 0, file->bytes(),
                         "the sums of rolled-up records are damaged, or of another version"});
  }
  if (rolled_up_ != nullptr) missing_slots_ = rolled_up_->missing_slots;
}

bool ProcessTrace::ReadRolledUp(const TraceFile& file) {
  std::vector<Archive::Piece> pieces;
  for (const RolledUpPiece& piece : file.rolled_up()) {
    if (piece.piece != pieces.size()) return false;
    pieces.push_back({piece.state.data, piece.state.size});
  }
  if (!file.rolled_up().back().last) return false;
  Archive archive(std::move(pieces));
  auto found = std::make_unique<RolledUp>();
  found->Carry(&archive);
  if (!archive.ok()) return false;
  if (rolled_up_ != nullptr && rolled_up_->until_ns >= found->until_ns) return true;
  rolled_up_ = std::move(found);
  saved_.emplace(archive);
  return true;
}

// Clock, metadata, end, problems.
void ProcessTrace::JoinRest() {
  std::vector<base::ClockPair> pairs;
  for (const auto& file : files_) {
    pairs.insert(pairs.end(), file->clock_pairs().begin(), file->clock_pairs().end());
    Merge(file->metadata(), &metadata_);
    states_.insert(states_.end(), file->states().begin(), file->states().end());
    stacks_.insert(stacks_.end(), file->stacks().begin(), file->stacks().end());
    // A file that was salvaged beside a closed one has no end.
    if (file->end() != nullptr && (end_ == nullptr || end_->end_ns == 0)) end_ = file->end();
    problems_.insert(problems_.end(), file->problems().begin(), file->problems().end());
  }
  std::sort(pairs.begin(), pairs.end(),
            [](const auto& a, const auto& b) { return a.ticks < b.ticks; });
  clock_segments_.resize(pairs.size() + 2);
  clock_ = base::ClockConverter(info_.clock, info_.tick_hz >> info_.tick_shift, pairs.data(),
                                pairs.size(), clock_segments_.data());
}

void ProcessTrace::JoinNames() {
  for (const auto& file : files_) {
    names_.insert(names_.end(), file->names().begin(), file->names().end());
  }
  // As the recorder writes them. A ring has a name as the program gave it, a stranger's file any.
  for (Name& name : names_) {
    base::ReplaceInvalidUtf8(reinterpret_cast<uint8_t*>(name.text.data()), name.text.size());
  }
  std::stable_sort(names_.begin(), names_.end(),
                   [](const Name& a, const Name& b) { return a.id < b.id; });
  // Names are written again when a file is read twice, and never changed: another one is damage.
  uint64_t contradicting_bytes = 0;
  const auto is_known = [&](const Name& a, const Name& b) {
    const bool same = a.kind == b.kind && a.text == b.text;
    if (a.id == b.id && !same) contradicting_bytes += b.text.size();
    return a.id == b.id;
  };
  names_.erase(std::unique(names_.begin(), names_.end(), is_known), names_.end());
  if (contradicting_bytes == 0) return;
  problems_.push_back({files_.front()->path(), 0, contradicting_bytes,
                       "names with numbers that belong to other names"});
}

const Name* ProcessTrace::FindName(uint32_t id) const {
  const auto found = std::lower_bound(names_.begin(), names_.end(), id,
                                      [](const Name& name, uint32_t key) { return name.id < key; });
  return found != names_.end() && found->id == id ? &*found : nullptr;
}

// Rows for all threads that are named or have chunks, by number.
void ProcessTrace::JoinThreads() {
  std::map<uint32_t, Thread> threads;
  for (const auto& file : files_) {
    for (const Thread& thread : file->threads()) Merge(thread, &threads[thread.thread]);
    for (const CpuChunkRef& chunk : file->cpu()) threads[chunk.thread].thread = chunk.thread;
    for (const CudaChunkRef& chunk : file->cuda()) threads[chunk.thread].thread = chunk.thread;
  }
  if (rolled_up_ != nullptr) {
    for (const RolledUpThread& row : rolled_up_->threads) threads[row.thread].thread = row.thread;
  }
  for (auto& [number, thread] : threads) {
    threads_.emplace_back();
    threads_.back().thread = std::move(thread);
  }
}

ThreadChunks* ProcessTrace::FindThread(uint32_t thread) {
  return &*std::lower_bound(
      threads_.begin(), threads_.end(), thread,
      [](const ThreadChunks& row, uint32_t key) { return row.thread.thread < key; });
}

void ProcessTrace::JoinCpu() {
  std::vector<CpuChunkRef> chunks;
  for (const auto& file : files_) {
    chunks.insert(chunks.end(), file->cpu().begin(), file->cpu().end());
  }
  const Coverage coverage =
      DropDuplicates(&chunks, rolled_up_.get(),
                     [](CpuChunkRef* chunk, uint64_t slots) { chunk->missing_slots = slots; });
  Count(coverage.duplicates, coverage.missing_slots, coverage.overlapping);
  for (const CpuChunkRef& chunk : chunks) FindThread(chunk.thread)->cpu.push_back(chunk);
  for (ThreadChunks& thread : threads_) SortByTime(&thread.cpu);
}

void ProcessTrace::JoinCuda() {
  std::vector<CudaChunkRef> chunks;
  for (const auto& file : files_) {
    chunks.insert(chunks.end(), file->cuda().begin(), file->cuda().end());
  }
  const Coverage coverage = DropDuplicates(&chunks, nullptr, [](CudaChunkRef*, uint64_t) {});
  Count(coverage.duplicates, coverage.missing_slots, coverage.overlapping);
  for (const CudaChunkRef& chunk : chunks) FindThread(chunk.thread)->cuda.push_back(chunk);
  for (ThreadChunks& thread : threads_) SortByTime(&thread.cuda);
}

void ProcessTrace::Count(uint64_t duplicates, uint64_t missing_slots, uint64_t overlapping) {
  duplicate_chunks_ += duplicates;
  missing_slots_ = AddSaturated(missing_slots_, missing_slots);
  if (overlapping == 0) return;
  problems_.push_back({files_.front()->path(), 0, 0,
                       "rlscope left out " + std::to_string(overlapping) +
                           " chunks, because others hold part of their records"});
}

void ProcessTrace::JoinGpu() {
  std::vector<GpuChunkRef> chunks;
  for (const auto& file : files_) {
    chunks.insert(chunks.end(), file->gpu().begin(), file->gpu().end());
  }
  const Coverage coverage = DropDuplicatePieces(&chunks);
  Count(coverage.duplicates, coverage.missing_slots, coverage.overlapping);
  std::map<std::tuple<uint32_t, uint32_t, uint32_t>, GpuStream> streams;
  for (const GpuChunkRef& chunk : chunks) {
    GpuStream& stream = streams[{chunk.device, chunk.context, chunk.stream}];
    stream.device = chunk.device;
    stream.context = chunk.context;
    stream.stream = chunk.stream;
    stream.chunks.push_back(chunk);
  }
  for (auto& [key, stream] : streams) {
    std::stable_sort(stream.chunks.begin(), stream.chunks.end(),
                     [](const auto& a, const auto& b) { return a.min_start_ns < b.min_start_ns; });
    gpu_streams_.push_back(std::move(stream));
  }
}

std::vector<TimedProcessItem> ProcessTrace::ReadProcessItems() const {
  std::vector<TimedProcessItem> timed;
  std::vector<ProcessItem> items;
  for (const ThreadChunks& thread : threads_) {
    items.clear();
    for (const CpuChunkRef& chunk : thread.cpu) {
      CpuHeader header;
      if (ParseCpuHeader(chunk.payload, chunk.size, &header)) AppendProcessItems(header, &items);
    }
    for (const ProcessItem& item : items) {
      timed.push_back(
          {clock_.ToNs(item.ticks), item.value, item.kind, item.id, thread.thread.thread});
    }
  }
  std::stable_sort(timed.begin(), timed.end(), [](const auto& a, const auto& b) {
    return std::tie(a.time_ns, a.thread) < std::tie(b.time_ns, b.thread);
  });
  return timed;
}

EventCounts ProcessTrace::CountEvents() const {
  EventCounts counts = rolled_up_ == nullptr ? EventCounts() : rolled_up_->events;
  for (const ThreadChunks& thread : threads_) {
    for (const CpuChunkRef& chunk : thread.cpu) counts.Add(chunk);
    for (const CudaChunkRef& chunk : thread.cuda) counts.cuda_calls += chunk.count;
  }
  for (const GpuStream& stream : gpu_streams_) {
    for (const GpuChunkRef& chunk : stream.chunks) counts.gpu_work += chunk.count;
  }
  return counts;
}

bool ProcessTrace::RecordedSpan(int64_t* first_ns, int64_t* last_ns) const {
  *first_ns = INT64_MAX;
  *last_ns = INT64_MIN;
  const auto take = [&](int64_t start, int64_t end) {
    *first_ns = std::min(*first_ns, start);
    *last_ns = std::max(*last_ns, end);
  };
  if (rolled_up_ != nullptr) take(rolled_up_->first_ns, rolled_up_->last_ns);
  for (const ThreadChunks& thread : threads_) {
    for (const CpuChunkRef& chunk : thread.cpu) {
      take(clock_.ToNs(chunk.base_ticks), clock_.ToNs(chunk.last_ticks));
    }
    for (const CudaChunkRef& chunk : thread.cuda) {
      take(clock_.ToNs(chunk.base_ticks), clock_.ToNs(chunk.last_ticks));
    }
  }
  for (const GpuStream& stream : gpu_streams_) {
    for (const GpuChunkRef& chunk : stream.chunks) take(chunk.min_start_ns, chunk.max_end_ns);
  }
  return *first_ns <= *last_ns;
}

uint64_t ProcessTrace::file_bytes() const {
  uint64_t bytes = 0;
  for (const auto& file : files_) bytes += file->bytes();
  return bytes;
}

base::Status OpenProcessFile(const std::string& path, std::unique_ptr<ProcessTrace>* process) {
  std::vector<std::unique_ptr<TraceFile>> files(1);
  const base::Status status = TraceFile::Open(path, &files[0]);
  if (status.ok()) *process = std::make_unique<ProcessTrace>(std::move(files));
  return status;
}

}  // namespace rlscope::trace
