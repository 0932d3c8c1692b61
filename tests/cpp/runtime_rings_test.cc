// Rings under load, without room, without a drainer.
#include <signal.h>
#include <sys/mman.h>
#include <sys/resource.h>

#include <atomic>
#include <fstream>
#include <thread>

#include "runtime_run.h"
#include "trace/read/process_log_reader.h"

namespace rlscope::test {
namespace {

size_t CountAll(const trace::ProcessImage& process, uint32_t kind) {
  size_t count = 0;
  if (process.trace == nullptr) return 0;
  for (size_t i = 0; i < process.trace->threads().size(); i++) {
    count += CountKind(ReadItems(*process.trace, i), kind);
  }
  return count;
}

PROGRAM(a_million) {
  Repeat(Intern("x"), 500000);
  return 0;
}

TEST(RuntimeRings, GrowUnderLoadAndLoseNothing) {
  TracedRun run;
  ASSERT_EQ(run.Execute("a_million"), 0);
  const trace::ProcessImage& process = run.ReadOne();
  const size_t enters = CountAll(process, trace::kOperationEnter);
  const uint64_t lost = LossOf(process, "ring_full");
  if (!kThreadSanitizer) {
    EXPECT_EQ(lost, 0u) << "the drainer keeps up, unless it is made ten times slower";
  }
  EXPECT_EQ(enters + CountAll(process, trace::kOperationExit) + lost, 1000000u);
  EXPECT_EQ(process.trace->missing_slots(), 0u);
}

PROGRAM(short_threads) {
  for (int i = 0; i < 500; i++) {
    std::thread([] { Repeat(Intern("x"), 10); }).join();
  }
  return 0;
}

TEST(RuntimeRings, AreReusedByFiveHundredShortThreads) {
  TracedRun run;
  ASSERT_EQ(run.Execute("short_threads"), 0);
  const trace::ProcessImage& process = run.ReadOne();
  ASSERT_EQ(process.trace->threads().size(), 500u);
  for (size_t i = 0; i < 500; i++) {
    const std::vector<Item> items = ReadItems(*process.trace, i);
    ASSERT_EQ(CountKind(items, trace::kOperationEnter), 10u) << "thread " << i;
    EXPECT_EQ(items.front().kind, trace::kThreadBegin);
    EXPECT_EQ(items.back().kind, trace::kThreadEnd);
  }
}

PROGRAM(threads_at_a_time) {
  std::vector<std::thread> threads;
  for (int i = 0; i < 200; i++) {
    threads.emplace_back([] { Repeat(Intern("x"), 500); });
  }
  for (std::thread& thread : threads) thread.join();
  return 0;
}

TEST(RuntimeRings, TwoHundredThreadsAtATime) {
  TracedRun run;
  ASSERT_EQ(run.Execute("threads_at_a_time"), 0);
  const trace::ProcessImage& process = run.ReadOne();
  EXPECT_EQ(process.trace->threads().size(), 200u);
  EXPECT_EQ(CountAll(process, trace::kOperationEnter), 200u * 500u);
}

// A drainer that lives but does not come: this test is it, and only beats.
class StoppedDrainer {
 public:
  explicit StoppedDrainer(const std::string& directory) {
    EXPECT_EQ(trace::CreateControl(directory.c_str(), nullptr, {}, &control_), 0);
    control_->heartbeat_ns = base::ReadMonotonicNs();
    control_->drainer_pid = static_cast<uint32_t>(getpid());
    beat_ = std::thread([this] {
      while (!stop_) {
        control_->heartbeat_ns = base::ReadMonotonicNs();
        std::this_thread::sleep_for(std::chrono::milliseconds(50));
      }
    });
  }
  ~StoppedDrainer() {
    stop_ = true;
    beat_.join();
    trace::ReleaseControl(control_);
  }

