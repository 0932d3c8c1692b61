#include "trace/salvage.h"

#include <gtest/gtest.h>
#include <stdlib.h>
#include <string.h>

#include <filesystem>
#include <fstream>

#include "memory_trace.h"
#include "trace/cursor.h"
#include "trace/directory.h"
#include "trace/record.h"
#include "trace/shared_pages.h"

namespace rlscope::trace {
namespace {

constexpr char kImage[] = "100.77.5";
constexpr uint64_t kSlots = 64;

// A run directory with the mapped pages of one killed process, laid out by hand.
class SalvageTest : public testing::Test {
 protected:
  void SetUp() override {
    path_ = mkdtemp(template_);
    rings_ = path_ + "/rings";
    std::filesystem::create_directories(rings_);
  }
  void TearDown() override { std::filesystem::remove_all(path_); }

  static void WriteFile(const std::string& path, const std::vector<uint8_t>& bytes) {
    std::filesystem::create_directories(std::filesystem::path(path).parent_path());
    std::ofstream(path, std::ios::binary)
        .write(reinterpret_cast<const char*>(bytes.data()), static_cast<long>(bytes.size()));
  }

  void WriteProcessPage(ClockKind clock = ClockKind::kMonotonic, uint64_t tsc_hz = 0) {
    std::vector<uint8_t> bytes(kProcessFileSize);
    const std::string name = "inference";
    const ArenaEntry entry = {static_cast<uint16_t>(EntryKind::kOperationName), 0, 7, 0,
                              static_cast<uint32_t>(name.size())};
    memcpy(&bytes[kPageSize], &entry, sizeof entry);
    memcpy(&bytes[kPageSize + sizeof entry], name.data(), name.size());
    ProcessPage page = {};
    page.magic = kProcessMagic;
    page.abi_version = kAbiVersion;
    page.pid = 100;
    page.start_time = 77;
    page.began_ns = 5;
    page.clock_kind = static_cast<uint32_t>(clock);
    page.tsc_hz = tsc_hz;
    page.losses[kLostRecords] = 3;
    page.arena_capacity = kProcessFileSize - kPageSize;
    page.arena_used = sizeof entry + (name.size() + 7) / 8 * 8;
    memcpy(bytes.data(), &page, sizeof page);
    WriteFile(rings_ + "/" + kImage + ".process", bytes);
  }

  // A ring whose slots [0, tail) were drained and [tail, items.size()) were not.
  void WriteRing(const std::vector<Item>& items, uint64_t tail) {
    std::vector<uint8_t> bytes(kPageSize + kSlots * sizeof(Slot));
    for (uint64_t i = 0; i < items.size(); ++i) {
      const Slot slot = {items[i].ticks, items[i].duration,
                         MakeWord(items[i].kind, items[i].id, LapOf(i, kSlots))};
      memcpy(&bytes[kPageSize + i % kSlots * sizeof slot], &slot, sizeof slot);
    }
    RingPage page = {};
    page.magic = kRingMagic;
    page.abi_version = kAbiVersion;
    page.number = 1;
    page.capacity = kSlots;
    page.state = static_cast<uint32_t>(RingState::kActive);
    page.began_ns = 5;
    page.thread = 1;
    page.tail = tail;
    memcpy(bytes.data(), &page, sizeof page);
    WriteFile(rings_ + "/" + kImage + ".1.ring", bytes);
  }

  std::vector<int64_t> Times() {
    const base::Status status = Directory::Open(path_, "", &directory_);
    EXPECT_TRUE(status.ok()) << status.message();
    std::vector<int64_t> times;
    ThreadCursor cursor(*directory_->processes().at(0).trace, 0);
    while (const CpuBatch* batch = cursor.Next()) {
      EXPECT_FALSE(batch->begins_after_gap);
      times.insert(times.end(), batch->time_ns, batch->time_ns + batch->count);
    }
    return times;
  }

