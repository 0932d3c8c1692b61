// Which file lies at an address.
#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <vector>

#include "runtime_run.h"

namespace rlscope::test {
namespace {

constexpr size_t kBytes = 8192;

void* Map(int descriptor) {
  const int flags = descriptor < 0 ? MAP_PRIVATE | MAP_ANONYMOUS : MAP_SHARED;
  return mmap(nullptr, kBytes, PROT_READ | PROT_WRITE, flags, descriptor, 0);
}

// A file that has no name any more, as shared semaphores.
struct Unlinked {
  Unlinked() {
    char path[] = "/tmp/rlscope-inode-XXXXXX";
    descriptor = mkstemp(path);
    unlink(path);
    EXPECT_EQ(ftruncate(descriptor, kBytes), 0);
    struct stat status;
    fstat(descriptor, &status);
    inode = status.st_ino;
    address = static_cast<char*>(Map(descriptor));
    close(descriptor);
  }
  int descriptor;
  uint64_t inode;
  char* address;
};

TEST(MappedInode, IsThatOfTheFileAtTheAddress) {
  const Unlinked one, other;
  // The text of the mappings is longer than one read of it.
  std::vector<void*> more;
  for (int i = 0; i < 200; i++) {
    more.push_back(Map(-1));
    mprotect(more.back(), kBytes / 2, PROT_NONE);
  }
  EXPECT_EQ(rlscope_inode_at(one.address), one.inode);
  EXPECT_EQ(rlscope_inode_at(one.address + kBytes - 1), one.inode);
  EXPECT_EQ(rlscope_inode_at(other.address + 32), other.inode);
  for (void* address : more) munmap(address, kBytes);
  munmap(one.address, kBytes);
  munmap(other.address, kBytes);
}

TEST(MappedInode, IsZeroWhereNoFileIs) {
  void* anonymous = Map(-1);
  EXPECT_EQ(rlscope_inode_at(anonymous), 0u);
  munmap(anonymous, kBytes);
  EXPECT_EQ(rlscope_inode_at(anonymous), 0u);
  EXPECT_EQ(rlscope_inode_at(nullptr), 0u);
}

}  // namespace
}  // namespace rlscope::test
