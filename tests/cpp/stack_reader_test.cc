#include "trace/drain/stack_reader.h"

#include <gtest/gtest.h>
#include <stddef.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include <atomic>
#include <iterator>
#include <memory>
#include <random>
#include <thread>
#include <vector>

#include "fake_interpreter.h"

namespace rlscope::trace {
namespace {

TEST_F(StackReaderTest, FindsFunctionsAndLines) {
  EXPECT_EQ(Read(), NodeOf({{"main", 10, 12}, {"Env.step", 20, 23}}));
  frames[1].instruction = step.instructions + 3;
  EXPECT_EQ(Read(), NodeOf({{"main", 10, 12}, {"Env.step", 20, 24}}));
}

TEST_F(StackReaderTest, ALineHasOneNodeWhateverItsInstruction) {
  lines.data[3] = static_cast<char>(0x80 | 10 << 3);  // the second is on the line of the first
  frames[1].instruction = step.instructions;
  const uint32_t node = Read();
  frames[1].instruction = step.instructions + 1;
  EXPECT_EQ(Read(), node);
  EXPECT_EQ(node, NodeOf({{"main", 10, 11}, {"Env.step", 20, 21}}));
}

TEST_F(StackReaderTest, BeforeItsFirstInstructionAFunctionIsAtItsFirstLine) {
  frames[1].instruction = step.instructions - 1;
  EXPECT_EQ(Read(), NodeOf({{"main", 10, 12}, {"Env.step", 20, 21}}));
}

TEST_F(StackReaderTest, FramesMayLieElsewhere) {
  const FakeFrame generator = Frame(main, 3);
  thread.current = &generator;
  EXPECT_EQ(Read(), NodeOf({{"main", 10, 12}, {"Env.step", 20, 23}, {"main", 10, 14}}));
}

TEST_F(StackReaderTest, FramesThatRunNoCodeAreLeftOut) {
  Enter(2, main, 0);
  frames[2].owner = 3;
  frames[2].code = 0;
  Enter(3, step, 0);
  EXPECT_EQ(Read(), NodeOf({{"main", 10, 12}, {"Env.step", 20, 23}, {"Env.step", 20, 21}}));
}

TEST_F(StackReaderTest, ThePointerToTheCodeMayBeTagged) {
  frames[1].code |= 1;
  EXPECT_EQ(Read(), NodeOf({{"main", 10, 12}, {"Env.step", 20, 23}}));
}

TEST_F(StackReaderTest, ThePointerToTheFrameMayBeHeldByAnother) {
  struct Holder {
    uint64_t other;
    const FakeFrame* frame;
  } const holder = {0, thread.current};
  thread.current = reinterpret_cast<const FakeFrame*>(&holder);
  StackReader::Layout layout = LayoutOf(interpreter);
  layout.has_holder = 1;
  layout.holder_frame = offsetof(Holder, frame);
  EXPECT_EQ(ReadWith(layout), NodeOf({{"main", 10, 12}, {"Env.step", 20, 23}}));
}

// Moves a pointer to and fro until the end of its life.
class Mover {
 public:
  template <typename T>
  Mover(T* pointer, T one, T other)
      : thread_([this, pointer, one, other] {
          for (bool is_one = true; !ends_.load(); is_one = !is_one) {
            __atomic_store_n(pointer, is_one ? one : other, __ATOMIC_SEQ_CST);
          }
        }) {}
  ~Mover() {
    ends_.store(true);
    thread_.join();
  }

