#include "importers/spill_file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>

#include <string>
#include <system_error>

namespace rlscope::importers {
namespace {

[[noreturn]] void Fail(int error, const std::string& what) {
  throw std::system_error(error, std::generic_category(), what);
}

int OpenUnnamed() {
  const char* folder = getenv("TMPDIR");
  std::string path =
      std::string(folder != nullptr && *folder ? folder : "/tmp") + "/rlscope.XXXXXX";
  const int descriptor = mkostemp(path.data(), O_CLOEXEC);
  if (descriptor < 0) Fail(errno, "cannot create the temporary file " + path);
  unlink(path.c_str());
  return descriptor;
}

}  // namespace

SpillFile::~SpillFile() {
  if (descriptor_ >= 0) close(descriptor_);
}

uint64_t SpillFile::Append(const void* bytes, size_t size) {
  if (descriptor_ < 0) descriptor_ = OpenUnnamed();
  const uint64_t begin = size_;
  const char* from = static_cast<const char*>(bytes);
  while (size > 0) {
    const ssize_t written = pwrite(descriptor_, from, size, static_cast<off_t>(size_));
    if (written < 0 && errno == EINTR) continue;
    if (written <= 0) Fail(written < 0 ? errno : ENOSPC, "cannot write sorted rows to TMPDIR");
    from += written;
    size -= static_cast<size_t>(written);
    size_ += static_cast<uint64_t>(written);
  }
  return begin;
}

void SpillFile::Read(uint64_t offset, void* bytes, size_t size) const {
  char* into = static_cast<char*>(bytes);
  while (size > 0) {
    const ssize_t got = pread(descriptor_, into, size, static_cast<off_t>(offset));
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) Fail(got < 0 ? errno : EIO, "cannot read sorted rows from TMPDIR");
    into += got;
    offset += static_cast<uint64_t>(got);
    size -= static_cast<size_t>(got);
  }
}

}  // namespace rlscope::importers
