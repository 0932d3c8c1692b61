// Where a drainer can write no more: recording stops in all processes, everything up to then is
// kept, and the trace says why and when.
#include <errno.h>
#include <sys/resource.h>

#include <fstream>
#include <thread>

#include "base/clock.h"
#include "runtime_run.h"

namespace rlscope::test {
namespace {

namespace fs = std::filesystem;

// Records of the program in the trace, in files and rings, and those that it counted as lost.
uint64_t CountAll(const trace::ProcessImage& process) {
  uint64_t count = LossOf(process, "ring_full");
  for (size_t i = 0; i < process.trace->threads().size(); i++) {
    const std::vector<Item> items = ReadItems(*process.trace, i);
    count += CountKind(items, trace::kOperationEnter) + CountKind(items, trace::kOperationExit);
  }
  return count;
}

// Recording stopped between two of the program's tests of whether it goes on.
void ExpectAllOf(const trace::ProcessImage& process, uint64_t records) {
  EXPECT_LE(CountAll(process), records);
  EXPECT_GE(CountAll(process) + 2, records);
}

// Records until it may not, then lives on for a moment. Says how much it recorded.
PROGRAM(until_cut) {
  const uint32_t x = Intern("x");
  uint64_t times = 0;
  for (; rlscope_follow(); times++) Repeat(x, 1);
  std::ofstream(arguments[0]) << times;
  usleep(50000);
  return 0;
}

PROGRAM(once) {
  Repeat(Intern("x"), 1);
  return 0;
}

uint64_t ReadNumber(const std::string& path) {
  uint64_t number = 0;
  std::ifstream(path) >> number;
  return number;
}

// The file size that every process may write, for a while.
class FileSizeLimit {
 public:
  explicit FileSizeLimit(rlim_t bytes) {
    signal(SIGXFSZ, SIG_IGN);
    getrlimit(RLIMIT_FSIZE, &before_);
    struct rlimit small = before_;
    small.rlim_cur = bytes;
    setrlimit(RLIMIT_FSIZE, &small);
  }
  ~FileSizeLimit() {
    setrlimit(RLIMIT_FSIZE, &before_);
    signal(SIGXFSZ, SIG_DFL);
  }