 private:
  trace::ControlPage* control_ = nullptr;
  std::atomic<bool> stop_{false};
  std::thread beat_;
};

PROGRAM(fill_all) {
  Repeat(Intern("x"), 1000000);
  return 0;
}

TEST(RuntimeRings, AFullRingCountsWhatItLoses) {
  TracedRun run({}, /*drain=*/false);
  {
    StoppedDrainer drainer(run.directory());
    ASSERT_EQ(run.Execute("fill_all"), 0);
  }
  const trace::ProcessImage& process = run.ReadOne();
  const uint64_t kept =
      CountAll(process, trace::kOperationEnter) + CountAll(process, trace::kOperationExit);
  const uint64_t lost = LossOf(process, "ring_full");
  EXPECT_GT(lost, 0u);
  EXPECT_EQ(kept + lost, 2000000u);
}

PROGRAM(fill_then_go_on) {
  const uint32_t id = Intern("x");
  Repeat(id, 1000000);
  std::ofstream(arguments[0] + "/full") << "full";
  // The drainer comes now. Lost records are reported once there is room again.
  const uint64_t before = rlscope_slots_of_thread();
  while (rlscope_slots_of_thread() < before + 100) {
    Repeat(id, 1);
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  return 0;
}

TEST(RuntimeRings, AGapIsMarkedWhereRecordsWereLost) {
  TracedRun run({}, /*drain=*/false);
  trace::ControlPage* const control = run.ClaimToDrain();
  const pid_t pid = run.Spawn("fill_then_go_on", {run.directory()});
  while (!std::filesystem::exists(run.directory() + "/full")) usleep(1000);
  control->drainer_pid = 0;  // now it helps itself
  ASSERT_EQ(TracedRun::Wait(pid), 0);
  const trace::ProcessImage& process = run.ReadOne();
  uint64_t gaps = 0, lost = 0;
  for (size_t i = 0; i < process.trace->threads().size(); i++) {
    for (const Item& item : ReadItems(*process.trace, i)) {
      if (item.kind != trace::kGap) continue;
      gaps++;
      lost += item.value;
    }
  }
  EXPECT_GE(gaps, 1u);
  EXPECT_EQ(lost, LossOf(process, "ring_full"));
  trace::ReleaseControl(control);
}

PROGRAM(record_slowly) {
  const uint32_t id = Intern("x");
  for (int i = 0; i < 300; i++) {
    Repeat(id, 1000);
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  return 0;
}

// The wrapper in a process of its own, as rls-prof is.
PROGRAM(drain_until_killed) {
  trace::DrainDirectory drainer;
  if (drainer.Start(arguments[0].c_str(), nullptr, {}) != 0) return 1;
  std::ofstream(arguments[0] + "/started") << "x";
  for (;;) pause();
}

TEST(RuntimeRings, AKilledWrapperIsReplacedByTheProcessItself) {
  TracedRun run({}, /*drain=*/false);
  const pid_t wrapper = fork();
  if (wrapper == 0) {
    execl("/proc/self/exe", "program", "--program", "drain_until_killed", run.directory().c_str(),
          nullptr);
    _exit(127);
  }
  while (run.FilesLeft("started") == 0) usleep(1000);
  const pid_t pid = run.Spawn("record_slowly");
  usleep(50000);
  kill(wrapper, SIGKILL);
  EXPECT_EQ(TracedRun::Wait(wrapper), -SIGKILL);
  ASSERT_EQ(TracedRun::Wait(pid), 0);
  const trace::ProcessImage& process = run.ReadOne();
  const uint64_t kept =
      CountAll(process, trace::kOperationEnter) + CountAll(process, trace::kOperationExit);
  // On a machine too slow to take over in time records are lost, but none unsaid.
  EXPECT_EQ(kept + LossOf(process, "ring_full"), 600000u);
  EXPECT_GT(CountAll(process, trace::kOperationEnter), 200000u);
  EXPECT_EQ(LossOf(process, "no_drainer"), 0u);
  EXPECT_EQ(process.ended, trace::Ended::kExit);
}

int CountThreads() {
  const std::filesystem::directory_iterator tasks("/proc/self/task");
  return static_cast<int>(std::distance(begin(tasks), end(tasks)));
}

// Fills the first ring, and no more; returns how many threads that made.
PROGRAM(fill_first_ring) {
  std::thread([] {}).join();  // with the first one ThreadSanitizer begins a thread of its own
  const int before = CountThreads();
  Repeat(Intern("x"), trace::kFirstRingBytes / sizeof(rlscope_slot) / 2);
  return CountThreads() - before;
}

TEST(RuntimeRings, AKilledWrapperIsReplacedBeforeItsRingsGrow) {
  TracedRun run({}, /*drain=*/false);
  trace::ControlPage* const control = run.ClaimToDrain();
  EXPECT_EQ(run.Execute("fill_first_ring"), 0) << "it drains";
  const pid_t gone = fork();
  if (gone == 0) _exit(0);
  ASSERT_EQ(TracedRun::Wait(gone), 0);
  control->drainer_pid = static_cast<uint32_t>(gone);
  EXPECT_EQ(run.Execute("fill_first_ring"), 1) << "our helper does";
  trace::ReleaseControl(control);
}

TEST(RuntimeRings, AWrapperThatEndsFirstLeavesItsChildrenToThemselves) {
  TracedRun run;
  const pid_t pid = run.Spawn("record_slowly");
  usleep(100000);
  run.Stop();
  ASSERT_EQ(TracedRun::Wait(pid), 0);
  const trace::ProcessImage& process = run.ReadOne();
  EXPECT_EQ(CountAll(process, trace::kOperationEnter), 300000u);
  EXPECT_EQ(process.trace->missing_slots(), 0u);
}

PROGRAM(record_once_and_wait) {
  Repeat(Intern("x"), 10);
  std::ofstream(arguments[0] + "/recorded") << "x";
  for (;;) pause();
}

TEST(RuntimeRings, ALiveProcessIsReadBesideItsDrainer) {
  TracedRun run;
  const pid_t pid = run.Spawn("record_once_and_wait", {run.directory()});
  while (!std::filesystem::exists(run.directory() + "/recorded")) usleep(1000);
  std::unique_ptr<trace::Directory> trace;
  ASSERT_TRUE(trace::Directory::Open(run.directory(), "", &trace).ok());
  ASSERT_EQ(trace->processes().size(), 1u);
  EXPECT_EQ(CountAll(trace->processes()[0], trace::kOperationEnter), 10u);
  EXPECT_EQ(trace->processes()[0].ended, trace::Ended::kRunning);
  std::vector<uint32_t> alive;
  run.drainer().VisitAlive(
      [](void* context, uint32_t number, const char*) {
        static_cast<std::vector<uint32_t>*>(context)->push_back(number);
      },
      &alive);
  EXPECT_EQ(alive, std::vector<uint32_t>{static_cast<uint32_t>(pid)});
  kill(pid, SIGKILL);
  TracedRun::Wait(pid);
}

void LimitFileSize(rlim_t bytes) {
  struct rlimit limit;
  getrlimit(RLIMIT_FSIZE, &limit);
  limit.rlim_cur = bytes == 0 ? limit.rlim_max : bytes;
  setrlimit(RLIMIT_FSIZE, &limit);
}

PROGRAM(no_ring_for_a_while) {
  signal(SIGXFSZ, SIG_IGN);
  const uint32_t x = Intern("x");
  Repeat(x, 1);
  std::thread([x] {
    LimitFileSize(4096);
    for (int i = 0; i < 100; i++) Enter(x);
    LimitFileSize(0);
    usleep(150000);  // a refused file is asked for again after 100 ms
    Repeat(x, 5);
  }).join();
  return 0;
}

TEST(RuntimeRings, AThreadThatGetsItsRingLateSaysHowMuchItLost) {
  TracedRun run;
  ASSERT_EQ(run.Execute("no_ring_for_a_while"), 0);
  const trace::ProcessImage& process = run.ReadOne();
  EXPECT_EQ(LossOf(process, "no_ring"), 100u);
  ASSERT_EQ(process.trace->threads().size(), 2u);
  const std::vector<Item> items = ReadItems(*process.trace, 1);
  ASSERT_GE(items.size(), 2u);
  EXPECT_EQ(items[0].kind, trace::kThreadBegin);
  EXPECT_EQ(items[1].kind, trace::kGap);
  EXPECT_EQ(items[1].value, 100u);
  EXPECT_EQ(CountKind(items, trace::kOperationEnter), 5u);
}

TEST(RuntimeRings, OfASlowDiskLieInMemoryAndGoWithTheRun) {
  if (trace::IsDiskFull("/dev/shm", 1ull << 30)) GTEST_SKIP() << "no room in /dev/shm";
  trace::DrainOptions options;
  options.longest_store_ns = [](const char*) { return INT64_MAX; };
  TracedRun run({}, /*drain=*/false);
  run.Start(options);
  ASSERT_EQ(run.Execute("a_million"), 0);
  const trace::ProcessImage& process = run.ReadOne();
  EXPECT_EQ(CountAll(process, trace::kOperationEnter) + CountAll(process, trace::kOperationExit) +
                LossOf(process, "ring_full"),
            1000000u);
  std::vector<trace::ProcessRecord> log;
  std::vector<trace::Problem> problems;
  ASSERT_TRUE(trace::ReadProcessLog(run.directory() + "/processes.log", &log, &problems).ok());
  const std::string rings = trace::TakeRunNotes(&log).rings;
  EXPECT_NE(rings, "");
  EXPECT_FALSE(std::filesystem::exists(rings));
}

TEST(RuntimeRings, TooLittleFreeSpaceStopsRecordingAndSaysSo) {
  trace::DrainOptions options;
  options.min_free_bytes = uint64_t{1} << 60;
  TracedRun run(options);
  ASSERT_EQ(run.Execute("a_million"), 0);
  EXPECT_EQ(run.drainer().stats().cut, trace::kNearlyFull);
  EXPECT_GT(run.drainer().stats().cut_ns, 0);
  const trace::ProcessImage& process = run.ReadOne();
  EXPECT_EQ(CountAll(process, trace::kOperationEnter), 0u);
  EXPECT_EQ(LossOf(process, "cut"), 1u);
}

}  // namespace
}  // namespace rlscope::test
