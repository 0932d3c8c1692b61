#include "trace/directory/salvage.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <map>

#include "base/clock_kind.h"
#include "memory_trace.h"
#include "trace/directory/directory.h"
#include "trace/directory/ring_folder.h"
#include "trace/layout/record.h"
#include "trace/layout/shared_pages.h"
#include "trace/read/cursor.h"

namespace rlscope::trace {
namespace {

using testing::HasSubstr;

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

  void WriteProcessPage(base::ClockKind clock = base::ClockKind::kMonotonic, uint64_t tsc_hz = 0) {
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
  void WriteRing(const std::vector<Item>& items, uint64_t tail, uint32_t number = 1,
                 const Item& wait = {}) {
    std::vector<uint8_t> bytes(kPageSize + kSlots * sizeof(Slot));
    for (uint64_t i = 0; i < items.size(); ++i) {
      const Slot slot = {items[i].ticks, items[i].duration,
                         MakeWord(items[i].kind, items[i].id, LapOf(i, kSlots))};
      memcpy(&bytes[kPageSize + i % kSlots * sizeof slot], &slot, sizeof slot);
    }
    RingPage page = {};
    page.magic = kRingMagic;
    page.abi_version = kAbiVersion;
    page.number = number;
    page.capacity = kSlots;
    page.state = static_cast<uint32_t>(RingState::kActive);
    page.began_ns = 5;
    page.thread = number;
    page.tail = tail;
    page.wait_ticks = wait.ticks;
    page.wait_word = wait.kind == 0 ? 0 : MakeWord(wait.kind, wait.id, 0);
    memcpy(bytes.data(), &page, sizeof page);
    WriteFile(rings_ + "/" + kImage + "." + std::to_string(number) + ".ring", bytes);
  }

  void Flip(const std::string& suffix, size_t offset) const {
    std::fstream file(rings_ + "/" + kImage + suffix, std::ios::in | std::ios::out);
    char byte;
    file.seekg(static_cast<long>(offset)).get(byte);
    file.seekp(static_cast<long>(offset)).put(static_cast<char>(~byte));
  }

  static std::map<std::string, uint64_t> Losses(const ProcessTrace& trace) {
    return {trace.end()->losses.begin(), trace.end()->losses.end()};
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
  WriteProcessPage(base::ClockKind::kTsc, 2000000000);
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

TEST_F(SalvageTest, TheWaitThatAThreadIsInBeginsBehindItsRecords) {
  WriteProcessPage();
  WriteRing(kItems, 0, 1, {kCall, 7, 50});
  EXPECT_EQ(Times(), (std::vector<int64_t>{10, 20, 30, 40, 50}));
  WriteRing(kItems, kItems.size(), 1, {kCall, 7, 50});
  MemoryTrace file;
  file.Process().Items(1, kItems);
  WriteFile(path_ + "/trace/box.100.77.0.rls", file.bytes());
  EXPECT_EQ(Times(), (std::vector<int64_t>{10, 20, 30, 40, 50})) << "all records are in the file";
}

TEST_F(SalvageTest, AWaitThatWasRecordedMeanwhileCountsOnce) {
  WriteProcessPage();
  WriteRing(kItems, kItems.size(), 1, {kCall, 7, 50});
  MemoryTrace file;
  file.Process().Items(1, kItems).Items(1, {{kCall, 7, 50, 25}});
  WriteFile(path_ + "/trace/box.100.77.0.rls", file.bytes());
  EXPECT_EQ(Times(), (std::vector<int64_t>{10, 20, 30, 40, 50}));
  EXPECT_EQ(directory_->processes().at(0).end_ns, 75) << "the record that knows the end counts";
  EXPECT_EQ(directory_->processes().at(0).trace->missing_slots(), 0u);
}

TEST_F(SalvageTest, AWaitThatCannotBeTrueIsLeftOut) {
  WriteProcessPage();
  WriteRing(kItems, 0, 1, {kCall, 7, 35});
  EXPECT_EQ(Times(), (std::vector<int64_t>{10, 20, 30, 40})) << "it began before the last record";
  WriteRing(kItems, 0, 1, {kOperationEnter, 7, 50});
  EXPECT_EQ(Times(), (std::vector<int64_t>{10, 20, 30, 40})) << "it is no call";
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

// ---- damage -------------------------------------------------------------------------------------

TEST_F(SalvageTest, ADamagedRecordIsMissingAndThoseBehindItAreRead) {
  WriteProcessPage();
  WriteRing(kItems, 0);
  // The word of the second slot: its lap bit, and so a record that is not there.
  Flip(".1.ring", kPageSize + sizeof(Slot) + offsetof(Slot, word));
  ASSERT_TRUE(Directory::Open(path_, "", &directory_).ok());
  const ProcessTrace& trace = *directory_->processes().at(0).trace;
  ThreadCursor cursor(trace, 0);
  std::vector<int64_t> times;
  while (const CpuBatch* batch = cursor.Next()) {
    times.insert(times.end(), batch->time_ns, batch->time_ns + batch->count);
  }
  EXPECT_EQ(times, (std::vector<int64_t>{10, 30, 40}));
  EXPECT_EQ(trace.missing_slots(), 1u);
}

TEST_F(SalvageTest, ADamagedRingLosesItsOwnRecordsOnly) {
  WriteProcessPage();
  WriteRing(kItems, 0, 1);
  WriteRing({{kThreadBegin, 2, 15}, {kOperationEnter, 7, 25}}, 0, 2);
  Flip(".1.ring", offsetof(RingPage, capacity));
  ASSERT_TRUE(Directory::Open(path_, "", &directory_).ok());
  const ProcessTrace& trace = *directory_->processes().at(0).trace;
  ASSERT_EQ(trace.threads().size(), 1u);
  EXPECT_EQ(trace.threads()[0].thread.thread, 2u);
  EXPECT_EQ(Losses(trace).at(kUnreadableFiles), 1u);
}

TEST_F(SalvageTest, ALossCounterBeyondAnyCountIsDamage) {
  WriteProcessPage();
  WriteRing(kItems, 0);
  Flip(".process", offsetof(ProcessPage, losses) + 7);
  EXPECT_EQ(Times(), (std::vector<int64_t>{10, 20, 30, 40}));
  const auto losses = Losses(*directory_->processes()[0].trace);
  EXPECT_EQ(losses, (std::map<std::string, uint64_t>{{kDamagedBytes, 8}}));
}

TEST_F(SalvageTest, RingsWithoutTheirProcessPageAreAProblem) {
  WriteProcessPage();
  WriteRing(kItems, 0);
  std::filesystem::rename(rings_ + "/" + kImage + ".1.ring", rings_ + "/100.77.6.1.ring");
  ASSERT_TRUE(Directory::Open(path_, "", &directory_).ok());
  ASSERT_EQ(directory_->problems().size(), 1u);
  EXPECT_THAT(directory_->problems()[0].what, HasSubstr("100.77.6.1.ring"));
}

TEST_F(SalvageTest, WhatIsNoRegularFileIsNotOpened) {
  WriteProcessPage();
  WriteRing(kItems, 0);
  const std::string ring = rings_ + "/" + kImage + ".1.ring";
  std::filesystem::rename(ring, path_ + "/elsewhere");
  std::filesystem::create_symlink(path_ + "/elsewhere", ring);
  mkfifo((rings_ + "/1.2.3.process").c_str(), 0600);
  ASSERT_TRUE(Directory::Open(path_, "", &directory_).ok());
  const ProcessTrace& trace = *directory_->processes().at(0).trace;
  EXPECT_TRUE(trace.threads().empty());
  EXPECT_EQ(Losses(trace).at(kUnreadableFiles), 1u);
  ASSERT_EQ(directory_->problems().size(), 1u);
  EXPECT_THAT(directory_->problems()[0].what, HasSubstr("not a regular file"));
}

// ---- where the rings lie ------------------------------------------------------------------------

class RingFolderTest : public SalvageTest {
 protected:
  std::string MakeFolder(const std::string& name) const {
    std::filesystem::create_directories(path_ + "/" + name);
    return path_ + "/" + name;
  }
  std::string OurName() const { return "rlscope-" + std::to_string(geteuid()) + "-4711-99"; }
  void WriteControl(const std::string& folder, uint32_t drainer_pid = 0) {
    ControlPage control = {};
    control.magic = kControlMagic;
    control.drainer_pid = drainer_pid;
    strcpy(control.trace_rings, folder.c_str());
    std::vector<uint8_t> bytes(kPageSize);
    memcpy(bytes.data(), &control, sizeof control);
    WriteFile(rings_ + "/control", bytes);
  }
  std::string Find(const std::string& logged = "") {
    problems_.clear();
    return FindRings(path_, ReadControl(path_), logged, &problems_);
  }
  std::vector<Problem> problems_;
};

TEST_F(RingFolderTest, TheLogIsBelievedBeforeTheControlPage) {
  const std::string folder = MakeFolder(OurName());
  EXPECT_EQ(Find(), rings_);
  EXPECT_EQ(Find(folder), folder);
  WriteControl("");
  EXPECT_EQ(Find(), rings_);
  EXPECT_EQ(Find(folder), folder) << "the page's note may be damaged";
  WriteControl(folder);
  EXPECT_EQ(Find(), folder);
  EXPECT_TRUE(problems_.empty());
}

TEST_F(RingFolderTest, AFolderThatIsNotOneOfOursIsNotRead) {
  const std::string ours = MakeFolder(OurName());
  std::filesystem::create_directory_symlink(ours, path_ + "/rlscope-1-2-3");
  std::filesystem::create_directory_symlink(ours, path_ + "/" + OurName() + "0");
  const std::string other = "rlscope-" + std::to_string(geteuid() + 1) + "-4711-99";
  for (const std::string& name : {std::string("anything"), OurName() + "-5", other})
    MakeFolder(name);
  for (const std::string& name :
       {std::string("anything"), std::string("rlscope-1-2-3"), OurName() + "0", OurName() + "-5",
        other, OurName() + "/..", OurName() + "/"}) {
    EXPECT_EQ(Find(path_ + "/" + name), rings_) << name;
    EXPECT_EQ(problems_.size(), 1u) << name;
  }
}

TEST_F(RingFolderTest, AFolderThatIsGoneIsAProblemUnlessItsDrainerCameToTheEnd) {
  WriteControl(path_ + "/" + OurName(), /*drainer_pid=*/0);
  EXPECT_EQ(Find(), rings_);
  EXPECT_TRUE(problems_.empty());
  WriteControl(path_ + "/" + OurName(), /*drainer_pid=*/4711);
  EXPECT_EQ(Find(), rings_);
  EXPECT_EQ(problems_.size(), 1u);
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
