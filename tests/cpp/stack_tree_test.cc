#include "trace/read/stack_tree.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "memory_trace.h"

namespace rlscope::trace {
namespace {

using testing::ElementsAre;

struct Chunks {
  MemoryTrace trace;

  void Add(uint32_t first_function, const std::vector<FunctionFields>& functions,
           uint32_t first_node, const std::vector<NodeFields>& nodes) {
    EXPECT_EQ(0, WriteStacks(trace.sink(), trace.buffer(),
                             {first_function, functions.data(), functions.size(), first_node,
                              nodes.data(), nodes.size()}));
  }
};

FunctionFields Function(std::string_view file, std::string_view name) {
  return {{file.data(), file.size()}, {name.data(), name.size()}, 1};
}

// Lines of the node and its callers; empty: not known.
std::vector<uint32_t> LinesOf(const StackTree& tree, uint32_t number) {
  std::vector<uint32_t> lines;
  for (const StackNode* node = tree.Find(number); node != nullptr; node = tree.Find(node->parent)) {
    lines.push_back(node->line);
  }
  return lines;
}

TEST(StackTree, NumbersGoOnFromChunkToChunk) {
  Chunks chunks;
  chunks.trace.Process();
  const std::string odd = "odd\xff.py";
  chunks.Add(1, {Function("a.py", "main")}, 1, {{0, 1, 10}});
  chunks.Add(2, {Function(odd, "step"), Function({}, {})}, 2, {{1, 2, 20}, {2, 2, 0}, {1, 3, 30}});
  const auto file = chunks.trace.File();
  const StackTree tree(file->stacks());
  EXPECT_THAT(LinesOf(tree, 3), ElementsAre(0, 20, 10));
  EXPECT_THAT(LinesOf(tree, 4), ElementsAre(30, 10));
  EXPECT_EQ(tree.FunctionOf(*tree.Find(2))->file, "odd?.py");
  EXPECT_EQ(tree.FunctionOf(*tree.Find(2))->name, "step");
  EXPECT_EQ(tree.FunctionOf(*tree.Find(4))->file, "");
  EXPECT_EQ(tree.Find(0), nullptr);
  EXPECT_EQ(tree.Find(5), nullptr);
}

TEST(StackTree, WhatDoesNotFitOneFrameIsInSeveral) {
  Chunks chunks;
  chunks.trace.Process();
  const std::string name(5000, 'n');
  constexpr uint32_t kCount = 10000;
  const std::vector<FunctionFields> functions(200, Function("a.py", name));
  std::vector<NodeFields> nodes;
  for (uint32_t i = 0; i < kCount; ++i) nodes.push_back({i, 1 + i % 200, i});
  chunks.Add(1, functions, 1, nodes);
  const auto file = chunks.trace.File();
  EXPECT_GT(file->stacks().size(), 5u);
  const StackTree tree(file->stacks());
  EXPECT_EQ(tree.functions().size(), 200u);
  EXPECT_EQ(LinesOf(tree, kCount).size(), kCount);
  EXPECT_EQ(tree.FunctionOf(*tree.Find(kCount))->name, name);
}

// Without the chunk in the middle nothing has another one's line.
TEST(StackTree, ALostChunkTakesWhatNeedsIt) {
  for (const bool is_lost : {false, true}) {
    Chunks chunks;
    chunks.trace.Process();
    chunks.Add(1, {Function("a.py", "main")}, 1, {{0, 1, 10}});
    if (!is_lost) chunks.Add(2, {Function("a.py", "lost")}, 2, {{1, 2, 20}});
    chunks.Add(3, {Function("a.py", "after")}, 3, {{2, 3, 30}, {1, 3, 40}, {1, 2, 50}});
    const auto file = chunks.trace.File();
    const StackTree tree(file->stacks());
    EXPECT_THAT(LinesOf(tree, 4), ElementsAre(40, 10));
    EXPECT_EQ(LinesOf(tree, 2).size(), is_lost ? 0u : 2u);
    EXPECT_EQ(LinesOf(tree, 3).size(), is_lost ? 0u : 3u) << "its caller";
    EXPECT_EQ(LinesOf(tree, 5).size(), is_lost ? 0u : 2u) << "its function";
  }
}

TEST(StackTree, NumbersThatCannotBeAreNotKnown) {
  Chunks chunks;
  chunks.trace.Process();
  chunks.Add(1, {Function("a.py", "f")}, 1, {{1, 1, 1}, {3, 1, 2}, {2, 1, 3}, {7, 1, 4}});
  chunks.Add(0, {Function("a.py", "none")}, 0, {{0, 1, 5}});
  chunks.Add(UINT32_MAX, {Function("a.py", "f"), Function("a.py", "g")}, UINT32_MAX,
             {{0, UINT32_MAX, 6}, {0, 1, 7}});
  const auto file = chunks.trace.File();
  const StackTree tree(file->stacks());
  for (uint32_t number = 0; number < 8; ++number) EXPECT_EQ(tree.Find(number), nullptr) << number;
  EXPECT_THAT(LinesOf(tree, UINT32_MAX), ElementsAre(6));
}

TEST(StackTree, AChunkThatIsThereTwiceCountsOnce) {
  Chunks chunks;
  chunks.trace.Process();
  for (int i = 0; i < 2; ++i) chunks.Add(1, {Function("a.py", "f")}, 1, {{0, 1, 1}, {1, 1, 2}});
  const auto file = chunks.trace.File();
  const StackTree tree(file->stacks());
  EXPECT_EQ(tree.functions().size(), 1u);
  EXPECT_EQ(tree.nodes().size(), 2u);
}

TEST(StackTree, ReadingsNameTheNodesOfThreads) {
  MemoryTrace trace;
  trace.Process();
  const int64_t times_ns[] = {100, 130, 160};
  const uint32_t ends[] = {1, 1, 3}, awake[] = {7, 8, 9}, stack_ends[] = {2, 2, 3};
  const ThreadStack stacks[] = {{1, 5}, {2, 300}, {1, UINT32_MAX}};
  EXPECT_EQ(
      0, WriteStates(trace.sink(), trace.buffer(), {times_ns, ends, awake, 3, stack_ends, stacks}));
  const auto file = trace.File();
  ASSERT_EQ(file->states().size(), 1u);
  std::vector<StateSample> samples;
  EXPECT_TRUE(ParseStates(file->states()[0], &samples));
  ASSERT_EQ(samples.size(), 3u);
  EXPECT_EQ(samples[2].time_ns, 160);
  EXPECT_THAT(samples[2].awake, ElementsAre(8, 9));
  EXPECT_THAT(samples[0].stacks, ElementsAre(std::pair(1u, 5u), std::pair(2u, 300u)));
  EXPECT_TRUE(samples[1].stacks.empty());
  EXPECT_THAT(samples[2].stacks, ElementsAre(std::pair(1u, UINT32_MAX)));
}

// Whatever the bytes: what was read before the damage is kept, and nothing is read behind it.
TEST(StackTree, APayloadThatIsCutOffIsSafe) {
  Chunks chunks;
  chunks.trace.Process();
  chunks.Add(1, {Function("a.py", "f")}, 1, {{0, 1, 1}, {1, 1, 2}});
  const auto file = chunks.trace.File();
  const Span whole = file->stacks()[0];
  for (size_t size = 0; size < whole.size; ++size) {
    const std::vector<uint8_t> bytes(whole.data, whole.data + size);
    const StackTree tree({{bytes.data(), bytes.size()}});
    EXPECT_LE(tree.nodes().size(), 2u);
    EXPECT_TRUE(size > whole.size / 2 || tree.Find(2) == nullptr) << size;
  }
}

}  // namespace
}  // namespace rlscope::trace
