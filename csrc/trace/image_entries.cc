#include "trace/image_entries.h"

#include <sys/mman.h>

#include "base/proc.h"
#include "trace/entry_writer.h"
#include "trace/mapped_file.h"
#include "trace/tick_unit.h"

namespace rlscope::trace {
namespace {

constexpr uint32_t kMaxFiles = 4096;  // 256 KiB each
constexpr char kToolVersion[] = "0.1.0";

// ClockKind of a page that anybody may have written.
base::ClockKind CheckedClock(uint32_t kind) {
  return kind == 1 || kind == 3 ? static_cast<base::ClockKind>(kind) : base::ClockKind::kMonotonic;
}

}  // namespace

ImageEntries::~ImageEntries() {
  if (mapping_ != nullptr) munmap(mapping_, mapping_bytes_);
}

void ImageEntries::Open(const ProcessPage* page, uint64_t bytes, const ImagePath* path,
                        ChunkBuffer* buffer, bool has_clock) {
  page_ = page;
  path_ = path;
  buffer_ = buffer;
  clock_ = CheckedClock(page->clock_kind);
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
  const ProcessFields fields = {kToolVersion,
                                host,
                                boot_id,
                                page_->pid,
                                page_->start_time,
                                page_->began_ns,
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

// Goes on to the next arena file, if the process made one. It makes one only when the one before
// is full, so once it exists the last entries of that one are published: they are written first.
bool ImageEntries::NextFile(Sink* sink, bool* moved) {
  *moved = false;
  if (files_ == kMaxFiles) return true;
  ImagePath::Path path;
  path_->Arena(files_ + 1, path);
  void* address;
  uint64_t bytes = 0;
  if (MapFile(path, kPageSize, false, &address, &bytes) != 0) return true;
  const auto* names = static_cast<const NamesPage*>(address);
  if (__atomic_load_n(&names->magic, __ATOMIC_ACQUIRE) != kNamesMagic) {
    munmap(address, bytes);
    return true;
  }
  const bool written = EntryWriter(sink, buffer_).WriteAll(&arena_) == 0;
  if (mapping_ != nullptr) munmap(mapping_, mapping_bytes_);
  mapping_ = address;
  mapping_bytes_ = bytes;
  arena_ = ArenaView(names, &names->arena_used, bytes);
  files_++;
  *moved = true;
  return written;
}

bool ImageEntries::WriteNew(Sink* sink, bool look) {
  for (bool moved = true; moved;) {
    moved = false;
    EntryWriter writer(sink, buffer_);
    if (writer.WriteAll(&arena_) != 0) return false;
    if (!look && __atomic_load_n(&page_->arena_files, __ATOMIC_ACQUIRE) <= files_) return true;
    if (!NextFile(sink, &moved)) return false;
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
