// Where rings go when the disk of the trace makes records wait.
#include "trace/drain/ring_disk.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <stdlib.h>
#include <unistd.h>

#include <filesystem>
#include <string>

#include "trace/drain/control_page.h"
#include "trace/read/process_log_reader.h"

namespace rlscope::trace {
namespace {

class RingDiskTest : public testing::Test {
 protected:
  RingDiskTest() : path_(mkdtemp(template_)) {}
  ~RingDiskTest() override { std::filesystem::remove_all(path_); }

  // Folder of the rings of a run on a disk whose longest store takes `store_ns`; empty: DIR/rings.
  std::string PlaceOn(int64_t (*longest_store_ns)(const char*)) {
    DrainOptions options;
    options.longest_store_ns = longest_store_ns;
    ControlPage* page = nullptr;
    EXPECT_EQ(CreateControl(path_.c_str(), nullptr, options, &page), 0);
    const std::string folder = page->trace_rings;
    ReleaseControl(page);
    return folder;
  }

  char template_[32] = "/tmp/rlscope_disk_XXXXXX";
  std::string path_;
};

TEST(StoreTimer, CountsTimeInWhichItsThreadWaited) {
  EXPECT_EQ(StoreTimer().WaitedNs(), 0);
  const StoreTimer timer;
  usleep(2000);
  EXPECT_GE(timer.WaitedNs(), 2000000);
}

TEST_F(RingDiskTest, IsMeasuredAndLeftAsItWas) {
  EXPECT_GE(LongestStoreNs(path_.c_str()), 0);
  EXPECT_TRUE(std::filesystem::is_empty(path_));
  EXPECT_EQ(LongestStoreNs((path_ + "/none").c_str()), 0);
}

TEST_F(RingDiskTest, AFastOneHoldsTheRings) {
  EXPECT_EQ(PlaceOn([](const char*) { return kLongStoreNs; }), "");
}

TEST_F(RingDiskTest, ASlowOneLeavesThemToMemory) {
  const std::string folder = PlaceOn([](const char*) { return kLongStoreNs + 1; });
  if (IsDiskFull("/dev/shm", 1ull << 30)) {
    EXPECT_EQ(folder, "") << "memory would be missed more than it helps";
    return;
  }
  EXPECT_THAT(folder, testing::StartsWith("/dev/shm/rlscope-"));
  EXPECT_TRUE(std::filesystem::is_directory(folder));
  std::vector<ProcessRecord> log;
  std::vector<Problem> problems;
  ASSERT_TRUE(ReadProcessLog(path_ + "/processes.log", &log, &problems).ok());
  EXPECT_EQ(TakeRunNotes(&log).rings, folder);
  std::filesystem::remove_all(folder);
}

}  // namespace
}  // namespace rlscope::trace
