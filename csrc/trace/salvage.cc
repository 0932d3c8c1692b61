#include "trace/salvage.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include <algorithm>

#include "trace/drain.h"
#include "trace/folder.h"
#include "trace/sink.h"

namespace rlscope::trace {
namespace {

constexpr char kPageSuffix[] = ".process";

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

}  // namespace

ControlPage ReadControl(const std::string& directory) {
  const std::string path = directory + "/rings/control";
  ControlPage page = {};
  const int descriptor = open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  if (descriptor < 0) return page;
  const ssize_t got = read(descriptor, &page, sizeof page);
  close(descriptor);
  return got == sizeof page && page.magic == kControlMagic ? page : ControlPage{};
}

std::string FindRings(const std::string& directory, const ControlPage& control,
                      const std::string& logged) {
  const std::string rings = directory + "/rings";
  if (control.magic == 0) return logged.empty() ? rings : logged;
  const std::string elsewhere(control.trace_rings,
                              strnlen(control.trace_rings, sizeof control.trace_rings));
  return elsewhere.empty() ? rings : elsewhere;
}

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
      const bool cut = error == EAGAIN && HasRings(rings, image);
      if (error == ENOENT || (error == EAGAIN && !cut)) continue;
      problems->push_back({label, 0, 0, cut ? label + " was cut short" : strerror(error)});
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
