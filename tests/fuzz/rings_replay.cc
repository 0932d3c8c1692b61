// Damages the files of a killed run (good_run.h), one place at a time:
//   rings_replay [--all]
//
// Every 8 bytes are turned over, and of what is no filler every byte and (--all) every bit. Nothing
// may crash; the processes, and the threads, that have no part in the damaged file are read as
// before; and where something is missing the damage is a problem or a loss. Exit 1 on the first
// place where that is not so.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "good_run.h"
#include "read_everything.h"
#include "trace/directory/directory.h"
#include "trace/layout/record.h"
#include "trace/layout/shared_pages.h"
#include "trace/read/cursor.h"

namespace rlscope::trace {
namespace {

using Bytes = std::vector<uint8_t>;

// ---- what a directory holds -------------------------------------------------------------------

struct Contents {
  std::map<uint32_t, std::vector<uint32_t>> items;  // what, in order, by thread
  std::map<uint32_t, uint32_t> calls;               // of CUDA, by thread
  uint32_t work = 0;                                // of GPUs
  uint32_t names = 0;
  uint32_t metadata = 0;
  std::map<std::string, uint64_t> losses;

  bool HasMoreLossesThan(const Contents& other) const {
    return std::any_of(losses.begin(), losses.end(), [&](const auto& loss) {
      const auto same = other.losses.find(loss.first);
      return loss.second > (same == other.losses.end() ? 0 : same->second);
    });
  }
  bool HasLessThan(const Contents& other) const {
    return Sizes() < other.Sizes() || work < other.work || names < other.names ||
           metadata < other.metadata;
  }

 private:
  size_t Sizes() const {
    size_t sum = 0;
    for (const auto& [thread, whats] : items) sum += whats.size();
    for (const auto& [thread, count] : calls) sum += count;
    return sum;
  }
};

struct Run {
  std::map<std::pair<uint32_t, int64_t>, Contents> images;  // by pid and begin
  size_t problems = 0;
};

Contents Read(const ProcessTrace& trace) {
  Contents contents;
  for (size_t i = 0; i < trace.threads().size(); ++i) {
    const uint32_t thread = trace.threads()[i].thread.thread;
    ThreadCursor items(trace, i);
    while (const CpuBatch* batch = items.Next()) {
      auto& whats = contents.items[thread];
      whats.insert(whats.end(), batch->what, batch->what + batch->count);
    }
    CudaCallCursor calls(trace, i);
    while (const CudaCallBatch* batch = calls.Next()) contents.calls[thread] += batch->count;
  }
  for (size_t i = 0; i < trace.gpu_streams().size(); ++i) {
    GpuCursor work(trace, i);
    while (const GpuBatch* batch = work.Next()) contents.work += batch->count;
  }
  contents.names = static_cast<uint32_t>(trace.names().size());
  contents.metadata = static_cast<uint32_t>(trace.metadata().entries.size());
  contents.losses["between chunks"] = trace.missing_slots();
  if (trace.end() == nullptr) return contents;
  for (const auto& [kind, count] : trace.end()->losses) contents.losses[kind] += count;
  return contents;
}

bool ReadRun(const std::string& directory, bool analyze, Run* run) {
  std::unique_ptr<Directory> opened;
  const base::Status status = Directory::Open(directory, "", &opened);
  if (!status.ok()) {
    fprintf(stderr, "%s\n", status.message());
    return false;
  }
  CheckImages(opened->processes());
  if (analyze) AnalyzeImages(opened->processes());
  run->problems = opened->problems().size();
  for (const ProcessImage& image : opened->processes()) {
    Contents* contents = &run->images[{image.os_pid, image.began_ns}];
    if (image.trace != nullptr) *contents = Read(*image.trace);
  }
  return true;
}

// ---- what damage may do to it -------------------------------------------------------------------

// A file of the run's rings.
struct Place {
  std::pair<uint32_t, int64_t> image = {0, 0};  // none: the control page
  uint32_t ring = 0;                            // 0: the page or the names of the image

  explicit Place(const std::string& name) {
    sscanf(name.c_str(), "rings/%u.77.%ld.%u.ring", &image.first, &image.second, &ring);
  }
  bool MayChange(const std::pair<uint32_t, int64_t>& other) const { return image == other; }
  // Whether the ring holds what the thread does (good_run.cc).
  bool MayChangeItemsOf(uint32_t thread) const { return ring == 0 || ring == thread; }
};

const char* Compare(const Place& place, const Run& good, const Run& damaged) {
  bool is_less = false, is_told = damaged.problems > good.problems;
  for (const auto& [image, expected] : good.images) {
    const auto found = damaged.images.find(image);
    if (found == damaged.images.end()) return "a process is gone";
    const Contents& contents = found->second;
    if (!place.MayChange(image)) {
      if (contents.items != expected.items) return "another process changed";
      continue;
    }
    for (const auto& [thread, whats] : expected.items) {
      if (place.MayChangeItemsOf(thread)) continue;
      const auto items = contents.items.find(thread);
      if (items == contents.items.end() || items->second != whats) return "another thread changed";
    }
    is_less |= contents.HasLessThan(expected);
    is_told |= contents.HasMoreLossesThan(expected);
  }
  return is_less && !is_told ? "something is missing and nothing tells of it" : nullptr;
}

// ---- the replay -------------------------------------------------------------------------------

class Replay {
 public:
  Replay() : files_(GoodRun()) {
    char folder[] = "/tmp/rlscope_rings_XXXXXX";
    path_ = mkdtemp(folder);
    for (const auto& [name, bytes] : files_) Write(name, bytes);
  }
  ~Replay() { std::filesystem::remove_all(path_); }

