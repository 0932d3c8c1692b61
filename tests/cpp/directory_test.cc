#include "trace/directory/directory.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

#include "base/crc32c.h"
#include "base/proc.h"
#include "memory_trace.h"
#include "trace/drain/run_notes.h"
#include "trace/read/process_log_reader.h"

namespace rlscope::trace {
namespace {

using testing::HasSubstr;

ProcessRecord Record(ProcessEvent event, uint32_t pid, int64_t began_ns, int64_t time_ns,
                     uint32_t parent_pid = 1, uint32_t flags = 0) {
  ProcessRecord record = {};
  record.magic = kProcessRecordMagic;
  record.version = kAbiVersion;
  record.event = static_cast<uint16_t>(event);
  record.pid = pid;
  record.parent_pid = parent_pid;
  record.flags = flags;
  record.start_time = 77;
  record.began_ns = began_ns;
  record.time_ns = time_ns;
  strcpy(record.name, "python");
  record.crc = base::Crc32c(0, &record, sizeof record);
  return record;
}

std::vector<ProcessImage> Build(const std::vector<ProcessRecord>& log,
                                std::vector<std::unique_ptr<ProcessTrace>> traces = {},
                                bool running = false) {
  return BuildProcessImages(log, std::move(traces), [=](const ProcessImage&) { return running; });
}

TEST(ProcessImages, ExitPathWinsOverEverything) {
  MemoryTrace trace;
  trace.Process(base::ClockKind::kMonotonic, 100, 5).Items(1, {{kPhase, 1, 70}}).End(90, false);
  std::vector<std::unique_ptr<ProcessTrace>> traces;
  traces.push_back(trace.Trace());
  ProcessRecord ended = Record(ProcessEvent::kEnded, 100, 5, 80, 1, kExitStatusKnown | 3 << 8);
  ended.cpu_ns = 33;
  ended.ended.exit_flush_ns = 44;
  const auto images = Build({Record(ProcessEvent::kBegan, 100, 5, 6), ended}, std::move(traces));
  ASSERT_EQ(images.size(), 1u);
  EXPECT_EQ(images[0].start_ns, 5);
  EXPECT_EQ(images[0].end_ns, 80);
  EXPECT_EQ(images[0].ended, Ended::kExit);
  EXPECT_EQ(images[0].exit_code, 3);
  EXPECT_EQ(images[0].cpu_ns, 33);
  EXPECT_EQ(images[0].exit_flush_ns, 44);
  EXPECT_EQ(images[0].comm, "python");
  EXPECT_EQ(images[0].parent_index, -1) << "pid 1 is not traced";
}

TEST(ProcessImages, WithoutAnExitTheDrainersReadingElseTheLastRecord) {
  std::vector<std::unique_ptr<ProcessTrace>> traces;
  MemoryTrace gone, killed;
  gone.Process(base::ClockKind::kMonotonic, 100, 5).Items(1, {{kPhase, 1, 70}}).End(90, false);
  killed.Process(base::ClockKind::kMonotonic, 200, 6).Items(1, {{kPhase, 1, 70}});
  traces.push_back(gone.Trace());
  traces.push_back(killed.Trace());
  const auto images = Build({}, std::move(traces));
  ASSERT_EQ(images.size(), 2u);
  EXPECT_EQ(images[0].ended, Ended::kGone);
  EXPECT_EQ(images[0].end_ns, 90);
  EXPECT_EQ(images[1].ended, Ended::kLastRecord);
  EXPECT_EQ(images[1].end_ns, 70);
  const auto running = Build({Record(ProcessEvent::kBegan, 300, 7, 8)}, {}, true);
  EXPECT_EQ(running[0].ended, Ended::kRunning);
  EXPECT_EQ(running[0].end_ns, 8);
}

TEST(ProcessImages, LivesOfAnyTimesFit64Bits) {
  constexpr int64_t kTimes[] = {INT64_MIN, INT64_MIN + 1, -1, 1, INT64_MAX};
  for (const int64_t began_ns : kTimes) {
    for (const int64_t ended_ns : kTimes) {
      const auto images = Build({Record(ProcessEvent::kBegan, 100, began_ns, began_ns),
                                 Record(ProcessEvent::kEnded, 100, began_ns, ended_ns)});
      ASSERT_EQ(images.size(), 1u);
      int64_t length_ns;
      EXPECT_FALSE(__builtin_sub_overflow(images[0].end_ns, images[0].start_ns, &length_ns));
      EXPECT_GE(length_ns, 0);
    }
  }
}

TEST(ProcessImages, ForkAndExecEachBeginARowAndKnowTheirParents) {
  const auto images = Build(
      {Record(ProcessEvent::kBegan, 100, 10, 10), Record(ProcessEvent::kPython, 100, 10, 12),
       Record(ProcessEvent::kForked, 101, 20, 21, 100, kForkedPython),
       Record(ProcessEvent::kBegan, 101, 30, 31, 100),  // exec of the child
       Record(ProcessEvent::kBegan, 102, 40, 41, 101), Record(ProcessEvent::kEnded, 100, 10, 50),
       Record(ProcessEvent::kBegan, 103, 60, 61, 100)});
  ASSERT_EQ(images.size(), 5u);
  EXPECT_EQ(images[1].parent_index, 0);
  EXPECT_TRUE(images[1].forked);
  EXPECT_EQ(images[1].python_begin_ns, 20) << "the interpreter came with the fork";
  EXPECT_EQ(images[1].end_ns, 21) << "its last line; the successor began at 30";
  EXPECT_EQ(images[2].parent_index, 0);
  EXPECT_EQ(images[2].python_begin_ns, kUnknownNs);
  EXPECT_EQ(images[2].exit_flush_ns, kUnknownNs);
  EXPECT_EQ(images[3].parent_index, 2) << "the image that pid 101 was by then";
  EXPECT_EQ(images[4].parent_index, -1) << "100 had ended";
}

TEST(ProcessImages, AnExecedImageEndsWhereItsSuccessorBegins) {
  MemoryTrace trace;
  trace.Process(base::ClockKind::kMonotonic, 100, 5).Items(1, {{kPhase, 1, 70}}).End(90, false);
  std::vector<std::unique_ptr<ProcessTrace>> traces;
  traces.push_back(trace.Trace());
  const auto images =
      Build({Record(ProcessEvent::kBegan, 100, 5, 5), Record(ProcessEvent::kBegan, 100, 75, 76)},
            std::move(traces));
  EXPECT_EQ(images[0].end_ns, 75);
}

TEST(ProcessLog, DamagedRecordsAreSkippedAndListed) {
  std::vector<uint8_t> log;
  for (uint32_t pid = 1; pid <= 5; ++pid) {
    const ProcessRecord record = Record(ProcessEvent::kBegan, pid, pid, pid);
    const auto* bytes = reinterpret_cast<const uint8_t*>(&record);
    // The third one was cut short by a full disk.
    log.insert(log.end(), bytes, bytes + (pid == 3 ? 50 : sizeof record));
  }
  log[200] ^= 1;  // in the second
  std::vector<Problem> problems;
  const auto records = ParseProcessLog(log.data(), log.size(), "log", &problems);
  ASSERT_EQ(records.size(), 3u);
  EXPECT_EQ(records[1].pid, 4u);
  ASSERT_EQ(problems.size(), 1u);
  EXPECT_EQ(problems[0].offset, 128u);
  EXPECT_EQ(problems[0].bytes, 178u);
}

TEST(ProcessLog, TellsWhereTheRingsLie) {
  char path[] = "/tmp/rlscope_directory_XXXXXX";
  const std::string directory = mkdtemp(path);
  for (const size_t length : {1, 47, 48, 49, 96, 255}) {
    const std::string rings = "/" + std::string(length - 1, 'r');
    ASSERT_EQ(MakeLog(directory.c_str()), 0);
    ASSERT_EQ(LogRings(directory.c_str(), rings.c_str()), 0);
    std::vector<ProcessRecord> log;
    std::vector<Problem> problems;
    ASSERT_TRUE(ReadProcessLog(directory + "/processes.log", &log, &problems).ok());
    ASSERT_EQ(log.size(), (length + 47) / 48);
    log.push_back(Record(ProcessEvent::kBegan, 100, 5, 5));
    for (size_t lost = 0; lost + 1 < log.size(); ++lost) {
      std::vector<ProcessRecord> damaged = log;
      damaged.erase(damaged.begin() + static_cast<long>(lost));
      EXPECT_EQ(TakeRunNotes(&damaged).rings, "");
    }
    EXPECT_EQ(TakeRunNotes(&log).rings, rings);
    ASSERT_EQ(log.size(), 1u);
    EXPECT_EQ(log[0].pid, 100u);
    EXPECT_TRUE(problems.empty());
    std::filesystem::remove(directory + "/processes.log");
  }
  std::filesystem::remove_all(directory);
}

class DirectoryTest : public testing::Test {
 protected:
  void SetUp() override { path_ = mkdtemp(template_); }
  void TearDown() override { std::filesystem::remove_all(path_); }

