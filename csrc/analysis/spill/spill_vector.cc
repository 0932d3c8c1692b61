#include "analysis/spill/spill_vector.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <string>
#include <system_error>
#include <utility>

namespace rlscope::analysis {
namespace {

constexpr size_t kSmallestBytes = 64 << 10;

[[noreturn]] void Fail(int error, const char* what) {
  throw std::system_error(error, std::generic_category(), what);
}

int OpenUnlinkedFile() {
  const char* folder = getenv("TMPDIR");
  std::string path =
      std::string(folder != nullptr && *folder ? folder : "/tmp") + "/rlscope.XXXXXX";
  const int descriptor = mkostemp(path.data(), O_CLOEXEC);
  if (descriptor < 0) Fail(errno, ("cannot create the temporary file " + path).c_str());
  unlink(path.c_str());
  return descriptor;
}

}  // namespace

SpillMemory::~SpillMemory() { Release(); }

void SpillMemory::Swap(SpillMemory* other) {
  std::swap(data_, other->data_);
  std::swap(capacity_, other->capacity_);
  std::swap(descriptor_, other->descriptor_);
}

void SpillMemory::Release() {
  if (data_ != nullptr) munmap(data_, capacity_);
  if (descriptor_ >= 0) close(descriptor_);
}

void SpillMemory::Reserve(size_t bytes) {
  if (bytes <= capacity_) return;
  size_t capacity = std::max(kSmallestBytes, capacity_);
  while (capacity < bytes) capacity *= 2;
  if (in_file()) {
    GrowFile(capacity);
  } else if (capacity > kMemoryBytes) {
    MoveToFile(capacity);
  } else {
    GrowMemory(capacity);
  }
  capacity_ = capacity;
}

void SpillMemory::GrowMemory(size_t capacity) {
  void* data = data_ == nullptr ? mmap(nullptr, capacity, PROT_READ | PROT_WRITE,
                                       MAP_PRIVATE | MAP_ANONYMOUS, -1, 0)
                                : mremap(data_, capacity_, capacity, MREMAP_MAYMOVE);
  if (data == MAP_FAILED) Fail(errno, "cannot get memory for the results of the sweep");
  data_ = data;
}

// Blocks are allocated here, because a full disk must be an error now, not a SIGBUS later.
void SpillMemory::MoveToFile(size_t capacity) {
  descriptor_ = OpenUnlinkedFile();
  if (int error = posix_fallocate(descriptor_, 0, capacity)) {
    Fail(error, "cannot write the results of the sweep to TMPDIR");
  }
  void* data = mmap(nullptr, capacity, PROT_READ | PROT_WRITE, MAP_SHARED, descriptor_, 0);
  if (data == MAP_FAILED) Fail(errno, "cannot map the results of the sweep into memory");
  if (data_ != nullptr) {
    memcpy(data, data_, capacity_);
    munmap(data_, capacity_);
  }
  data_ = data;
}

void SpillMemory::GrowFile(size_t capacity) {
  if (int error = posix_fallocate(descriptor_, 0, capacity)) {
    Fail(error, "cannot write the results of the sweep to TMPDIR");
  }
  void* data = mremap(data_, capacity_, capacity, MREMAP_MAYMOVE);
  if (data == MAP_FAILED) Fail(errno, "cannot map the results of the sweep into memory");
  data_ = data;
}

}  // namespace rlscope::analysis
