#include "trace/drain/living_threads.h"

#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <vector>

#include "base/proc.h"
#include "memory_trace.h"
#include "trace/drain/state_samples.h"
#include "trace/read/chunk_parser.h"

namespace rlscope::trace {
namespace {

uint32_t OwnPid() { return static_cast<uint32_t>(getpid()); }

bool KernelCounts() {
  base::SchedulerTimes times;
  return base::ReadSchedulerTimes(OwnPid(), OwnPid(), &times);
}

// CPU time that this thread spends, by its own clock.
void Spend(int64_t nanoseconds) {
  struct timespec time;
  const auto now = [&time] {
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
    return time.tv_sec * INT64_C(1000000000) + time.tv_nsec;
  };
  for (const int64_t begin = now(); now() - begin < nanoseconds;) {
  }
}

// What the file of the image says of thread 1.
Thread Written(const LivingThreads& living) {
  MemoryTrace trace;
  trace.Process().Thread(1, OwnPid(), "worker");
  EXPECT_EQ(living.Write(trace.sink(), trace.buffer()), 0);
  return trace.Trace()->threads().at(0).thread;
}

TEST(LivingThreads, HaveTheLastReadingWhenTheirProcessIsGone) {
  if (!KernelCounts()) GTEST_SKIP();
  const pid_t child = fork();
  if (child == 0) {
    Spend(20000000);
    raise(SIGSTOP);
    _exit(0);
  }
  int status;
  ASSERT_EQ(waitpid(child, &status, WUNTRACED), child);
  LivingThreads living;
  living.Begin(1, static_cast<uint32_t>(child));
  living.Read(static_cast<uint32_t>(child));
  kill(child, SIGKILL);
  waitpid(child, nullptr, 0);
  living.Read(static_cast<uint32_t>(child));
  const Thread thread = Written(living);
  EXPECT_GE(thread.last_times.running_ns, 20000000u);
  EXPECT_GT(thread.last_times.read_ns, 0);
}

TEST(LivingThreads, ThatEndedSaidSoThemselves) {
  LivingThreads living;
  living.Begin(1, OwnPid());
  living.Begin(2, OwnPid());
  living.End(1);
  living.Read(OwnPid());
  EXPECT_EQ(Written(living).last_times.read_ns, 0);
}

TEST(LivingThreads, ThatNothingWasAskedAboutHaveNoTimes) {
  LivingThreads living;
  living.Begin(1, OwnPid());
  EXPECT_EQ(Written(living).last_times.read_ns, 0);
}

bool IsAwake(LivingThreads* living, uint32_t pid) {
  StateSamples samples;
  EXPECT_TRUE(samples.Begin(100));
  living->AddAwake(pid, &samples);
  samples.End();
  MemoryTrace trace;
  trace.Process();
  EXPECT_EQ(samples.Write(trace.sink(), trace.buffer()), 0);
  std::vector<StateSample> found;
  EXPECT_TRUE(ParseStates(trace.Trace()->states().at(0), &found));
  return found.size() == 1 && !found[0].awake.empty();
}

TEST(LivingThreads, AreAskedAgainThroughTheSameFile) {
  const pid_t child = fork();
  if (child == 0) {
    raise(SIGSTOP);
    for (;;) Spend(1000000);
  }
  int status;
  ASSERT_EQ(waitpid(child, &status, WUNTRACED), child);
  const auto pid = static_cast<uint32_t>(child);
  LivingThreads living;
  living.Begin(1, pid);
  EXPECT_FALSE(IsAwake(&living, pid));
  kill(child, SIGCONT);
  ASSERT_EQ(waitpid(child, &status, WCONTINUED), child);
  EXPECT_TRUE(IsAwake(&living, pid));
  kill(child, SIGKILL);
  ASSERT_EQ(waitpid(child, &status, 0), child);
  EXPECT_TRUE(IsAwake(&living, pid));  // gone: nothing is known of it
}

TEST(LivingThreads, OfTwoReadingsTheFirstAndTheLastAreKept) {
  MemoryTrace trace;
  trace.Process();
  for (const int64_t at : {200, 100, 300}) {
    const auto counted = static_cast<uint64_t>(at);
    const ThreadFields fields = {1, 0, false, {}, {counted, 2 * counted, at}};
    EXPECT_EQ(WriteThreads(trace.sink(), trace.buffer(), &fields, 1), 0);
  }
  const Thread thread = trace.Trace()->threads().at(0).thread;
  EXPECT_EQ(thread.first_times.running_ns, 100u);
  EXPECT_EQ(thread.last_times.running_ns, 300u);
  EXPECT_EQ(thread.last_times.runnable_ns, 600u);
}

TEST(SchedulerTimes, AreTwoNumbers) {
  base::SchedulerTimes times;
  EXPECT_TRUE(base::ParseSchedulerTimes("12 345 6\n", &times));
  EXPECT_EQ(times.running_ns, 12u);
  EXPECT_EQ(times.runnable_ns, 345u);
  EXPECT_FALSE(base::ParseSchedulerTimes("", &times));
  EXPECT_FALSE(base::ParseSchedulerTimes("12\n", &times));
  EXPECT_FALSE(base::ParseSchedulerTimes("x 1 2\n", &times));
}

}  // namespace
}  // namespace rlscope::trace
