#include "trace/drain/image_entries.h"

#include <errno.h>
#include <sys/mman.h>

#include "base/proc.h"
#include "trace/drain/entry_writer.h"
#include "trace/drain/mapped_file.h"
#include "trace/format/tick_unit.h"

namespace rlscope::trace {
namespace {

constexpr uint32_t kMaxFiles = 4096;            // 256 KiB each
constexpr uint64_t kMostArenaBytes = 1u << 20;  // with the longest entry there is
constexpr char kToolVersion[] = "0.1.0";

}  // namespace

ImageEntries::~ImageEntries() {
  if (mapping_ != nullptr) munmap(mapping_, mapping_bytes_);
}

void ImageEntries::Open(const ProcessPage* page, uint64_t bytes, const ImagePath* path,
                        ChunkBuffer* buffer, SourceFiles* files, bool has_clock) {
  page_ = page;
  path_ = path;
  buffer_ = buffer;
  clock_ = base::ToClockKind(page->clock_kind);
  files_of_sites_ = files;
  has_clock_ = has_clock;
  tick_shift_ = clock_ == base::ClockKind::kMonotonic ? 0 : TickShift(page->tsc_hz);
  arena_ = ArenaView(page, &page->arena_used, bytes);
}

bool ImageEntries::WriteHeader(Sink* sink) {
  if (began_) return true;
  char host[256];
  char boot_id[64];
  base::ReadHostName(host, sizeof host);
  base::ReadBootId(boot_id, sizeof boot_id);
  const ImageIdentity& identity = path_->identity();
  const ProcessFields fields = {kToolVersion,
                                host,
                                boot_id,
                                identity.pid,
                                identity.start_time,
                                identity.began_ns,
                                clock_,
                                page_->tsc_hz,
                                static_cast<uint32_t>(page_->main_thread),
                                tick_shift_};
  const base::ClockPair first = {page_->first_tick >> tick_shift_, page_->first_ns};
  if (WriteProcess(sink, buffer_, fields) != 0) return false;
  if (WriteClock(sink, buffer_, &first, 1) != 0) return false;
  began_ = true;
  return true;
}

bool ImageEntries::WriteArena(Sink* sink) {
  EntryWriter writer(sink, buffer_, &living_, files_of_sites_);
  const int error = writer.WriteAll(&arena_);
  damaged_bytes_ += writer.left_out();
  return error == 0;
}

int ImageEntries::MapArena(uint32_t number, void** address, uint64_t* bytes) const {
  ImagePath::Path path;
  path_->Arena(number, path);
  if (const int error = MapFile(path, kMostArenaBytes, false, address, bytes)) return error;
  const auto* names = static_cast<const NamesPage*>(*address);
  const uint64_t magic = __atomic_load_n(&names->magic, __ATOMIC_ACQUIRE);
  if (magic == kNamesMagic) return 0;
  munmap(*address, *bytes);
  return magic == 0 ? EAGAIN : EINVAL;
}

// Goes on to the next arena file, if the process made one. It makes one only when the one before
// is full, so once it exists the last entries of that one are published: they are written first.
// One that cannot be read is passed over, as rings are (image_rings.h).
bool ImageEntries::NextFile(Sink* sink, bool look, bool* moved) {
  const uint32_t announced = __atomic_load_n(&page_->arena_files, __ATOMIC_ACQUIRE);
  const bool is_told = announced <= kMaxFiles;
  *moved = false;
  if (files_ == kMaxFiles || (!look && is_told && announced <= files_)) return true;
  void* address;
  uint64_t bytes = 0;
  const int error = MapArena(files_ + 1, &address, &bytes);
  const Unread unread = WhyUnread(error, is_told && files_ < announced, look);
  if (unread == Unread::kNotYet) return true;
  if (!WriteArena(sink)) return false;
  files_++;
  *moved = true;
  unreadable_files_ += unread == Unread::kDamaged;
  if (unread != Unread::kNo) return true;
  damaged_bytes_ += arena_.GivenUp();
  if (mapping_ != nullptr) munmap(mapping_, mapping_bytes_);
  mapping_ = address;
  mapping_bytes_ = bytes;
  const auto* names = static_cast<const NamesPage*>(address);
  arena_ = ArenaView(names, &names->arena_used, bytes);
  return true;
}

bool ImageEntries::WriteNew(Sink* sink, bool look) {
  for (bool moved = true; moved;) {
    if (!WriteArena(sink) || !NextFile(sink, look, &moved)) return false;
  }
  return true;
}

bool ImageEntries::WriteClockPair(Sink* sink) {
  if (!has_clock_) return true;
  base::ClockPair pair = base::ReadClockPair(clock_);
  pair.ticks >>= tick_shift_;
  return WriteClock(sink, buffer_, &pair, 1) == 0;
}

}  // namespace rlscope::trace
