#include "trace/drain/drain.h"

#include <errno.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include <new>

#include "base/clock.h"
#include "base/page_guard.h"
#include "trace/drain/drain_scratch.h"
#include "trace/drain/image_entries.h"
#include "trace/drain/image_rings.h"
#include "trace/drain/image_stacks.h"
#include "trace/drain/mapped_file.h"

namespace rlscope::trace {

DrainScratch* NewDrainScratch() {
  void* memory = calloc(1, sizeof(DrainScratch));
  return memory == nullptr ? nullptr : new (memory) DrainScratch;
}

void FreeDrainScratch(DrainScratch* scratch) { free(scratch); }

namespace {

constexpr size_t kMostLosses = kLossKinds + 4;

}  // namespace

struct DrainImage::State {
  DrainScratch* scratch = nullptr;
  ImagePath path;
  ProcessPage* page = nullptr;
  uint64_t page_bytes = 0;
  ImageEntries entries;
  ImageRings rings;
  ImageStacks stacks;
  bool failed = false;        // the sink refused
  bool page_damaged = false;  // a page of it, or of its arenas, was gone when it was read
  DrainStats stats;

  ~State() {
    if (page != nullptr) munmap(page, page_bytes);
  }
  // Files that are known to be damaged, or that could not be opened.
  uint64_t CountDamaged() const {
    return rings.damaged() + rings.unreadable_files() + entries.unreadable_files();
  }
  size_t CollectLosses(LossFields* losses) const;
};

DrainImage::DrainImage(DrainScratch* scratch) : state_(nullptr) {
  void* memory = malloc(sizeof(State));
  if (memory == nullptr) return;
  state_ = new (memory) State();
  state_->scratch = scratch;
}

DrainImage::~DrainImage() {
  if (state_ == nullptr) return;
  state_->~State();
  free(state_);
}

int DrainImage::Open(const char* rings, const char* image, DrainMode mode) {
  if (state_ == nullptr || state_->scratch == nullptr) return ENOMEM;
  State& state = *state_;
  if (!state.path.Set(rings, image)) return EINVAL;
  ImagePath::Path path;
  state.path.Page(path);
  const bool consumes = mode == DrainMode::kConsume;
  void* address;
  if (const int error = MapFile(path, kProcessFileSize, consumes, &address, &state.page_bytes)) {
    return error;
  }
  auto* page = static_cast<ProcessPage*>(address);
  const uint64_t magic = __atomic_load_n(&page->magic, __ATOMIC_ACQUIRE);
  if (magic != kProcessMagic || page->abi_version != kAbiVersion) {
    munmap(address, state.page_bytes);
    return magic == 0 ? EAGAIN : EINVAL;
  }
  state.page = page;
  state.entries.Open(page, state.page_bytes, &state.path, &state.scratch->buffer,
                     state.scratch->files, consumes);
  state.rings.Open(page, &state.path, mode, state.scratch, &state.entries);
  return 0;
}

const ImageIdentity& DrainImage::identity() const { return state_->path.identity(); }
const ProcessPage* DrainImage::page() const { return state_ == nullptr ? nullptr : state_->page; }

bool DrainImage::Drain(Sink* sink, DrainPass pass) {
  State& state = *state_;
  if (state.failed) return false;
  const bool final = pass == DrainPass::kFinal;
  const uint64_t replaced = base::PagesReplaced(), damaged = state.CountDamaged();
  state.rings.Discover(/*look=*/final);
  state.failed =
      !state.entries.WriteHeader(sink) || !state.entries.WriteNew(sink, /*look=*/final) ||
      !state.rings.Drain(sink, pass) ||
      state.stacks.numbers()->Write(sink, &state.scratch->buffer, state.scratch->files) != 0 ||
      state.entries.states()->Write(sink, &state.scratch->buffer) != 0;
  state.stats.rings = state.rings.count();
  state.stats.events = state.rings.events();
  state.stats.chunks = state.rings.chunks();
  // If no file explains it, it was the page. A file that is cut short while it is opened is one.
  if (base::PagesReplaced() != replaced && state.CountDamaged() == damaged) {
    state.page_damaged = true;
  }
  return !state.failed;
}

void DrainImage::BeginNextFile() { state_->entries.BeginNextFile(); }

// At most kMostLosses of them. A count that nothing can reach is damage of eight bytes.
size_t DrainImage::State::CollectLosses(LossFields* losses) const {
  static const char* const kLossNames[] = {
#define RLSCOPE_LOSS_KIND(name, number, text) text,
      RLSCOPE_LOSS_KINDS(RLSCOPE_LOSS_KIND)
#undef RLSCOPE_LOSS_KIND
  };
  size_t count = 0;
  const auto add = [&](const char* kind, uint64_t lost) {
    if (lost != 0) losses[count++] = {kind, lost};
  };
  uint64_t damaged_bytes = entries.damaged_bytes();
  for (uint32_t kind = 0; kind < kLossKinds; kind++) {
    uint64_t lost = __atomic_load_n(LossCount(page, kind), __ATOMIC_RELAXED);
    if (lost > kMostLost) {
      damaged_bytes += sizeof lost;
      lost = 0;
    }
    add(kLossNames[kind], kind == kClamped ? lost + rings.clamped() : lost);
  }
  const bool page_gone = page_damaged || page->magic != kProcessMagic;
  add(kDamagedRing, rings.damaged() + (page_gone ? 1 : 0));
  add(kMissingRecords, rings.missing_records());
  add(kDamagedBytes, damaged_bytes);
  add(kUnreadableFiles, entries.unreadable_files() + rings.unreadable_files());
  return count;
}

void DrainImage::ReadThreads() { state_->entries.living()->Read(identity().pid); }

// The time is that of the stacks, which change faster.
void DrainImage::SampleThreads() {
  State& state = *state_;
  LivingThreads* const living = state.entries.living();
  if (living->IsEmpty()) return;
  const uint32_t pid = identity().pid;
  if (state.scratch->reads_stacks) state.stacks.Read(pid, *state.page, *living);
  StateSamples* const samples = state.entries.states();
  const int64_t copied_ns = state.scratch->reads_stacks ? state.stacks.copied_ns() : 0;
  if (!samples->Begin(copied_ns != 0 ? copied_ns : base::ReadMonotonicNs())) return;
  living->AddAwake(pid, samples);
  state.stacks.AddTo(samples);
  samples->End();
}

bool DrainImage::WriteEnd(Sink* sink, const ImageEnd& end) {
  State& state = *state_;
  if (state.failed) return false;
  const ProcessPage& page = *state.page;
  LossFields losses[kMostLosses];
  const size_t count = state.CollectLosses(losses);
  const EndFields fields = {end.end_ns, end.exited, page.python_begin_ns,
                            end.python_end_ns != 0 ? end.python_end_ns : page.python_end_ns,
                            page.forks};
  state.stats.lost = page.losses[kLostRecords] + page.losses[kNoRing];
  ChunkBuffer* buffer = &state.scratch->buffer;
  state.failed = state.entries.living()->Write(sink, buffer) != 0 ||
                 trace::WriteEnd(sink, buffer, fields, losses, count) != 0;
  return !state.failed;
}

void DrainImage::RemoveFiles() {
  const State& state = *state_;
  ImagePath::Path path;
  // One that the process was about to announce when it died was not seen.
  for (uint32_t i = 1;; i++) {
    state.path.Ring(i, path);
    if (unlink(path) != 0 && i > state.rings.count()) break;
  }
  for (uint32_t i = 1; i <= state.entries.files(); i++) {
    state.path.Arena(i, path);
    unlink(path);
  }
  state.path.Page(path);
  unlink(path);
}

const DrainStats& DrainImage::stats() const { return state_->stats; }
bool DrainImage::busy() const { return state_->rings.busy(); }
bool DrainImage::closed() const {
  return __atomic_load_n(&state_->page->closed, __ATOMIC_ACQUIRE) != 0;
}
bool DrainImage::taken_over() const {
  return __atomic_load_n(&state_->page->helper, __ATOMIC_ACQUIRE) != 0;
}

}  // namespace rlscope::trace
