#include "trace/drain/drained_images.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <new>

#include "base/clock.h"
#include "base/proc.h"

namespace rlscope::trace {
namespace {

constexpr uint32_t kMaxOpenFiles = 256;  // more images than this reopen their file for each pass
constexpr char kSuffix[] = ".process";

void Add(DrainStats* sum, const DrainStats& stats) {
  sum->events += stats.events;
  sum->chunks += stats.chunks;
  sum->rings += stats.rings;
  sum->lost += stats.lost;
}

}  // namespace

struct DrainedImages::Entry {
  char name[80];  // "<pid>.<start_time>.<began_ns>"
  ImageFile file;
  bool left = false;    // not ours any more: the sink refused, or
  bool helped = false;  // the process drains itself
  enum : uint8_t { kUnknown, kVisible, kHidden } sight = kUnknown;
  int process = -1;     // for base::HasExited
  int64_t gone_ns = 0;  // when the kernel said that the process has ended
  Entry(const char* image, DrainScratch* scratch, ByteBudget* budget) : file(scratch, budget) {
    snprintf(name, sizeof name, "%s", image);
  }
  ~Entry() {
    if (process >= 0) close(process);
  }
  Entry(const Entry&) = delete;
  Entry& operator=(const Entry&) = delete;

  bool IsGone() {
    if (gone_ns == 0 && base::HasExited(process)) gone_ns = base::ReadMonotonicNs();
    return gone_ns != 0;
  }
};

DrainedImages::~DrainedImages() {
  CloseAll();
  free(entries_);
}

void DrainedImages::Use(DrainScratch* scratch, ByteBudget* budget) {
  scratch_ = scratch;
  budget_ = budget;
  own_namespace_ = base::PidNamespace();
}

// ---- finding them -------------------------------------------------------------------------------

bool DrainedImages::Knows(const char* image) const {
  for (uint32_t i = count_; i > 0; i--) {
    if (strcmp(entries_[i - 1]->name, image) == 0) return true;
  }
  return false;
}

bool DrainedImages::MakeRoom() {
  if (count_ != capacity_) return true;
  const uint32_t larger = capacity_ == 0 ? 16 : capacity_ * 2;
  void* memory = realloc(entries_, larger * sizeof *entries_);
  if (memory == nullptr) return false;
  entries_ = static_cast<Entry**>(memory);
  capacity_ = larger;
  return true;
}

void DrainedImages::Adopt(const char* image) {
  if (Knows(image) || !MakeRoom()) return;
  void* memory = malloc(sizeof(Entry));
  if (memory == nullptr) return;
  auto* entry = new (memory) Entry(image, scratch_, budget_);
  if (entry->file.Open(directory_, rings_, image) != 0) {
    entry->~Entry();  // not complete yet (next time), or not one of ours
    free(entry);
    return;
  }
  entries_[count_++] = entry;
}

void DrainedImages::Discover() {
  DIR* folder = opendir(rings_);
  if (folder == nullptr) return;
  while (const struct dirent* file = readdir(folder)) {
    const size_t length = strlen(file->d_name);
    const size_t suffix = sizeof kSuffix - 1;
    if (length <= suffix || strcmp(file->d_name + length - suffix, kSuffix) != 0) continue;
    char image[sizeof Entry::name];
    if (length - suffix >= sizeof image) continue;
    memcpy(image, file->d_name, length - suffix);
    image[length - suffix] = '\0';
    Adopt(image);
  }
  closedir(folder);
}

// ---- draining them ------------------------------------------------------------------------------

// Whether the image is to be drained here.
bool DrainedImages::IsOurs(Entry* entry) {
  if (entry->left) return false;
  if (!entry->file.image().taken_over()) return true;
  entry->left = entry->helped = true;
  helped_++;
  return false;
}

int DrainedImages::BeginNext(uint32_t index) {
  Entry* entry = entries_[index];
  if (!IsOurs(entry)) return 0;
  const int error = entry->file.BeginNext();
  entry->left = error != 0;
  if (count_ > kMaxOpenFiles) entry->file.CloseDescriptor();
  return error;
}

int DrainedImages::Drain(uint32_t index, bool final) {
  Entry* entry = entries_[index];
  if (!IsOurs(entry)) return 0;
  const int error = entry->file.Drain(final);
  entry->left = error != 0;
  if (count_ > kMaxOpenFiles) entry->file.CloseDescriptor();
  return error;
}

void DrainedImages::CheckRemoved() {
  for (uint32_t i = 0; i < count_; i++) entries_[i]->file.CheckRemoved();
}

bool DrainedImages::AnyBusy() const {
  for (uint32_t i = 0; i < count_; i++) {
    if (!entries_[i]->left && entries_[i]->file.image().busy()) return true;
  }
  return false;
}

void DrainedImages::AddTo(DrainStats* sum, uint64_t* bytes, uint64_t* removed) const {
  Add(sum, ended_);
  *bytes += ended_bytes_;
  for (uint32_t i = 0; i < count_; i++) {
    ImageFile& file = entries_[i]->file;
    const DrainStats stats = file.image().stats();
    Add(sum, stats);
    *bytes += file.bytes();
    if (file.removed()) *removed += stats.events;
  }
}

// ---- ending them --------------------------------------------------------------------------------

// Whether its pid is one of this namespace.
bool DrainedImages::IsVisible(const LoggedImage* logged) const {
  return logged == nullptr || logged->pid_namespace == 0 || logged->pid_namespace == own_namespace_;
}

bool DrainedImages::CanSample(Entry* entry, bool* refreshed) {
  if (!IsOurs(entry) || entry->file.image().closed()) return false;
  if (entry->sight == Entry::kUnknown) {
    if (!*refreshed) log_.Refresh();
    *refreshed = true;
    const ImageIdentity& identity = entry->file.image().identity();
    const LoggedImage* logged = log_.Find(identity.pid, identity.start_time, identity.began_ns);
    entry->sight = IsVisible(logged) ? Entry::kVisible : Entry::kHidden;
    const bool watches = entry->sight == Entry::kVisible && count_ <= kMaxOpenFiles;
    if (watches) entry->process = base::OpenProcess(identity.pid);
  }
  return entry->sight == Entry::kVisible;
}

void DrainedImages::SampleThreads() {
  bool refreshed = false;
  for (uint32_t i = 0; i < count_; i++) {
    Entry* entry = entries_[i];
    if (CanSample(entry, &refreshed) && !entry->IsGone()) entry->file.image().SampleThreads();
  }
}

// Whether the image is gone, and how it ended. Its own word first: a zombie that said goodbye, a
// process of a pid namespace that cannot be seen from here.
bool DrainedImages::FindEnd(Entry* entry, const LoggedImage* logged, ImageEnd* end) {
  const auto& [pid, start_time, began_ns] = entry->file.image().identity();
  const bool visible = IsVisible(logged);
  const int64_t replaced = log_.ReplacedNs(pid, start_time, began_ns);
  const bool said = logged != nullptr && logged->end_ns != 0;
  const bool gone = visible ? replaced != 0 || !base::IsAlive(pid, start_time) : said;
  if (!gone) return false;
  end->exited = said;
  const int64_t seen_ns = entry->gone_ns != 0 ? entry->gone_ns : base::ReadMonotonicNs();
  end->end_ns = said ? logged->end_ns : replaced != 0 ? replaced : seen_ns;
  end->python_end_ns = said ? logged->python_end_ns : 0;
  return true;
}

// The process drained itself and is gone. If it ended in order, nothing is left; if not, the rest
// of its rings and its EndChunk go to a file of their own, beside ours and its.
int DrainedImages::EndHelped(const Entry& entry, const ImageEnd& end) {
  ImageFile rest(scratch_, budget_);
  if (rest.Open(directory_, rings_, entry.name) != 0) return 0;
  const int error = rest.End(end);
  ended_bytes_ += rest.bytes();
  Add(&ended_, rest.image().stats());
  return error;
}

// Removes an entry, whether it was ended in order or is left to others.
void DrainedImages::Close(uint32_t index) {
  Entry* entry = entries_[index];
  Add(&ended_, entry->file.image().stats());
  ended_bytes_ += entry->file.bytes();
  entry->~Entry();
  free(entry);
  entries_[index] = entries_[--count_];
}

// Asking /proc for 64 processes at every pass would cost more than draining them: `all` once a
// second; at once those that said they ended, or of which the kernel says so.
int DrainedImages::CloseGone(bool all) {
  bool refreshed = false;
  int refused = 0;
  for (uint32_t i = count_; i > 0; i--) {
    Entry* entry = entries_[i - 1];
    const bool mine = !entry->left || entry->helped;
    if (!mine) continue;
    if (!all && !entry->file.image().closed() && !entry->IsGone()) continue;
    if (!refreshed) log_.Refresh();
    refreshed = true;
    ImageEnd end;
    const ImageIdentity& identity = entry->file.image().identity();
    const LoggedImage* logged = log_.Find(identity.pid, identity.start_time, identity.began_ns);
    if (!FindEnd(entry, logged, &end)) {
      if (all && !entry->left && IsVisible(logged)) entry->file.image().ReadThreads();
      continue;
    }
    const int error = entry->helped ? EndHelped(*entry, end) : entry->file.End(end);
    if (error == 0) {
      Close(i - 1);
    } else {
      entry->left = true;
      entry->helped = false;
      refused = error;
    }
  }
  return refused;
}

void DrainedImages::CloseAll() {
  while (count_ > 0) Close(count_ - 1);
}

}  // namespace rlscope::trace
