// Which file is mapped at an address: processes that share memory have one inode in common.
#include <fcntl.h>

#include "runtime/detached.h"
#include "runtime/rlscope.h"
#include "runtime/syscalls.h"

namespace rlscope::runtime {
namespace {

// Reads lines of /proc/self/maps character by character:
//
//   7f5ad3a4b000-7f5ad3a4c000 rw-s 00000000 00:1b 4711    /dev/shm/sem.mp-x (deleted)
//   begin        end          (three fields)      inode
class MapsLine {
 public:
  explicit MapsLine(uint64_t address) : address_(address) {}

  void Take(char character) {
    if (character == '\n') return End();
    const char separator = field_ == 0 ? '-' : ' ';
    if (character == separator) {
      field_++;
    } else if (field_ <= 1) {
      ends_[field_] = ends_[field_] << 4 | HexDigit(character);
    } else if (field_ == kInodeField && character >= '0' && character <= '9') {
      inode_ = inode_ * 10 + static_cast<uint64_t>(character - '0');
    }
  }

  bool found() const { return found_; }
  uint64_t inode() const { return found_inode_; }

 private:
  static constexpr int kInodeField = 5;

  static uint64_t HexDigit(char character) {
    return static_cast<uint64_t>(character <= '9' ? character - '0' : character - 'a' + 10);
  }

  void End() {
    if (ends_[0] <= address_ && address_ < ends_[1]) {
      found_ = true;
      found_inode_ = inode_;
    }
    field_ = 0;
    ends_[0] = ends_[1] = inode_ = 0;
  }

  uint64_t address_;
  int field_ = 0;
  uint64_t ends_[2] = {};
  uint64_t inode_ = 0;
  bool found_ = false;
  uint64_t found_inode_ = 0;
};

void ReadMaps(void* argument) {
  auto* line = static_cast<MapsLine*>(argument);
  const int descriptor = OpenHidden("/proc/self/maps", O_RDONLY, 0);
  if (descriptor < 0) return;
  char text[4096];
  long length;
  while (!line->found() && (length = SysRead(descriptor, text, sizeof text)) > 0) {
    for (long i = 0; i < length; i++) line->Take(text[i]);
  }
  SysClose(descriptor);
}

}  // namespace
}  // namespace rlscope::runtime

uint64_t rlscope_inode_at(const void* address) {
  rlscope::runtime::MapsLine line(reinterpret_cast<uintptr_t>(address));
  rlscope::runtime::RunDetached(&rlscope::runtime::ReadMaps, &line);
  return line.inode();
}