  void Write(const std::string& name, const std::vector<uint8_t>& bytes) {
    std::filesystem::create_directories(std::filesystem::path(path_ + "/" + name).parent_path());
    std::ofstream(path_ + "/" + name)
        .write(reinterpret_cast<const char*>(bytes.data()), static_cast<long>(bytes.size()));
  }
  void WriteLog(const std::vector<ProcessRecord>& records) {
    std::vector<uint8_t> bytes(records.size() * sizeof(ProcessRecord));
    memcpy(bytes.data(), records.data(), bytes.size());
    Write("processes.log", bytes);
  }
  base::Status Open() { return Directory::Open(path_, "", &directory_); }

  char template_[32] = "/tmp/rlscope_directory_XXXXXX";
  std::string path_;
  std::unique_ptr<Directory> directory_;
};

TEST_F(DirectoryTest, FilesOfOneImageAreJoined) {
  MemoryTrace first, second;
  first.Process().Items(1, {{kPhase, 1, 10}});
  second.Process().Items(2, {{kPhase, 2, 20}}).End(30);
  Write("trace/box.100.77.0.rls", first.bytes());
  Write("trace/box.100.77.1.rls", second.bytes());
  WriteLog({Record(ProcessEvent::kBegan, 100, 5, 5), Record(ProcessEvent::kBegan, 200, 6, 6)});
  ASSERT_TRUE(Open().ok());
  ASSERT_EQ(directory_->processes().size(), 2u);
  const ProcessImage& image = directory_->processes()[0];
  ASSERT_NE(image.trace, nullptr);
  EXPECT_EQ(image.trace->threads().size(), 2u);
  EXPECT_EQ(image.end_ns, 30);
  EXPECT_EQ(directory_->processes()[1].trace, nullptr) << "it recorded nothing";
  EXPECT_TRUE(directory_->problems().empty());
}

TEST_F(DirectoryTest, AFileWithoutItsProcessFrameIsFoundByItsName) {
  MemoryTrace trace;
  trace.Process().Items(1, {{kPhase, 1, 10}});
  std::vector<uint8_t> bytes = trace.bytes();
  bytes[20] ^= 1;
  Write("trace/my.host.100.77.0.rls", bytes);
  WriteLog({Record(ProcessEvent::kBegan, 100, 5, 5)});
  ASSERT_TRUE(Open().ok());
  ASSERT_EQ(directory_->processes().size(), 1u);
  EXPECT_NE(directory_->processes()[0].trace, nullptr);
  EXPECT_FALSE(directory_->problems().empty());
}

TEST_F(DirectoryTest, OneUnreadableFileIsAProblemAllAreAnError) {
  MemoryTrace trace;
  trace.Process().Items(1, {{kPhase, 1, 10}});
  Write("trace/box.100.77.0.rls", {1, 2, 3});
  EXPECT_THAT(Open().message(), HasSubstr("is not a trace file"));
  Write("trace/box.101.77.0.rls", trace.bytes());
  ASSERT_TRUE(Open().ok());
  ASSERT_EQ(directory_->problems().size(), 1u);
  EXPECT_THAT(directory_->problems()[0].file, HasSubstr("box.100.77.0.rls"));
}

TEST_F(DirectoryTest, WhatIsNoTraceGivesOneSentence) {
  EXPECT_THAT(Open().message(), HasSubstr("is not a trace"));
  Write("trace/README", {'x'});
  EXPECT_THAT(Open().message(), HasSubstr("holds no process yet"));
  EXPECT_THAT(Directory::Open(path_ + "/none", "", &directory_).message(),
              HasSubstr("No such file or directory"));
  EXPECT_THAT(Directory::Open(path_ + "/trace/README", "", &directory_).message(),
              HasSubstr("is not a directory"));
}

TEST_F(DirectoryTest, ANoteAboutTheRingsIsNoProcess) {
  ASSERT_EQ(MakeLog(path_.c_str()), 0);
  ASSERT_EQ(LogRings(path_.c_str(), "/dev/shm/elsewhere"), 0);
  EXPECT_THAT(Open().message(), HasSubstr("holds no process yet"));
}

ProcessRecord Window(const char* change, int64_t time_ns) {
  ProcessRecord record = Record(ProcessEvent::kWindow, 1, 1, time_ns);
  memset(record.name, 0, sizeof record.name);
  strcpy(record.name, change);
  record.crc = 0;
  record.crc = base::Crc32c(0, &record, sizeof record);
  return record;
}

TEST_F(DirectoryTest, AProcessWithoutRecordsLivesInTheWindowOfTheRun) {
  struct Case {
    std::vector<ProcessRecord> changes;
    int64_t start_ns, end_ns;
  };
  const std::vector<Case> cases = {
      {{}, 10, 90},
      {{Window(kWindowStops, 40)}, 10, 40},
      {{Window(kWindowWaits, 5), Window(kWindowStarts, 30)}, 30, 90},
      {{Window(kWindowWaits, 5), Window(kWindowStarts, 30), Window(kWindowStops, 40)}, 30, 40},
      {{Window(kWindowStops, 20), Window(kWindowStarts, 30)}, 10, 90},
      {{Window(kWindowStops, 7)}, 10, 10},
      {{Window(kWindowWaits, 5)}, 90, 90},
      {{Window(kWindowWaits, 5), Window(kWindowStarts, 95), Window(kWindowStops, 99)}, 90, 90},
  };
  for (const Case& one : cases) {
    std::vector<ProcessRecord> log = {Record(ProcessEvent::kBegan, 100, 10, 10),
                                      Record(ProcessEvent::kEnded, 100, 10, 90),
                                      Record(ProcessEvent::kBegan, 200, 80, 80, 100)};
    log.insert(log.end(), one.changes.begin(), one.changes.end());
    WriteLog(log);
    ASSERT_TRUE(Open().ok());
    ASSERT_EQ(directory_->processes().size(), 2u);
    EXPECT_EQ(directory_->processes()[0].start_ns, one.start_ns);
    EXPECT_EQ(directory_->processes()[0].end_ns, one.end_ns);
    EXPECT_EQ(directory_->processes()[1].parent_index, 0) << "which lived when it was started";
  }
}

TEST_F(DirectoryTest, AProcessWithRecordsTellsItsWindowsItself) {
  MemoryTrace trace;
  trace.Process(base::ClockKind::kMonotonic, 100, 5).Items(1, {{kPhase, 1, 70}}).End(90, true);
  Write("trace/box.100.77.0.rls", trace.bytes());
  WriteLog({Record(ProcessEvent::kBegan, 100, 5, 5), Window(kWindowStops, 60)});
  ASSERT_TRUE(Open().ok());
  EXPECT_EQ(directory_->processes()[0].end_ns, 90);
}

TEST_F(DirectoryTest, NoPermissionIsSaid) {
  WriteLog({Record(ProcessEvent::kBegan, 100, 5, 5)});
  chmod(path_.c_str(), 0);
  const uid_t user = geteuid();
  ASSERT_EQ(seteuid(user == 0 ? 65534 : user), 0);  // root may read everything
  const std::string message = Open().message();
  ASSERT_EQ(seteuid(user), 0);
  chmod(path_.c_str(), 0700);
  EXPECT_THAT(message, HasSubstr("Permission denied"));
}

TEST(Proc, TellsThisProcessAndDeadOnes) {
  base::ProcStat self, parent;
  ASSERT_TRUE(base::ReadProcStat(0, &self));
  EXPECT_EQ(self.pid, static_cast<uint32_t>(getpid()));
  EXPECT_EQ(self.parent_pid, static_cast<uint32_t>(getppid()));
  EXPECT_TRUE(base::IsAlive(self.pid, self.start_time));
  EXPECT_FALSE(base::IsAlive(self.pid, self.start_time + 1)) << "another process of that pid";
  EXPECT_FALSE(base::ReadProcStat(4194304 + 5, &parent)) << "above any pid_max";
  EXPECT_NE(base::PidNamespace(), 0u);
}

}  // namespace
}  // namespace rlscope::trace
