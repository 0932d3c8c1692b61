// Success, or one sentence: what failed, on which object, and why. Libc only: the sentence lives
// in the object.
#ifndef RLSCOPE_BASE_STATUS_H_
#define RLSCOPE_BASE_STATUS_H_

namespace rlscope::base {

class Status {
 public:
  Status() { message_[0] = '\0'; }

  // printf-style; a message longer than 511 bytes is cut. `error` is an errno value or 0; it is
  // kept for callers that act on it and is not appended to the message.
  static Status Error(int error, const char* format, ...) __attribute__((format(printf, 2, 3)));

  bool ok() const { return message_[0] == '\0'; }
  int error() const { return error_; }
  const char* message() const { return message_; }

 private:
  int error_ = 0;
  char message_[512];
};

}  // namespace rlscope::base

#endif  // RLSCOPE_BASE_STATUS_H_
