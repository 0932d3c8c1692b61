// Writes the trace file that takes the place of others of its process (trace/read/rolled_up.h).
#ifndef RLSCOPE_TRACE_DIRECTORY_ROLLED_UP_FILE_H_
#define RLSCOPE_TRACE_DIRECTORY_ROLLED_UP_FILE_H_

#include <stdint.h>

#include <functional>
#include <string>

#include "base/status.h"
#include "trace/read/process_trace.h"

namespace rlscope::trace {

class RolledUpFile {
 public:
  // Lies in `folder` as <host>.<pid>.<start_time>.<began_ns>.rls, once it is published.
  RolledUpFile(const std::string& folder, const ProcessTrace& process);
  ~RolledUpFile();  // leaves nothing that was not published
  RolledUpFile(const RolledUpFile&) = delete;
  RolledUpFile& operator=(const RolledUpFile&) = delete;

  // Names, stacks, threads, metadata and the end, of all files; the clock pairs for chunks from
  // `first_ticks` on; and what `carry` writes.
  base::Status Write(uint64_t first_ticks, const std::function<void(Archive*)>& carry);
  uint64_t bytes() const { return bytes_; }

  // Puts it where the one before it lies, if there is one. On disk before that.
  base::Status Publish();
  const std::string& path() const { return path_; }

 private:
  base::Status Error(int error) const;

  const ProcessTrace& process_;
  std::string path_;
  std::string unfinished_;
  int descriptor_ = -1;
  uint64_t bytes_ = 0;
};

}  // namespace rlscope::trace

#endif  // RLSCOPE_TRACE_DIRECTORY_ROLLED_UP_FILE_H_
