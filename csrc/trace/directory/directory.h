// A trace directory: the log of processes, their files, and the rest in their rings. Opening reads;
// nothing is ever written, created or removed.
#ifndef RLSCOPE_TRACE_DIRECTORY_DIRECTORY_H_
#define RLSCOPE_TRACE_DIRECTORY_DIRECTORY_H_

#include <stdint.h>

#include <memory>
#include <string>
#include <vector>

#include "base/status.h"
#include "trace/directory/process_images.h"

namespace rlscope::trace {

class Directory {
 public:
  // `rings`: folder of the rings when it is not the one the run itself names; empty: find it.
  // An error is one sentence: no such directory, no permission, not a trace, nothing readable.
  static base::Status Open(const std::string& path, const std::string& rings,
                           std::unique_ptr<Directory>* directory);

  const std::string& path() const { return path_; }
  // In order of began_ns.
  const std::vector<ProcessImage>& processes() const { return processes_; }
  // Why recording was cut short (control_page.h), 0: it was not; and when, CLOCK_MONOTONIC.
  uint32_t cut() const { return cut_; }
  int64_t cut_ns() const { return cut_ns_; }
  // Directories of runs that processes of this one recorded: rls-prof under rls-prof.
  const std::vector<std::string>& nested() const { return nested_; }
  // Problems of processes.log and of every file, even of files that could not be opened.
  const std::vector<Problem>& problems() const { return problems_; }

 private:
  friend class DirectoryOpener;
  Directory() = default;

  std::string path_;
  std::vector<ProcessImage> processes_;
  std::vector<Problem> problems_;
  std::vector<std::string> nested_;
  uint32_t cut_ = 0;
  int64_t cut_ns_ = 0;
};

}  // namespace rlscope::trace

#endif  // RLSCOPE_TRACE_DIRECTORY_DIRECTORY_H_
