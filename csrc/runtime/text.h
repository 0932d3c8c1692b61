// Text into a fixed buffer, without libc: paths are put together in threads and fork children
// where snprintf may not be called.
#ifndef RLSCOPE_RUNTIME_TEXT_H_
#define RLSCOPE_RUNTIME_TEXT_H_

#include <stdint.h>

namespace rlscope::runtime {

// Always NUL-terminated; what does not fit is cut (and fits() says so).
class Text {
 public:
  template <int size>
  explicit Text(char (&buffer)[size]) : Text(buffer, size) {}
  Text(char* buffer, uint64_t size) : cursor_(buffer), end_(buffer + size - 1) { *cursor_ = '\0'; }

  Text& Add(const char* text) {
    while (*text != '\0') AddByte(*text++);
    return *this;
  }

  Text& Add(uint64_t number) {
    char digits[20];
    int count = 0;
    do {
      digits[count++] = static_cast<char>('0' + number % 10);
      number /= 10;
    } while (number != 0);
    while (count > 0) AddByte(digits[--count]);
    return *this;
  }

  bool fits() const { return fits_; }

 private:
  void AddByte(char byte) {
    if (cursor_ == end_) {
      fits_ = false;
      return;
    }
    *cursor_++ = byte;
    *cursor_ = '\0';
  }

  char* cursor_;
  char* end_;
  bool fits_ = true;
};

}  // namespace rlscope::runtime

#endif  // RLSCOPE_RUNTIME_TEXT_H_