 private:
  struct rlimit before_;
};

TEST(RuntimeCut, AFileOfTheLargestSizeIsToldFromAFullDisk) {
  trace::DrainOptions options;
  options.min_free_bytes = 0;
  TracedRun run(options);
  const int64_t start_ns = base::ReadMonotonicNs();
  {
    const FileSizeLimit limit(100000);
    ASSERT_EQ(run.Execute("until_cut", {run.directory() + "/times"}), 0);
  }
  const trace::ProcessImage& process = run.ReadOne();
  EXPECT_EQ(run.drainer().stats().cut, uint32_t{EFBIG});
  std::unique_ptr<trace::Directory> trace;
  ASSERT_TRUE(trace::Directory::Open(run.directory(), "", &trace).ok());
  EXPECT_EQ(trace->cut(), uint32_t{EFBIG});
  EXPECT_GT(trace->cut_ns(), start_ns);
  EXPECT_GT(process.gone_ns, trace->cut_ns());
  EXPECT_EQ(LossOf(process, "cut"), 1u);
  // Up to the cut all is there: in the file, in the rings, or counted.
  const uint64_t records = 2 * ReadNumber(run.directory() + "/times");
  EXPECT_GT(records, 4096u);
  ExpectAllOf(process, records);
}

uint64_t TraceBytes(const std::string& directory) {
  uint64_t bytes = 0;
  for (const auto& file : fs::directory_iterator(directory + "/trace")) bytes += file.file_size();
  return bytes;
}

TEST(RuntimeCut, TheFilesOfARunStayBelowTheirLargestSize) {
  trace::DrainOptions options;
  options.max_bytes = 8 << 20;
  TracedRun run(options);
  const pid_t other = run.Spawn("until_cut", {"/dev/null"});
  ASSERT_EQ(run.Execute("until_cut", {run.directory() + "/times"}), 0);
  EXPECT_EQ(TracedRun::Wait(other), 0);
  EXPECT_LE(TraceBytes(run.directory()), options.max_bytes);
  const trace::Directory& trace = run.Read();
  EXPECT_EQ(run.drainer().stats().cut, trace::kLargestSize);
  EXPECT_LE(TraceBytes(run.directory()), options.max_bytes);
  EXPECT_TRUE(trace.problems().empty());
  ASSERT_EQ(trace.processes().size(), 2u);
  const uint64_t records = 2 * ReadNumber(run.directory() + "/times");
  uint64_t found = 0;
  for (const trace::ProcessImage& process : trace.processes()) {
    EXPECT_EQ(LossOf(process, "cut"), 1u);
    if (process.os_pid != static_cast<uint32_t>(other)) found = CountAll(process);
  }
  // Up to the cut all is there: in the file, in the rings, or counted.
  EXPECT_LE(found, records);
  EXPECT_GE(found + 2, records);
}

TEST(RuntimeCut, RingsCountToTheSizeOfARun) {
  trace::DrainOptions options;
  options.max_bytes = 100000;  // less than the page and the ring of a process
  TracedRun run(options);
  ASSERT_EQ(run.Execute("until_cut", {"/dev/null"}), 0);
  const trace::ProcessImage& process = run.ReadOne();
  EXPECT_EQ(run.drainer().stats().cut, trace::kLargestSize);
  EXPECT_EQ(LossOf(process, "cut"), 1u);
}

TEST(RuntimeCut, RemovedFilesAreNotWrittenFurther) {
  TracedRun run;
  const pid_t pid = run.Spawn("until_cut", {"/dev/null"});
  while (run.drainer().stats().drain.chunks == 0) usleep(1000);
  std::error_code busy;  // the program makes files while they are being removed
  do fs::remove_all(run.directory(), busy);
  while (busy == std::errc::directory_not_empty);
  ASSERT_FALSE(busy) << busy.message();
  EXPECT_EQ(TracedRun::Wait(pid), 0) << "recording never stopped";
  EXPECT_EQ(run.drainer().stats().cut, uint32_t{ENOENT});
}

TEST(RuntimeCut, AProcessThatBeginsLaterIsCutToNothing) {
  trace::DrainOptions options;
  options.min_free_bytes = uint64_t{1} << 60;
  TracedRun run(options);
  ASSERT_EQ(run.Execute("once"), 0);
  const trace::ProcessImage& process = run.ReadOne();
  EXPECT_EQ(LossOf(process, "cut"), 1u);
  EXPECT_EQ(process.end_ns, process.start_ns);
  EXPECT_GT(process.gone_ns, process.start_ns);
}

TEST(RuntimeCut, ARenamedDirectoryIsFollowed) {
  TracedRun run;
  const pid_t pid = run.Spawn("until_cut", {run.directory() + "-times"});
  while (run.drainer().stats().drain.chunks == 0) usleep(1000);
  const uint64_t before = run.drainer().stats().bytes;
  const std::string moved = run.directory() + "-moved";
  fs::rename(run.directory(), moved);
  for (int i = 0; i < 10000 && run.drainer().stats().bytes < 2 * before; i++) usleep(1000);
  run.drainer().SetRecording(false);
  EXPECT_EQ(TracedRun::Wait(pid), 0);
  run.Stop();
  EXPECT_EQ(run.drainer().stats().cut, 0u);
  std::unique_ptr<trace::Directory> trace;
  ASSERT_TRUE(trace::Directory::Open(moved, "", &trace).ok());
  ASSERT_EQ(trace->processes().size(), 1u);
  const trace::ProcessImage& process = trace->processes()[0];
  EXPECT_TRUE(trace->problems().empty());
  ExpectAllOf(process, 2 * ReadNumber(run.directory() + "-times"));
  fs::remove_all(moved);
  fs::remove(run.directory() + "-times");
}

}  // namespace
}  // namespace rlscope::test