 private:
  std::atomic<bool> ends_ = false;
  std::thread thread_;
};

// Whatever it does meanwhile, it is in one of them, or in the function that calls both.
TEST_F(StackReaderTest, AThreadThatCallsAndReturnsHasAStack) {
  const uint32_t outer = NodeOf({{"main", 10, 12}, {"Env.step", 20, 23}});
  const uint32_t inner = NodeOf({{"main", 10, 12}, {"Env.step", 20, 23}, {"main", 10, 14}});
  const uint32_t sibling = NodeOf({{"main", 10, 12}, {"Env.step", 20, 23}, {"main", 10, 13}});
  frames[2] = Frame(main, 3);
  frames[3] = Frame(main, 2);
  const FakeFrame* const step_frame = thread.current;
  const FakeFrame *const called = &frames[2], *const other = &frames[3];
  for (const FakeFrame* from : {step_frame, other}) {
    const Mover mover(&thread.current, from, called);
    for (int i = 0; i < 3000; i++) {
      const uint32_t node = Read();
      ASSERT_TRUE(node == outer || node == inner || (node == sibling && from == other)) << i;
    }
  }
}

TEST_F(StackReaderTest, AThreadThatCCallsBackHasAStack) {
  struct Holder {
    const FakeFrame* frame;
  };
  const uint32_t outer = NodeOf({{"main", 10, 12}, {"Env.step", 20, 23}});
  const uint32_t inner = NodeOf({{"main", 10, 12}, {"Env.step", 20, 23}, {"main", 10, 14}});
  frames[2] = Frame(main, 3);
  const Holder before = {thread.current}, inside = {&frames[2]};
  StackReader::Layout layout = LayoutOf(interpreter);
  layout.has_holder = 1;
  thread.current = reinterpret_cast<const FakeFrame*>(&before);
  const Mover mover(&thread.current, thread.current, reinterpret_cast<const FakeFrame*>(&inside));
  for (int i = 0; i < 3000; i++) {
    const uint32_t node = ReadWith(layout);
    ASSERT_TRUE(node == outer || node == inner) << i;
  }
}

TEST_F(StackReaderTest, AGeneratorThatHasYieldedIsNoWholeStack) {
  FakeFrame generator = Frame(main, 3);
  generator.owner = 1;
  thread.current = &generator;
  EXPECT_EQ(Read(), NodeOf({{"main", 10, 12}, {"Env.step", 20, 23}, {"main", 10, 14}}));
  generator.caller = nullptr;
  EXPECT_EQ(Read(), 0u);
}

// The generator yields, and its caller goes on with it, again and again.
TEST_F(StackReaderTest, AThreadThatRunsAGeneratorIsInItOrInItsCaller) {
  const uint32_t outer = NodeOf({{"main", 10, 12}, {"Env.step", 20, 23}});
  const uint32_t inner = NodeOf({{"main", 10, 12}, {"Env.step", 20, 23}, {"main", 10, 14}});
  FakeFrame generator = Frame(main, 3);
  generator.owner = 1;
  const FakeFrame *const caller = thread.current, *const called = &generator;
  const Mover mover(&thread.current, caller, called);
  const Mover yielding(&generator.caller, caller, static_cast<const FakeFrame*>(nullptr));
  uint32_t found = 0;
  for (int i = 0; i < 3000; i++) {
    const uint32_t node = Read();
    ASSERT_TRUE(node == 0 || node == outer || node == inner) << i;
    found += node != 0;
  }
  EXPECT_GT(found, 0u);
}

TEST_F(StackReaderTest, OtherCodeAtTheSamePlaceIsAnotherFunction) {
  Read();
  const FakeText name = Ascii("reset");
  step.name = &name;
  EXPECT_EQ(Read(), NodeOf({{"main", 10, 12}, {"reset", 20, 23}}));
}

TEST_F(StackReaderTest, NamesMayHaveAnyCharacters) {
  FakeText name;
  name.state = 2 | 2 << 4;
  name.length = 3;
  name.wide[0] = 'a';
  name.wide[1] = 0xe4;
  name.wide[2] = 0x20ac;
  step.name = &name;
  EXPECT_EQ(Read(), NodeOf({{"main", 10, 12}, {"a\xc3\xa4\xe2\x82\xac", 20, 23}}));
}

TEST_F(StackReaderTest, AThreadThatRunsNoPythonHasNoStack) {
  thread.current = nullptr;
  EXPECT_EQ(Read(), 0u);
}

TEST_F(StackReaderTest, WhatCannotBeAStackIsNone) {
  frames[0].caller = &frames[1];
  EXPECT_EQ(Read(), 0u) << "a circle";
  frames[0].caller = nullptr;
  frames[1].instruction = step.instructions + 4;
  EXPECT_EQ(Read(), 0u) << "after the code";
  frames[1].instruction = step.instructions;
  step.line_table = nullptr;
  const uint32_t node = Read();
  EXPECT_EQ(node, NodeOf({{"main", 10, 12}, {"Env.step", 20, 0}})) << "no table of lines";
  step.type = &step;
  EXPECT_EQ(Read(), 0u) << "no code";
  step.type = &code_type;
  void* const gone = mmap(nullptr, 4096, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  frames[1].code = reinterpret_cast<uint64_t>(gone);
  EXPECT_EQ(Read(), 0u) << "code that is gone";
  thread.current = static_cast<const FakeFrame*>(gone);
  EXPECT_EQ(Read(), 0u) << "a frame that is gone";
  munmap(gone, 4096);
}

TEST_F(StackReaderTest, AFrameMayNameAnyAddressAsItsCaller) {
  const auto begin = reinterpret_cast<uint64_t>(frames), end = begin + sizeof frames;
  for (const uint64_t base : {uint64_t{0}, begin, end, uint64_t{1} << 63}) {
    for (uint64_t i = 0; i < 256; i++) {
      frames[0].caller = reinterpret_cast<const FakeFrame*>(base + i - 128);
      Read();
    }
  }
  frames[0].caller = nullptr;
  EXPECT_EQ(Read(), NodeOf({{"main", 10, 12}, {"Env.step", 20, 23}}));
}

// Memory of a running process changes under the reader: each word may hold whatever lies there
// next.
TEST_F(StackReaderTest, AnyWordMayHoldAnything) {
  struct Part {
    void* begin;
    size_t bytes;
  };
  const Part parts[] = {{frames, sizeof frames},
                        {&thread, sizeof thread},
                        {&main, sizeof main},
                        {&step, sizeof step},
                        {&main_name, sizeof main_name},
                        {&lines, sizeof lines},
                        {&interpreter, sizeof interpreter}};
  std::vector<uint64_t> values = {0, 1, 0x7f, 1 << 12, UINT32_MAX, uint64_t{1} << 63, UINT64_MAX};
  for (const Part& part : parts) {
    for (const uint64_t inside : {uint64_t{0}, uint64_t{part.bytes} - 1, uint64_t{part.bytes}}) {
      values.push_back(reinterpret_cast<uint64_t>(part.begin) + inside);
    }
  }
  std::mt19937 random(36);
  const uint32_t good = Read();
  for (int i = 0; i < 20000; i++) {
    const Part& part = parts[random() % std::size(parts)];
    uint8_t* const word = static_cast<uint8_t*>(part.begin) + random() % (part.bytes - 7);
    uint64_t before, value = values[random() % values.size()] + random() % 17 - 8;
    memcpy(&before, word, sizeof before);
    memcpy(word, &value, sizeof value);
    uint32_t os_tid = 0;
    for (reader->Begin(); reader->Next(&os_tid);) reader->Read();
    memcpy(word, &before, sizeof before);
  }
  EXPECT_EQ(Read(), good);
}

TEST_F(StackReaderTest, EachThreadIsFound) {
  FakeThread other = thread;
  other.os_tid = 8;
  other.next = &thread;
  interpreter.first_thread = &other;
  StackReader both(Pid(), LayoutOf(interpreter), &numbers);
  uint32_t os_tid = 0;
  ASSERT_TRUE(both.Begin() && both.Next(&os_tid));
  EXPECT_EQ(os_tid, 8u);
  ASSERT_TRUE(both.Next(&os_tid));
  EXPECT_EQ(os_tid, 7u);
  EXPECT_FALSE(both.Next(&os_tid));
  thread.next = &other;  // a circle
  int threads = 0;
  for (both.Begin(); both.Next(&os_tid);) threads++;
  EXPECT_LT(threads, 10000);
}

TEST_F(StackReaderTest, TheNewestThreadMayEnd) {
  auto* const newer = new FakeThread(thread);
  newer->os_tid = 8;
  newer->next = &thread;
  StackReader both(Pid(), LayoutOf(interpreter), &numbers);
  const auto found = [&both](uint32_t first) {
    uint32_t os_tid = 0;
    return both.Begin() && both.Next(&os_tid) && os_tid == first && both.Read() != 0;
  };
  for (FakeThread* newest : {&thread, &thread, newer, newer, &thread}) {
    interpreter.first_thread = newest;
    EXPECT_TRUE(found(newest->os_tid));
  }
  interpreter.first_thread = newer;
  ASSERT_TRUE(found(8));
  interpreter.first_thread = &thread;
  delete newer;
  EXPECT_TRUE(found(7));
}

TEST_F(StackReaderTest, OffsetsThatLeadAnywhereAreRefused) {
  const StackReader::Layout good = LayoutOf(interpreter);
  EXPECT_TRUE(StackReader::IsPlausible(good));
  EXPECT_FALSE(StackReader::IsPlausible({}));
  for (uint32_t StackReader::Layout::* offset :
       {&StackReader::Layout::next_thread, &StackReader::Layout::caller,
        &StackReader::Layout::line_table, &StackReader::Layout::text_state,
        &StackReader::Layout::first_thread, &StackReader::Layout::bytes_data}) {
    StackReader::Layout bad = good;
    bad.*offset = UINT32_MAX - 4;
    EXPECT_FALSE(StackReader::IsPlausible(bad));
  }
}

}  // namespace
}  // namespace rlscope::trace
