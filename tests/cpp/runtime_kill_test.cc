// SIGKILL at any instant: whatever a thread had recorded is in the trace, once.
//
// RLSCOPE_TEST_KILLS sets the number of runs (make check-long: 200).
#include <fcntl.h>
#include <signal.h>
#include <sys/mman.h>

#include <algorithm>
#include <atomic>
#include <fstream>
#include <random>
#include <thread>

#include "runtime_run.h"
#include "trace/drain/drained_images.h"

namespace rlscope::test {
namespace {

constexpr int kThreads = 3;

// Mapped by the test and the victim, of each thread: how many records it has finished, and how
// often its ring went on at the first slot again.
struct Counters {
  std::atomic<uint64_t> done[kThreads];
  std::atomic<uint64_t> wraps[kThreads];

  bool AnyDone() const { return Any(done); }
  bool AnyWrapped() const { return Any(wraps); }

 private:
  static bool Any(const std::atomic<uint64_t> (&counts)[kThreads]) {
    return std::any_of(counts, counts + kThreads, [](const auto& count) { return count > 0; });
  }
};

// What the runs of a test were, so that it cannot pass on runs that recorded nothing.
struct Tally {
  int recorded = 0;
  int wrapped = 0;

  void Add(const Counters& counters) {
    recorded += counters.AnyDone();
    wrapped += counters.AnyWrapped();
  }
};

Counters* MapCounters(const std::string& path) {
  const int descriptor = open(path.c_str(), O_RDWR | O_CREAT, 0600);
  EXPECT_EQ(ftruncate(descriptor, sizeof(Counters)), 0);
  void* address =
      mmap(nullptr, sizeof(Counters), PROT_READ | PROT_WRITE, MAP_SHARED, descriptor, 0);
  close(descriptor);
  return static_cast<Counters*>(address);
}

// Each record carries its number.
void CountForEver(int thread, Counters* counters) {
  const std::string name = std::to_string(thread);
  rlscope_set_thread_name(name.data(), name.size());
  const uint32_t id = Intern("x");
  const void* ring = rlscope_self.ring;
  uint32_t lap = rlscope_self.lap;
  for (uint64_t n = 0;; n++) {
    rlscope_record_value(trace::kProgressDone, 0, n);
    if (n % 16 == 0) Repeat(id, 1);
    counters->done[thread].store(n + 1, std::memory_order_relaxed);
    if (rlscope_self.ring == ring && rlscope_self.lap != lap) counters->wraps[thread]++;
    ring = rlscope_self.ring;
    lap = rlscope_self.lap;
  }
}

PROGRAM(count_until_killed) {
  Counters* counters = MapCounters(arguments[0]);
  for (int i = 1; i < kThreads; i++) {
    std::thread(CountForEver, i, counters).detach();
  }
  CountForEver(0, counters);
  return 0;
}

// Numbers of one thread: 0, 1, 2, ... with jumps only where a gap says so. Returns how many.
uint64_t CheckNumbers(const std::vector<Item>& items) {
  uint64_t next = 0;
  bool gap = false;
  for (const Item& item : items) {
    gap |= item.kind == trace::kGap;
    if (item.kind != trace::kProgressDone) continue;
    if (gap ? item.value < next : item.value != next) {
      ADD_FAILURE() << "record " << item.value << " where " << next << " belongs";
      return next;
    }
    next = item.value + 1;
    gap = false;
  }
  return next;
}

void CheckTrace(TracedRun* run, const Counters& counters, bool torn_frames) {
  // Killed before its constructor wrote: there is nothing to read, and nothing was recorded.
  const std::string log = run->directory() + "/processes.log";
  if (!std::filesystem::exists(log) || std::filesystem::file_size(log) == 0) {
    EXPECT_FALSE(counters.AnyDone()) << "records of a process that processes.log does not know";
    return;
  }
  const trace::ProcessImage& process = run->ReadOne(torn_frames);
  if (process.trace == nullptr) {
    EXPECT_FALSE(counters.AnyDone()) << "records of a process without a trace";
    return;
  }
  EXPECT_EQ(process.trace->missing_slots(), 0u);
  uint64_t kept[kThreads] = {};
  for (size_t i = 0; i < process.trace->threads().size(); i++) {
    const std::string& name = process.trace->threads()[i].thread.name;
    const std::vector<Item> items = ReadItems(*process.trace, i);
    if (name.size() == 1) kept[name[0] - '0'] = CheckNumbers(items);
  }
  // On a busy machine a process lives on with full rings for longer than it waits for room.
  uint64_t missing = 0;
  for (int i = 0; i < kThreads; i++) {
    const uint64_t done = counters.done[i];
    missing += done - std::min(done, kept[i] + 1);
  }
  EXPECT_LE(missing, LossOf(process, "ring_full")) << "missing and not counted";
}

int Runs() {
  const char* text = getenv("RLSCOPE_TEST_KILLS");
  return text == nullptr ? 20 : atoi(text);
}

// On a busy machine a process may not get so far in any time that is drawn.
void WaitForWrap(const Counters& counters) {
  constexpr int kMostMilliseconds = 30'000;
  for (int i = 0; i < kMostMilliseconds && !counters.AnyWrapped(); i++) usleep(1000);
}

enum class Killed { kAnyTime, kWithoutDrainer, kAfterWrap };

// Between nothing at all and a few growths and wraps of the rings. Runs without any drainer: all is
// found in the rings.
void KillOnce(std::mt19937* random, Killed when, Tally* tally) {
  const bool drained = when != Killed::kWithoutDrainer;
  TracedRun run({}, drained);
  trace::ControlPage* const control = drained ? nullptr : run.ClaimToDrain();
  Counters* counters = MapCounters(run.directory() + "/counters");
  const pid_t pid = run.Spawn("count_until_killed", {run.directory() + "/counters"});
  if (when == Killed::kAfterWrap) WaitForWrap(*counters);
  usleep(std::uniform_int_distribution<useconds_t>(0, 40000)(*random));
  kill(pid, SIGKILL);
  EXPECT_EQ(TracedRun::Wait(pid), -SIGKILL);
  run.Stop();
  CheckTrace(&run, *counters, /*torn_frames=*/false);
  tally->Add(*counters);
  munmap(counters, sizeof *counters);
  if (control != nullptr) trace::ReleaseControl(control);
}

TEST(RuntimeKill, LosesAtMostTheRecordInFlight) {
  const unsigned seed = std::random_device()();
  std::mt19937 random(seed);
  Tally tally;
  for (int i = 0; i < Runs(); i++) {
    SCOPED_TRACE("run " + std::to_string(i) + " of seed " + std::to_string(seed));
    constexpr Killed kTurns[] = {Killed::kAfterWrap, Killed::kWithoutDrainer, Killed::kAnyTime,
                                 Killed::kWithoutDrainer};
    KillOnce(&random, kTurns[i % 4], &tally);
    if (HasFailure()) return;
  }
  EXPECT_GE(tally.recorded, (Runs() + 3) / 4);
  EXPECT_GE(tally.wrapped, (Runs() + 3) / 4);
}

// The drainer asks /proc about every process once a second. The kernel tells it of a kill at once.
TEST(RuntimeKill, IsSeenAtTheNextPass) {
  TracedRun run({}, /*drain=*/false);
  trace::ControlPage* const control = run.ClaimToDrain();
  Counters* counters = MapCounters(run.directory() + "/counters");
  const pid_t pid = run.Spawn("count_until_killed", {run.directory() + "/counters"});
  const std::string rings = run.directory() + "/rings";
  trace::DrainScratch scratch = {};
  trace::DrainedImages images(run.directory().c_str(), rings.c_str());
  images.Use(&scratch, nullptr);
  while (images.count() == 0 || !counters->AnyDone()) images.Discover();
  images.SampleThreads();
  EXPECT_EQ(images.CloseGone(/*all=*/false), 0);
  EXPECT_EQ(images.count(), 1u);
  kill(pid, SIGKILL);
  EXPECT_EQ(TracedRun::Wait(pid), -SIGKILL);
  EXPECT_EQ(images.CloseGone(/*all=*/false), 0);
  EXPECT_EQ(images.count(), 0u);
  munmap(counters, sizeof *counters);
  trace::ReleaseControl(control);
}

// The drainer itself killed while it writes and moves tails; the process goes on, then dies too.
PROGRAM(drain_for_ever) {
  trace::DrainDirectory drainer;
  if (drainer.Start(arguments[0].c_str(), nullptr, {}) != 0) return 1;
  std::ofstream(arguments[0] + "/started") << "x";
  for (;;) pause();
}

void KillDrainerAndProcess(std::mt19937* random, bool after_wrap, Tally* tally) {
  TracedRun run({}, /*drain=*/false);
  const pid_t wrapper = fork();
  if (wrapper == 0) {
    execl("/proc/self/exe", "program", "--program", "drain_for_ever", run.directory().c_str(),
          nullptr);
    _exit(127);
  }
  while (!std::filesystem::exists(run.directory() + "/started")) usleep(500);
  Counters* counters = MapCounters(run.directory() + "/counters");
  const pid_t pid = run.Spawn("count_until_killed", {run.directory() + "/counters"});
  if (after_wrap) WaitForWrap(*counters);
  usleep(std::uniform_int_distribution<useconds_t>(3000, 40000)(*random));
  kill(wrapper, SIGKILL);
  usleep(std::uniform_int_distribution<useconds_t>(0, 20000)(*random));
  kill(pid, SIGKILL);
  EXPECT_EQ(TracedRun::Wait(wrapper), -SIGKILL);
  EXPECT_EQ(TracedRun::Wait(pid), -SIGKILL);
  CheckTrace(&run, *counters, /*torn_frames=*/true);
  tally->Add(*counters);
  munmap(counters, sizeof *counters);
}

TEST(RuntimeKill, OfTheDrainerTooLosesNothingMore) {
  const unsigned seed = std::random_device()();
  std::mt19937 random(seed);
  Tally tally;
  const int runs = (Runs() + 1) / 2;
  for (int i = 0; i < runs; i++) {
    SCOPED_TRACE("run " + std::to_string(i) + " of seed " + std::to_string(seed));
    KillDrainerAndProcess(&random, /*after_wrap=*/i % 2 == 0, &tally);
    if (HasFailure()) return;
  }
  EXPECT_GE(tally.recorded, (runs + 1) / 2);
  EXPECT_GE(tally.wrapped, (runs + 1) / 2);
}

}  // namespace
}  // namespace rlscope::test
