#include "trace/directory/salvage.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include <algorithm>

#include "base/regular_file.h"
#include "trace/directory/folder.h"
#include "trace/drain/drain.h"
#include "trace/layout/shared_pages.h"
#include "trace/write/sink.h"

namespace rlscope::trace {
namespace {

constexpr char kPageSuffix[] = ".process";
constexpr char kRingSuffix[] = ".ring";

struct ScratchDeleter {
  void operator()(DrainScratch* scratch) const { FreeDrainScratch(scratch); }
};

// Rings come after the page of their image is complete.
bool HasRings(const std::string& rings, const std::string& image) {
  return access((rings + "/" + image + ".1.ring").c_str(), F_OK) == 0;
}

// 0 or an errno value.
int Salvage(const std::string& rings, const std::string& image, DrainScratch* scratch,
            MemorySink* sink) {
  DrainImage drain(scratch);
  if (const int error = drain.Open(rings.c_str(), image.c_str(), DrainMode::kSalvage)) return error;
  // The EndChunk carries the process's own losses; no end is known here (end_ns 0).
  return drain.Drain(sink, /*final=*/true) && drain.WriteEnd(sink, ImageEnd()) ? 0 : ENOMEM;
}

std::string ImageOf(const std::string& file, const char* suffix) {
  return file.substr(0, file.size() - strlen(suffix));
}

// Whether a process announced the ring: it stores the magic last.
bool IsAnnounced(const std::string& path) {
  uint64_t bytes, magic = 0;
  const int descriptor = base::OpenRegular(path.c_str(), O_RDONLY, &bytes);
  return descriptor >= 0 && base::ReadAndClose(descriptor, &magic, sizeof magic) == sizeof magic &&
         magic == kRingMagic;
}

// Rings whose process page is not there cannot be read.
void AddOrphans(const std::string& rings, const std::vector<std::string>& ring_files,
                const std::vector<std::string>& pages, std::vector<Problem>* problems) {
  for (const std::string& file : ring_files) {
    const std::string numbered = ImageOf(file, kRingSuffix);
    const std::string page = numbered.substr(0, numbered.rfind('.')) + kPageSuffix;
    const std::string path = rings + "/" + file;
    if (std::binary_search(pages.begin(), pages.end(), page)) continue;
    if (!IsAnnounced(path)) continue;  // or its drainer was faster
    problems->push_back({path, 0, 0, "cannot read " + path + ": its process page is missing"});
  }
}

}  // namespace

std::vector<std::unique_ptr<TraceFile>> SalvageRings(const std::string& rings,
                                                     std::vector<Problem>* problems) {
  std::vector<std::unique_ptr<TraceFile>> files;
  // Pages after rings: a process makes its page first, and a drainer removes it last.
  std::vector<std::string> ring_files, pages;
  ListFolder(rings, kRingSuffix, &ring_files);
  const int error = ListFolder(rings, kPageSuffix, &pages);
  if (error != 0 && error != ENOENT) {
    problems->push_back(
        {rings, 0, 0, "cannot read " + rings + ": " + base::DescribeOpenError(error)});
  }
  AddOrphans(rings, ring_files, pages, problems);
  const std::unique_ptr<DrainScratch, ScratchDeleter> scratch(pages.empty() ? nullptr
                                                                            : NewDrainScratch());
  for (const std::string& page : pages) {
    const std::string label = rings + "/" + page;
    MemorySink sink;
    const std::string image = ImageOf(page, kPageSuffix);
    if (const int failure = Salvage(rings, image, scratch.get(), &sink)) {
      // Removed by its drainer meanwhile, or not yet begun: nothing is lost.
      const bool cut = failure == EAGAIN && HasRings(rings, image);
      if (failure == ENOENT || (failure == EAGAIN && !cut)) continue;
      const char* why = failure == EINVAL ? "it is damaged"
                        : cut             ? "it was cut short"
                                          : base::DescribeOpenError(failure);
      problems->push_back({label, 0, 0, "cannot read " + label + " and its rings: " + why});
      continue;
    }
    std::unique_ptr<TraceFile> file;
    std::vector<uint8_t> bytes(sink.data(), sink.data() + sink.bytes());
    const base::Status status = TraceFile::FromBytes(std::move(bytes), label, &file);
    if (status.ok()) files.push_back(std::move(file));
  }
  return files;
}

}  // namespace rlscope::trace