  bool Run(bool all_bits);
  uint64_t places() const { return places_; }

 private:
  void Write(const std::string& name, const Bytes& bytes) const {
    const std::filesystem::path path = path_ + "/" + name;
    std::filesystem::create_directories(path.parent_path());
    std::ofstream(path, std::ios::binary)
        .write(reinterpret_cast<const char*>(bytes.data()), static_cast<long>(bytes.size()));
  }
  bool Try(const std::string& name, const Bytes& damaged, size_t offset, bool analyze);
  bool IsFiller(const std::string& name, size_t at) const;
  bool DamageWords(const std::string& name);
  bool DamageBytes(const std::string& name, bool all_bits);

  const FolderFiles files_;
  std::string path_;
  trace::Run good_;
  uint64_t places_ = 0;
};

bool Replay::Try(const std::string& name, const Bytes& damaged, size_t offset, bool analyze) {
  ++places_;
  Write(name, damaged);
  trace::Run found;
  const char* wrong = "it cannot be opened";
  if (ReadRun(path_, analyze, &found)) wrong = Compare(Place(name), good_, found);
  if (wrong == nullptr) return true;
  fprintf(stderr, "rings_replay: %s at %zu: %s\n", name.c_str(), offset, wrong);
  return false;
}

bool Replay::DamageWords(const std::string& name) {
  Bytes bytes = files_.at(name);
  for (size_t at = 0; at + 8 <= bytes.size(); at += 8) {
    for (size_t i = at; i < at + 8; ++i) bytes[i] ^= 0xff;
    const bool good = Try(name, bytes, at, /*analyze=*/!IsFiller(name, at));
    for (size_t i = at; i < at + 8; ++i) bytes[i] ^= 0xff;
    if (!good) return false;
  }
  return true;
}

// Far from anything that is not zero.
bool Replay::IsFiller(const std::string& name, size_t at) const {
  const Bytes& bytes = files_.at(name);
  const auto begin = bytes.begin() + static_cast<long>(at / 64 * 64);
  const auto end = bytes.end() - begin < 64 ? bytes.end() : begin + 64;
  return std::all_of(begin, end, [](uint8_t byte) { return byte == 0; });
}

// A record at the end of a ring that became a pad looks like a slot that was left over.
bool EndsInPad(const std::string& name, const Bytes& bytes) {
  if (name.find(".ring") == std::string::npos) return false;
  for (uint32_t i = 1; i < kMostSlots; ++i) {
    Slot slot;
    memcpy(&slot, &bytes[bytes.size() - i * sizeof slot], sizeof slot);
    if (KindOf(slot.word) == kPad) return true;
  }
  return false;
}

bool Replay::DamageBytes(const std::string& name, bool all_bits) {
  Bytes bytes = files_.at(name);
  for (size_t at = 0; at < bytes.size(); ++at) {
    if (IsFiller(name, at)) continue;
    for (uint32_t bit = 0; bit < 8; bit += all_bits ? 1 : 7) {
      bytes[at] ^= static_cast<uint8_t>(1 << bit);
      const bool good = EndsInPad(name, bytes) || Try(name, bytes, at, /*analyze=*/all_bits);
      bytes[at] ^= static_cast<uint8_t>(1 << bit);
      if (!good) return false;
    }
  }
  return true;
}

bool Replay::Run(bool all_bits) {
  if (!ReadRun(path_, /*analyze=*/true, &good_) || good_.problems != 0) return false;
  bool good = true;
  for (const auto& [name, bytes] : files_) {
    if (name == "processes.log") continue;  // its records have checksums: reader_replay
    good &= DamageWords(name);
    good &= DamageBytes(name, all_bits);
    Write(name, bytes);
  }
  return good;
}

}  // namespace
}  // namespace rlscope::trace

int main(int argc, char** argv) {
  rlscope::trace::Replay replay;
  const bool all_bits = argc > 1 && strcmp(argv[1], "--all") == 0;
  if (!replay.Run(all_bits)) return 1;
  printf("%llu damaged places: the rest is read, what is missing is told\n",
         static_cast<unsigned long long>(replay.places()));
  return 0;
}
