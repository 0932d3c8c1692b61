// Names of the files of one process image: <rings>/<image>.process and <rings>/<image>.<n><suffix>.
#ifndef RLSCOPE_TRACE_IMAGE_PATH_H_
#define RLSCOPE_TRACE_IMAGE_PATH_H_

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

namespace rlscope::trace {

class ImagePath {
 public:
  static constexpr size_t kPrefixBytes = 4096 + 512;
  static constexpr size_t kBytes = kPrefixBytes + 32;
  using Path = char[kBytes];

  // False: too long.
  bool Set(const char* rings, const char* image) {
    const int length = snprintf(prefix_, sizeof prefix_, "%s/%s", rings, image);
    return length >= 0 && static_cast<size_t>(length) < sizeof prefix_;
  }

  void Page(Path& path) const { snprintf(path, kBytes, "%s.process", prefix_); }
  void Ring(uint32_t number, Path& path) const {
    snprintf(path, kBytes, "%s.%u.ring", prefix_, number);
  }
  void Arena(uint32_t number, Path& path) const {
    snprintf(path, kBytes, "%s.%u.names", prefix_, number);
  }

 private:
  char prefix_[kPrefixBytes] = "";
};

}  // namespace rlscope::trace

#endif  // RLSCOPE_TRACE_IMAGE_PATH_H_