  char template_[32] = "/tmp/rlscope_salvage_XXXXXX";
  std::string path_, rings_;
  std::unique_ptr<Directory> directory_;
};

const std::vector<Item> kItems = {{kThreadBegin, 1, 10},
                                  {kOperationEnter, 7, 20},
                                  {kOperationExit, 7, 30},
                                  {kOperationEnter, 7, 40}};

TEST_F(SalvageTest, AFastClockIsReadInTheUnitOfItsFile) {
  WriteProcessPage(ClockKind::kTsc, 2000000000);
  WriteRing(kItems, 0);
  EXPECT_EQ(Times(), (std::vector<int64_t>{5, 10, 15, 20}));
  EXPECT_EQ(directory_->processes().at(0).trace->info().tick_hz, 2000000000u);
}

TEST_F(SalvageTest, WhatRingsStillHoldIsRead) {
  WriteProcessPage();
  WriteRing(kItems, 0);
  EXPECT_EQ(Times(), (std::vector<int64_t>{10, 20, 30, 40}));
  const ProcessImage& image = directory_->processes()[0];
  EXPECT_EQ(image.os_pid, 100u);
  EXPECT_EQ(image.ended, Ended::kLastRecord);
  EXPECT_EQ(image.end_ns, 40);
  EXPECT_EQ(image.trace->FindName(7)->text, "inference");
  ASSERT_EQ(image.trace->end()->losses.size(), 1u);
  EXPECT_EQ(image.trace->end()->losses[0].second, 3u);
}

TEST_F(SalvageTest, WhatTheFileHasAlreadyCountsOnce) {
  WriteProcessPage();
  MemoryTrace file;
  file.Process().Items(1, {kItems[0], kItems[1]});
  WriteFile(path_ + "/trace/box.100.77.0.rls", file.bytes());
  WriteRing(kItems, 2);
  EXPECT_EQ(Times(), (std::vector<int64_t>{10, 20, 30, 40})) << "drained up to the tail";
  WriteRing(kItems, 0);
  EXPECT_EQ(Times(), (std::vector<int64_t>{10, 20, 30, 40}))
      << "the drainer died between its write and the tail";
}

TEST_F(SalvageTest, OpeningChangesNothing) {
  WriteProcessPage();
  WriteRing(kItems, 1);
  const auto read = [&](const char* name) {
    std::ifstream stream(rings_ + "/" + kImage + name, std::ios::binary);
    return std::string(std::istreambuf_iterator<char>(stream), {});
  };
  const std::string page = read(".process"), ring = read(".1.ring");
  ASSERT_TRUE(Directory::Open(path_, "", &directory_).ok());
  EXPECT_EQ(read(".process"), page);
  EXPECT_EQ(read(".1.ring"), ring);
}

TEST_F(SalvageTest, RingsMayLieWhereTheControlPageSays) {
  EXPECT_EQ(FindRings(path_, ReadControl(path_), ""), path_ + "/rings");
  EXPECT_EQ(FindRings(path_, ReadControl(path_), "/tmp/logged"), "/tmp/logged")
      << "there is no page";
  ControlPage control = {};
  control.magic = kControlMagic;
  strcpy(control.trace_rings, "/dev/shm/elsewhere");
  std::vector<uint8_t> bytes(kPageSize);
  memcpy(bytes.data(), &control, sizeof control);
  WriteFile(path_ + "/rings/control", bytes);
  EXPECT_EQ(FindRings(path_, ReadControl(path_), "/tmp/logged"), "/dev/shm/elsewhere");
  memset(bytes.data() + offsetof(ControlPage, trace_rings), 0, sizeof control.trace_rings);
  WriteFile(path_ + "/rings/control", bytes);
  EXPECT_EQ(FindRings(path_, ReadControl(path_), "/tmp/logged"), path_ + "/rings");
}

TEST_F(SalvageTest, GarbageInTheFolderIsAProblemAndNoMore) {
  WriteFile(rings_ + "/1.2.3.process", std::vector<uint8_t>(kProcessFileSize, 0x5a));
  WriteFile(rings_ + "/4.5.6.process", {1, 2, 3});
  std::vector<Problem> problems;
  EXPECT_TRUE(SalvageRings(rings_, &problems).empty());
  EXPECT_EQ(problems.size(), 1u) << "the short one may be about to begin";
  WriteFile(rings_ + "/4.5.6.1.ring", {1});
  EXPECT_TRUE(SalvageRings(rings_, &problems).empty());
  EXPECT_EQ(problems.size(), 3u) << "it had begun";
}

}  // namespace
}  // namespace rlscope::trace
