#include "trace/format/open_operations.h"

#include <gtest/gtest.h>

#include <memory>

namespace rlscope::trace {
namespace {

constexpr uint32_t kA = 1, kB = 2;

class OpenOperationsTest : public testing::Test {
 protected:
  void SetUp() override { open_.Reset(); }
  OpenOperations open_;
};

TEST_F(OpenOperationsTest, ExitOfTheInnermostIsTold) {
  open_.Enter(kA, 1);
  open_.Enter(kB, 2);
  EXPECT_TRUE(open_.Exit(kB));
  EXPECT_TRUE(open_.Exit(kA));
  EXPECT_FALSE(open_.Exit(kA)) << "nothing is open";
}

TEST_F(OpenOperationsTest, AnOuterExitClosesOnlyThatInstance) {
  open_.Enter(kA, 1);
  open_.Enter(kB, 2);
  EXPECT_FALSE(open_.Exit(kA));
  ASSERT_EQ(open_.count(), 1u);
  EXPECT_EQ(open_[0].name, kB);
  EXPECT_TRUE(open_.Exit(kB));
}

TEST_F(OpenOperationsTest, TheInnermostInstanceOfARecursionCloses) {
  open_.Enter(kA, 1);
  open_.Enter(kB, 2);
  open_.Enter(kA, 3);
  open_.Enter(kB, 4);
  EXPECT_FALSE(open_.Exit(kA));
  ASSERT_EQ(open_.count(), 3u);
  EXPECT_EQ(open_[2].enter_ticks, 4u);
  EXPECT_EQ(open_[0].enter_ticks, 1u);
}

TEST_F(OpenOperationsTest, EachTaskHasItsOwnStackOnTopOfTheThreads) {
  open_.Enter(kA, 1);
  open_.SwitchTask(7);
  open_.Enter(kB, 2);
  open_.SwitchTask(8);
  open_.Enter(kB, 3);
  open_.SwitchTask(7);
  EXPECT_TRUE(open_.Exit(kB)) << "task 8's is younger, but not of this task";
  ASSERT_EQ(open_.count(), 2u);
  EXPECT_EQ(open_[1].task, 8u);
  EXPECT_FALSE(open_.Exit(kA)) << "closed, but it stood outside of the task";
  EXPECT_EQ(open_.count(), 1u);
}

TEST_F(OpenOperationsTest, OverflowForgetsAndSaysSo) {
  for (uint32_t i = 0; i < OpenOperations::kCapacity; ++i) open_.Enter(kA, i);
  EXPECT_TRUE(open_.complete());
  open_.Enter(kB, 1000);
  EXPECT_FALSE(open_.complete());
  EXPECT_EQ(open_.count(), 1u);
  EXPECT_TRUE(open_.Exit(kB)) << "what was entered since is known";
  EXPECT_FALSE(open_.Exit(kA)) << "what was entered before is not";
}

TEST_F(OpenOperationsTest, WithHoleInATasksStackTheThreadsIsNotTouched) {
  open_.Enter(kA, 1);
  open_.SwitchTask(7);
  open_.Forget();
  open_.SwitchTask(0);
  open_.Enter(kB, 2);
  open_.SwitchTask(7);
  EXPECT_FALSE(open_.Exit(kB)) << "may be one that was forgotten";
  EXPECT_EQ(open_.count(), 0u) << "and so nothing is certain any more";
}

TEST(OpenOperations, ZeroedMemoryKnowsNothing) {
  const auto memory = std::make_unique<OpenOperations>();
  OpenOperations& open = *memory;
  EXPECT_FALSE(open.complete());
  EXPECT_EQ(open.task(), kUnknownTask);
  open.Enter(kA, 1);
  EXPECT_TRUE(open.Exit(kA));
  open.Enter(kA, 2);
  open.SwitchTask(3);
  EXPECT_EQ(open.task(), 3u);
  EXPECT_EQ(open.count(), 0u) << "its task will never be known";
}

}  // namespace
}  // namespace rlscope::trace
