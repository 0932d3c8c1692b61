#include "trace/salvage.h"

#include <errno.h>
#include <string.h>

#include <algorithm>

#include "trace/drain.h"
#include "trace/folder.h"
#include "trace/shared_pages.h"
#include "trace/sink.h"

namespace rlscope::trace {
namespace {

constexpr char kPageSuffix[] = ".process";

struct ScratchDeleter {
  void operator()(DrainScratch* scratch) const { FreeDrainScratch(scratch); }
};

// 0 or an errno value.
int Salvage(const std::string& rings, const std::string& image, DrainScratch* scratch,
            MemorySink* sink) {
  DrainImage drain(scratch);
  if (const int error = drain.Open(rings.c_str(), image.c_str(), DrainMode::kSalvage)) return error;
  // The EndChunk carries the process's own losses; no end is known here (end_ns 0).
  return drain.Drain(sink, /*final=*/true) && drain.WriteEnd(sink, ImageEnd()) ? 0 : ENOMEM;
}

}  // namespace

std::vector<std::unique_ptr<TraceFile>> SalvageRings(const std::string& rings,
                                                     std::vector<Problem>* problems) {
  std::vector<std::unique_ptr<TraceFile>> files;
  std::vector<std::string> pages;
  ListFolder(rings, kPageSuffix, &pages);
  const std::unique_ptr<DrainScratch, ScratchDeleter> scratch(pages.empty() ? nullptr
                                                                            : NewDrainScratch());
  for (const std::string& page : pages) {
    const std::string label = rings + "/" + page;
    MemorySink sink;
    const std::string image = page.substr(0, page.size() - strlen(kPageSuffix));
    if (const int error = Salvage(rings, image, scratch.get(), &sink)) {
      // Removed by its drainer meanwhile, or not yet begun: nothing is lost.
      if (error != ENOENT && error != EAGAIN) problems->push_back({label, 0, 0, strerror(error)});
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
