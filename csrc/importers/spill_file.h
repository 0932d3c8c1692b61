// A temporary file without a name, to which sorted runs of rows go: one for all files of an import,
// so that their number is not bounded by that of descriptors. One thread at a time.
#ifndef RLSCOPE_IMPORTERS_SPILL_FILE_H_
#define RLSCOPE_IMPORTERS_SPILL_FILE_H_

#include <stddef.h>
#include <stdint.h>

namespace rlscope::importers {

// In TMPDIR, else /tmp. Every function throws std::system_error: there is no room, or it cannot be
// read.
class SpillFile {
 public:
  SpillFile() = default;
  ~SpillFile();
  SpillFile(const SpillFile&) = delete;
  SpillFile& operator=(const SpillFile&) = delete;

  // Where they begin.
  uint64_t Append(const void* bytes, size_t size);
  void Read(uint64_t offset, void* bytes, size_t size) const;

 private:
  int descriptor_ = -1;
  uint64_t size_ = 0;
};

}  // namespace rlscope::importers

#endif  // RLSCOPE_IMPORTERS_SPILL_FILE_H_
