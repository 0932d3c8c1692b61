#include "trace/write/sink.h"

#include <errno.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

namespace rlscope::trace {
namespace {

constexpr uint64_t kFirstCapacity = 64 * 1024;

uint64_t TotalSize(const struct iovec* pieces, int count) {
  uint64_t size = 0;
  for (int i = 0; i < count; ++i) size += pieces[i].iov_len;
  return size;
}

// Drops the first `size` bytes of the pieces.
void Consume(struct iovec** pieces, int* count, size_t size) {
  while (*count > 0 && size >= (*pieces)->iov_len) {
    size -= (*pieces)->iov_len;
    ++*pieces;
    --*count;
  }
  if (*count == 0) return;
  (*pieces)->iov_base = static_cast<char*>((*pieces)->iov_base) + size;
  (*pieces)->iov_len -= size;
}

// Takes back the first bytes of a frame of which the rest was refused: they would look like damage.
void TakeBack(int descriptor, uint64_t size) {
  const off_t end = size == 0 ? -1 : lseek(descriptor, 0, SEEK_END);
  if (end < 0) return;
  [[maybe_unused]] const int refused = ftruncate(descriptor, end - static_cast<off_t>(size));
}

}  // namespace

int FileSink::AppendTo(Sink* base, struct iovec* pieces, int count) {
  FileSink* sink = static_cast<FileSink*>(base);
  if (sink->error_ != 0) return sink->error_;
  const uint64_t size = TotalSize(pieces, count);
  if (sink->budget_ != nullptr && !sink->budget_->Take(size)) return sink->error_ = kBudgetSpent;
  uint64_t done = 0;
  while (count > 0) {
    const ssize_t written = writev(sink->descriptor_, pieces, count);
    if (written < 0 && errno == EINTR) continue;
    if (written <= 0) {
      sink->error_ = written < 0 ? errno : ENOSPC;
      TakeBack(sink->descriptor_, done);
      return sink->error_;
    }
    done += static_cast<uint64_t>(written);
    Consume(&pieces, &count, static_cast<size_t>(written));
  }
  sink->bytes_ += size;
  return 0;
}

MemorySink::~MemorySink() {
  if (data_ != nullptr) munmap(data_, capacity_);
}

bool MemorySink::Reserve(uint64_t size) {
  if (size <= capacity_) return true;
  uint64_t capacity = capacity_ == 0 ? kFirstCapacity : capacity_;
  while (capacity < size) capacity *= 2;
  void* memory = data_ == nullptr ? mmap(nullptr, capacity, PROT_READ | PROT_WRITE,
                                         MAP_PRIVATE | MAP_ANONYMOUS, -1, 0)
                                  : mremap(data_, capacity_, capacity, MREMAP_MAYMOVE);
  if (memory == MAP_FAILED) return false;
  data_ = static_cast<uint8_t*>(memory);
  capacity_ = capacity;
  return true;
}

int MemorySink::AppendTo(Sink* base, struct iovec* pieces, int count) {
  MemorySink* sink = static_cast<MemorySink*>(base);
  if (sink->error_ != 0) return sink->error_;
  if (!sink->Reserve(sink->bytes_ + TotalSize(pieces, count))) return sink->error_ = ENOMEM;
  for (int i = 0; i < count; ++i) {
    if (pieces[i].iov_len == 0) continue;
    memcpy(sink->data_ + sink->bytes_, pieces[i].iov_base, pieces[i].iov_len);
    sink->bytes_ += pieces[i].iov_len;
  }
  return 0;
}

}  // namespace rlscope::trace
