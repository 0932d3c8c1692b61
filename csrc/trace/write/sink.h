// Where encoded bytes go: a trace file, or memory. No virtual functions: librlscope.so has no
// C++ runtime library to call.
//
// One thread at a time uses a sink.
#ifndef RLSCOPE_TRACE_WRITE_SINK_H_
#define RLSCOPE_TRACE_WRITE_SINK_H_

#include <stddef.h>
#include <stdint.h>
#include <sys/uio.h>

#include "trace/write/byte_budget.h"

namespace rlscope::trace {

class Sink {
 public:
  // Appends all pieces, in order, as one frame. 0, or the errno value of what failed (ENOSPC,
  // EDQUOT, EFBIG, EIO, ENOMEM...). After a failure the sink takes nothing more and returns that
  // error again: frames after one that is missing would not be in order.
  // May change `pieces`.
  int Append(struct iovec* pieces, int count) { return append_(this, pieces, count); }

  // Takes nothing more, as if the last write had failed.
  void Refuse(int error) { error_ = error; }

  uint64_t bytes() const { return bytes_; }  // appended so far, whole frames only
  int error() const { return error_; }       // first failure, 0 none

  Sink(const Sink&) = delete;
  Sink& operator=(const Sink&) = delete;

 protected:
  using AppendFunction = int (*)(Sink*, struct iovec*, int);
  explicit Sink(AppendFunction append) : append_(append) {}

  AppendFunction append_;
  uint64_t bytes_ = 0;
  int error_ = 0;
};

// Appends to a file descriptor opened with O_APPEND, with one writev per frame. A short write is
// continued, EINTR retried; if a frame is refused half way, nothing of it stays. Does not own the
// descriptor, nor the budget, which may be null: no limit.
class FileSink : public Sink {
 public:
  explicit FileSink(int descriptor = -1, ByteBudget* budget = nullptr)
      : Sink(&FileSink::AppendTo), descriptor_(descriptor), budget_(budget) {}

  // Goes on with another descriptor (the helper thread moved it); keeps bytes() and error().
  void SetDescriptor(int descriptor) { descriptor_ = descriptor; }
  int descriptor() const { return descriptor_; }

 private:
  static int AppendTo(Sink* sink, struct iovec* pieces, int count);

  int descriptor_;
  ByteBudget* budget_;
};

// Appends to anonymous memory that grows by doubling (mmap, mremap).
class MemorySink : public Sink {
 public:
  MemorySink() : Sink(&MemorySink::AppendTo) {}
  ~MemorySink();

  const uint8_t* data() const { return data_; }  // bytes() of it; moves when it grows

 private:
  static int AppendTo(Sink* sink, struct iovec* pieces, int count);
  bool Reserve(uint64_t size);

  uint8_t* data_ = nullptr;
  uint64_t capacity_ = 0;
};

}  // namespace rlscope::trace

#endif  // RLSCOPE_TRACE_WRITE_SINK_H_
