#include "trace/drain/image_rings.h"

#include <errno.h>
#include <stdlib.h>
#include <unistd.h>

#include <new>

#include "base/page_guard.h"
#include "trace/drain/mapped_file.h"

namespace rlscope::trace {
namespace {

constexpr uint32_t kMaxRings = 1024;    // 64 MiB per process / 68 KiB
constexpr int kChunksPerPass = 64;      // of one ring: a whole one of 4 MiB
constexpr int kMostRounds = 8;          // over all rings, until none has to wait for another
constexpr uint64_t kMostReserved = 64;  // slots that a producer keeps back for notes, and more

uint32_t MostItems(RingUse use) {
  return use == RingUse::kGpu ? IntervalEncoder::kMostWork : kChunkItems;
}

}  // namespace

ImageRings::~ImageRings() {
  for (uint32_t i = 0; i < count_; i++) {
    if (rings_[i] != nullptr) rings_[i]->~Source();
    free(rings_[i]);
  }
  free(rings_);
}

void ImageRings::Open(ProcessPage* page, const ImagePath* path, DrainMode mode,
                      DrainScratch* scratch, ImageEntries* entries) {
  page_ = page;
  path_ = path;
  mode_ = mode;
  scratch_ = scratch;
  entries_ = entries;
}

int ImageRings::Map(uint32_t number, Source** ring) const {
  ImagePath::Path path;
  path_->Ring(number, path);
  void* memory = calloc(1, sizeof(Source));
  if (memory == nullptr) return ENOMEM;
  *ring = new (memory) Source();
  const int error = (*ring)->view.Open(path, number, consumes());
  if (error == 0) {
    (*ring)->begin = (*ring)->position = (*ring)->view.tail();
  } else {
    free(memory);
    *ring = nullptr;
  }
  return error;
}

bool ImageRings::Add(Source* ring) {
  if (!Grow(&rings_, count_, &capacity_)) return false;
  rings_[count_++] = ring;
  return true;
}

void ImageRings::NoteDamage(Source* ring) {
  if (!ring->damaged) damaged_++;
  ring->damaged = true;
}

// A drainer that has come to the end removes the rings, and then the page.
bool ImageRings::HasPage() const {
  ImagePath::Path path;
  path_->Page(path);
  return access(path, F_OK) == 0;
}

// Rings of an image are numbered from 1 without gaps.
void ImageRings::Discover(bool look) {
  while (count_ != kMaxRings) {
    const uint32_t announced = __atomic_load_n(&page_->ring_files, __ATOMIC_ACQUIRE);
    const bool is_told = announced <= kMaxRings;  // else the page is damaged
    const bool is_announced = is_told && count_ < announced;
    if (!look && is_told && !is_announced) return;
    Source* ring = nullptr;
    const int error = Map(count_ + 1, &ring);
    const Unread unread = WhyUnread(error, is_announced, look);
    if (unread == Unread::kNotYet || !Add(ring)) return;
    unreadable_files_ += unread == Unread::kDamaged || (unread == Unread::kGone && HasPage());
  }
}

// ---- one ring -----------------------------------------------------------------------------------

// Whether `ring` goes on where the thread left another one, of which records are still unread. A
// reused ring may go on from a newer one, with a higher number, that was made since the last look;
// it was announced before the thread came here.
bool ImageRings::MustWait(const Source& ring) {
  const uint32_t previous = ring.view.previous();
  if (previous > count_) Discover(/*look=*/false);
  if (previous > count_) return true;
  const Source* before = previous == 0 ? nullptr : rings_[previous - 1];
  if (before == nullptr || before == &ring) return false;
  RingRecord record;
  if (before->damaged) return false;
  return before->view.thread() == ring.view.thread() &&
         before->view.Read(before->position, &record);
}

// Gives the ring the thread whose records lie at its position. False: there are none, or that
// thread's records in another ring come first (unless forced), or there is no memory. A ring
// changes hands only when it is drained, so its page names the owner of the unread records.
bool ImageRings::Attach(Source* ring, bool force) {
  if (ring->stream != nullptr) return true;
  RingRecord record;
  if (!ring->view.Read(ring->position, &record) || (!force && MustWait(*ring))) return false;
  return ring->view.use() != RingUse::kThread || FollowThread(ring);
}

// The stream of the thread that has the ring. False: there is no memory.
bool ImageRings::FollowThread(Source* ring) {
  if (ring->stream == nullptr) ring->stream = streams_.Find(ring->view.thread());
  if (ring->stream == nullptr) return false;
  ring->stream->ended = false;
  ring->stream->thread.tick_shift = entries_->tick_shift();
  return true;
}

// The records from the ring's position on that make one chunk.
ImageRings::Segment ImageRings::FindSegment(const Source& ring) const {
  Segment segment = {ring.position, 0, false, false, false};
  const uint64_t cut = ring.view.CutAfter(ring.position);
  const uint32_t most = MostItems(ring.view.use());
  RingRecord record;
  while (segment.items < most && segment.end - ring.position < ring.view.capacity() &&
         ring.view.Read(segment.end, &record)) {
    const uint32_t kind = KindOf(record.first.word);
    if (kind == kThreadBegin && segment.end != ring.position) {
      segment.stopped = true;
      break;
    }
    segment.end += record.slots;
    segment.items++;
    segment.thread_ended = kind == kThreadEnd;
    segment.ring_ended = kind == kRingEnd;
    segment.stopped = segment.end >= cut;
    if (segment.thread_ended || segment.ring_ended || segment.stopped) break;
  }
  return segment;
}

bool ImageRings::IsDue(const Source& ring, const Segment& segment, DrainPass pass) const {
  return segment.items != 0 &&
         (pass != DrainPass::kDue || segment.items == MostItems(ring.view.use()) ||
          segment.thread_ended || segment.ring_ended || segment.stopped ||
          segment.end - ring.position >= ring.view.capacity() / 2);
}

void ImageRings::CountClamped(uint64_t count) {
  if (count == 0) return;
  if (consumes()) {
    __atomic_fetch_add(&page_->losses[kClamped], count, __ATOMIC_RELAXED);
  } else {
    clamped_ += count;
  }
}

// Where the producer cannot have come: a ring further, and half of one beyond the head, which it
// stores at every quarter.
uint64_t ImageRings::LimitOf(const Source& ring) {
  const uint64_t lap = ring.position + ring.view.capacity();
  const uint64_t ahead = ring.view.head() + ring.view.capacity() / 2 + kMostReserved;
  return lap < ahead ? lap : ahead;
}

// In the last pass: goes on at the next record where the ring's position holds none. Every slot up
// to the head, and up to the last one that was read, was written in this lap or the next; what lies
// beyond has the bit of the lap before. The reader counts what is passed over as missing, except
// after the last record.
void ImageRings::PassOverDamage(Source* ring) {
  const RingView& view = ring->view;
  const uint64_t head = view.head();
  const bool is_written = ring->position != ring->begin || ring->begin == 0 || ring->begin < head;
  RingRecord record;
  if (!is_written || view.Read(ring->position, &record)) return;
  for (uint64_t at = ring->position + 1; at < ring->limit; at++) {
    if (!view.Read(at, &record) || KindOf(record.first.word) == kContinued) continue;
    // A living producer writes in order: what was not there before this one is there by now.
    if (!view.Read(ring->position, &record)) ring->position = at;
    return;
  }
  if (ring->position >= head || head > ring->limit || HasMoved(*ring)) return;
  missing_records_ += head - ring->position;
  ring->position = head;
}

// Salvage beside a live drainer: what it moved past meanwhile may be overwritten, and is in the
// file by now.
bool ImageRings::HasMoved(const Source& ring) const {
  return !consumes() && ring.view.tail() > ring.position;
}

void ImageRings::MoveTo(Source* ring, uint64_t position) {
  ring->position = position;
  chunks_++;
  if (consumes()) ring->view.MoveTail(position);
}

// Writes the records from the ring's position to `end`, in as many chunks as it takes. `finish`
// writes a chunk and returns how many of its times had to move. False: the sink refused. A ring
// that stays where it is was damaged since it was seen.
template <typename Encoder, typename BeginChunk, typename FinishChunk>
bool ImageRings::WriteChunks(Source* ring, uint64_t end, Encoder* encoder, BeginChunk begin,
                             FinishChunk finish) {
  while (ring->position != end) {
    begin();
    uint64_t at = ring->position, stray_pads = 0;
    RingRecord record;
    while (at != end && !encoder->Full() && ring->view.Read(at, &record)) {
      encoder->Add(record.first, record.more);
      stray_pads += KindOf(record.first.word) == kPad && !ring->view.MayBePadded(at);
      at += record.slots;
    }
    if (HasMoved(*ring) || !IsIntact() || encoder->slots() == 0) return true;
    const uint64_t events = encoder->events();
    uint64_t clamped = 0;
    if (finish(&clamped) != 0) return false;
    events_ += encoder->events() - events;
    CountClamped(clamped);
    missing_records_ += encoder->left_out() + stray_pads;
    MoveTo(ring, at);
  }
  return true;
}

bool ImageRings::WriteItems(Source* ring, uint64_t end, Sink* sink) {
  CpuEncoder* encoder = &scratch_->encoder;
  ThreadStream* thread = &ring->stream->thread;
  uint64_t before = 0;
  changes_.Read(*page_);
  const auto begin = [&] {
    before = thread->clamped;
    encoder->Begin(thread, ring->view.number(), ring->position, &changes_);
  };
  const auto finish = [&](uint64_t* clamped) {
    *clamped = thread->clamped - before;
    return encoder->Finish(sink);
  };
  return WriteChunks(ring, end, encoder, begin, finish);
}

bool ImageRings::WriteIntervals(Source* ring, uint64_t end, Sink* sink) {
  IntervalEncoder* encoder = &scratch_->intervals;
  const RingView& view = ring->view;
  const auto begin = [&] {
    encoder->Begin(view.use(),
                   {view.thread(), view.number(), ring->position, entries_->tick_shift()});
  };
  const auto finish = [&](uint64_t* clamped) {
    return encoder->Finish(sink, &scratch_->buffer, clamped);
  };
  return WriteChunks(ring, end, encoder, begin, finish);
}

bool ImageRings::WriteSegment(Source* ring, const Segment& segment, Sink* sink) {
  if (consumes()) ring->view.SetIntent(segment.end);
  return ring->view.use() == RingUse::kThread ? WriteItems(ring, segment.end, sink)
                                              : WriteIntervals(ring, segment.end, sink);
}

void ImageRings::Finish(Source* ring, const Segment& segment) {
  if (ring->stream == nullptr) return;
  if (segment.thread_ended) ring->stream->ended = true;
  if (segment.thread_ended || segment.ring_ended) ring->stream = nullptr;
}

bool ImageRings::DrainRing(Source* ring, Sink* sink, DrainPass pass, bool force, bool* moved) {
  if (ring->damaged) return true;
  replaced_ = base::PagesReplaced();
  const bool written = WriteDue(ring, sink, pass, force, moved);
  if (!IsIntact()) NoteDamage(ring);
  return written;
}

// Whether what was read of the ring since its turn began is what the file held: zeros look like
// records in every other lap.
bool ImageRings::IsIntact() const { return base::PagesReplaced() == replaced_; }

bool ImageRings::WriteDue(Source* ring, Sink* sink, DrainPass pass, bool force, bool* moved) {
  const bool final = pass == DrainPass::kFinal;
  // Bounded: a producer that never rests must not keep the others, or the heartbeat, waiting.
  for (int chunks = 0; final || chunks < kChunksPerPass; chunks++) {
    if (final) PassOverDamage(ring);
    if (!Attach(ring, force)) return true;
    const Segment segment = FindSegment(*ring);
    if (!IsIntact() || !IsDue(*ring, segment, pass)) return true;
    const uint64_t before = ring->position;
    // Entries and the clock after the records were seen: nothing they use is missing before them.
    if (!entries_->WriteBeforeRecords(sink, final) || !WriteSegment(ring, segment, sink)) {
      return false;
    }
    if (ring->position == before) return true;
    *moved = true;
    if (ring->position == segment.end) Finish(ring, segment);
  }
  busy_ = true;
  return true;
}

// The wait in which the thread is, where the pass before has found it too: one that is so long will
// have a record. Until then a part of the trace that ends here knows of it, and nothing else.
bool ImageRings::TellOpenWait(Source* ring, Sink* sink) {
  Slot begin;
  if (ring->damaged || ring->view.use() != RingUse::kThread) return true;
  const bool is_open = ring->view.ReadOpenWait(ring->position, &begin);
  const bool was_open = is_open && ring->open_wait == begin.tsc;
  if (!was_open) ring->told_open_wait = false;
  ring->open_wait = is_open ? begin.tsc : 0;
  if (!was_open || ring->told_open_wait) return true;
  ring->told_open_wait = true;
  return WriteOpenWait(ring, begin, /*ahead=*/true, sink);
}

// The wait in which the thread was when its process ended: the begin of a call, where the next
// record would have been. The tail stays, so that another drainer, or the reader, finds the same
// chunk.
bool ImageRings::EndOnOpenWait(Source* ring, Sink* sink) {
  Slot begin;
  if (ring->damaged || ring->view.use() != RingUse::kThread) return true;
  if (!ring->view.ReadOpenWait(ring->position, &begin)) return true;
  return WriteOpenWait(ring, begin, /*ahead=*/false, sink);
}

bool ImageRings::WriteOpenWait(Source* ring, const Slot& begin, bool ahead, Sink* sink) {
  if (!FollowThread(ring)) return true;
  ThreadStream* thread = &ring->stream->thread;
  const bool is_stale = begin.tsc >> thread->tick_shift < thread->last_ticks;
  if (is_stale || HasMoved(*ring)) return true;
  if (!entries_->WriteBeforeRecords(sink, /*final=*/!ahead)) return false;
  CpuEncoder* encoder = &scratch_->encoder;
  changes_.Read(*page_);
  encoder->Begin(thread, ring->view.number(), ring->position, &changes_);
  ahead ? encoder->AddAhead(begin) : encoder->Add(begin, nullptr);
  const uint64_t events = encoder->events();
  if (encoder->Finish(sink) != 0) return false;
  if (!ahead) events_ += encoder->events() - events;
  chunks_++;
  return true;
}

// ---- all rings ----------------------------------------------------------------------------------

bool ImageRings::Drain(Sink* sink, DrainPass pass) {
  const bool final = pass == DrainPass::kFinal;
  for (uint32_t i = 0; final && i < count_; i++) {
    if (rings_[i] != nullptr) rings_[i]->limit = LimitOf(*rings_[i]);
  }
  // A ring may wait for another in which its thread's earlier records lie. When all wait for each
  // other (damage), the final pass takes them as they are.
  busy_ = false;
  bool force = false;
  int rounds = 0;
  for (bool moved = true; moved || (final && !force);) {
    force = final && !moved;
    moved = false;
    for (uint32_t i = 0; i < count_; i++) {
      if (rings_[i] != nullptr && !DrainRing(rings_[i], sink, pass, force, &moved)) return false;
    }
    if (pass == DrainPass::kDue || (pass == DrainPass::kAll && ++rounds == kMostRounds)) break;
  }
  for (uint32_t i = 0; pass != DrainPass::kDue && i < count_; i++) {
    if (rings_[i] == nullptr) continue;
    if (!(final ? EndOnOpenWait(rings_[i], sink) : TellOpenWait(rings_[i], sink))) return false;
  }
  return true;
}

}  // namespace rlscope::trace
