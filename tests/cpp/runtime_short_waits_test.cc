// Waits that are too short for a record: the thread's next record says how many there were.
#include <gmock/gmock.h>
#include <sys/wait.h>
#include <unistd.h>

#include <random>
#include <thread>

#include "runtime/native_call.h"
#include "runtime/short_waits.h"
#include "runtime_run.h"

namespace rlscope::test {
namespace {

using testing::ElementsAre;

void Short(uint64_t count = 1) {
  for (; count > 0; --count) {
    if (!runtime::IsRecording()) return;
    if (!runtime::CountsShortWaits(rlscope_self) && !runtime::HasRoom()) return;
    runtime::CountShortWait(&rlscope_self, runtime::ReadTicks());
  }
}

void Record(uint32_t kind) { rlscope_record(kind, 1); }

// The kinds of a thread's items; beside short waits, how many.
std::vector<std::pair<uint32_t, uint64_t>> ItemsOf(const trace::ProcessImage& process,
                                                   size_t thread = 0) {
  std::vector<std::pair<uint32_t, uint64_t>> found;
  for (const Item& item : ReadItems(*process.trace, thread)) {
    found.push_back({item.kind, item.kind == trace::kShortWaits ? item.value : 0});
  }
  return found;
}

constexpr std::pair<uint32_t, uint64_t> kBegin = {trace::kThreadBegin, 0},
                                        kEnter = {trace::kOperationEnter, 0},
                                        kExit = {trace::kOperationExit, 0},
                                        kCall = {trace::kCall, 0}, kEnd = {trace::kThreadEnd, 0};
std::pair<uint32_t, uint64_t> Waits(uint64_t count) { return {trace::kShortWaits, count}; }

PROGRAM(waits_between_records) {
  Record(trace::kOperationEnter);
  Short(3);
  Record(trace::kOperationExit);
  Record(trace::kOperationEnter);
  Short();
  Record(trace::kOperationExit);
  Short(2);  // the exit of the process tells of them
  return 0;
}

TEST(ShortWaits, AreCountedBeforeTheNextRecord) {
  TracedRun run;
  ASSERT_EQ(run.Execute("waits_between_records"), 0);
  EXPECT_THAT(ItemsOf(run.ReadOne()),
              ElementsAre(kBegin, kEnter, Waits(3), kExit, kEnter, Waits(1), kExit, Waits(2)));
}

PROGRAM(waits_of_a_thread) {
  std::thread([] {
    Record(trace::kOperationEnter);
    Short(5);
  }).join();
  return 0;
}

TEST(ShortWaits, OfAThreadAreCountedWhenItEnds) {
  TracedRun run;
  ASSERT_EQ(run.Execute("waits_of_a_thread"), 0);
  EXPECT_THAT(ItemsOf(run.ReadOne()), ElementsAre(kBegin, kEnter, Waits(5), kEnd));
}

PROGRAM(long_wait_behind_short_ones) {
  Short(4);
  runtime::BeginCall(&rlscope_self, trace::MakeWord(trace::kCall, 1, 0), runtime::ReadTicks());
  runtime::EndCall(&rlscope_self, runtime::Load(rlscope_process.generation), runtime::ReadTicks());
  runtime::BeginCall(&rlscope_self, trace::MakeWord(trace::kCall, 1, 0), runtime::ReadTicks());
  runtime::EndCall(&rlscope_self, runtime::Load(rlscope_process.generation), runtime::ReadTicks());
  return 0;
}

TEST(ShortWaits, AreCountedBeforeALongOne) {
  TracedRun run;
  ASSERT_EQ(run.Execute("long_wait_behind_short_ones"), 0);
  EXPECT_THAT(ItemsOf(run.ReadOne()), ElementsAre(kBegin, Waits(4), kCall, kCall));
}

PROGRAM(waits_and_fork) {
  Record(trace::kOperationEnter);
  Short(3);
  const pid_t child = fork();
  if (child == 0) {
    Record(trace::kOperationEnter);
    _exit(0);
  }
  waitpid(child, nullptr, 0);
  Record(trace::kOperationExit);
  return 0;
}

TEST(ShortWaits, AreOfTheParentAlone) {
  TracedRun run;
  ASSERT_EQ(run.Execute("waits_and_fork"), 0);
  const auto& images = run.Read().processes();
  ASSERT_EQ(images.size(), 2u);
  EXPECT_THAT(ItemsOf(images[0]), ElementsAre(kBegin, kEnter, Waits(3), kExit));
  EXPECT_THAT(ItemsOf(images[1]), ElementsAre(kBegin, kEnter));
}

constexpr int kSteps = 200000;

// How many there are before each record of the next test.
uint64_t CountOf(std::mt19937* random) { return (*random)() % 4; }

PROGRAM(waits_over_whole_rings) {
  std::mt19937 random(7);
  for (int i = 0; i < kSteps; ++i) {
    Short(CountOf(&random));
    Record(i % 2 == 0 ? trace::kOperationEnter : trace::kOperationExit);
  }
  return 0;
}

TEST(ShortWaits, AreAllThereHoweverRingsEndAndGrow) {
  TracedRun run;
  ASSERT_EQ(run.Execute("waits_over_whole_rings"), 0);
  const trace::ProcessImage& process = run.ReadOne();
  ASSERT_EQ(LossOf(process, "ring_full"), 0u);
  std::mt19937 random(7);
  uint64_t before = 0;
  int steps = 0;
  for (const auto& [kind, count] : ItemsOf(process)) {
    if (kind == trace::kShortWaits) before += count;
    if (kind != trace::kOperationEnter && kind != trace::kOperationExit) continue;
    ASSERT_EQ(before, CountOf(&random)) << "before record " << steps;
    before = 0;
    ++steps;
  }
  EXPECT_EQ(steps, kSteps);
}

}  // namespace
}  // namespace rlscope::test
