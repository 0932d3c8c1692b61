// Names of the files of one process image: <rings>/<image>.process and <rings>/<image>.<n><suffix>,
// where <image> = <pid>.<start_time>.<began_ns>.
#ifndef RLSCOPE_TRACE_LAYOUT_IMAGE_PATH_H_
#define RLSCOPE_TRACE_LAYOUT_IMAGE_PATH_H_

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

namespace rlscope::trace {

// The identity of an image.
struct ImageIdentity {
  uint32_t pid = 0;
  uint64_t start_time = 0;
  int64_t began_ns = 0;
};

// False: `name` is not <pid>.<start_time>.<began_ns>.
inline bool ParseImageName(const char* name, ImageIdentity* identity) {
  uint64_t numbers[3];
  for (uint64_t& number : numbers) {
    number = 0;
    const char* const first = name;
    for (; *name >= '0' && *name <= '9'; name++) {
      const auto digit = static_cast<uint64_t>(*name - '0');
      if (__builtin_mul_overflow(number, 10, &number)) return false;
      if (__builtin_add_overflow(number, digit, &number)) return false;
    }
    const bool is_last = &number == &numbers[2];
    if (name == first || *name != (is_last ? '\0' : '.')) return false;
    name++;
  }
  *identity = {static_cast<uint32_t>(numbers[0]), numbers[1], static_cast<int64_t>(numbers[2])};
  return numbers[0] <= UINT32_MAX && numbers[2] <= INT64_MAX;
}

class ImagePath {
 public:
  static constexpr size_t kPrefixBytes = 4096 + 512;
  static constexpr size_t kBytes = kPrefixBytes + 32;
  using Path = char[kBytes];

  // False: too long, or `image` is no name of one.
  bool Set(const char* rings, const char* image) {
    const int length = snprintf(prefix_, sizeof prefix_, "%s/%s", rings, image);
    return length >= 0 && static_cast<size_t>(length) < sizeof prefix_ &&
           ParseImageName(image, &identity_);
  }

  // From the name: the page of the image may be damaged.
  const ImageIdentity& identity() const { return identity_; }

  void Page(Path& path) const { snprintf(path, kBytes, "%s.process", prefix_); }
  void Ring(uint32_t number, Path& path) const {
    snprintf(path, kBytes, "%s.%u.ring", prefix_, number);
  }
  void Arena(uint32_t number, Path& path) const {
    snprintf(path, kBytes, "%s.%u.names", prefix_, number);
  }

 private:
  char prefix_[kPrefixBytes] = "";
  ImageIdentity identity_;
};

}  // namespace rlscope::trace

#endif  // RLSCOPE_TRACE_LAYOUT_IMAGE_PATH_H_
