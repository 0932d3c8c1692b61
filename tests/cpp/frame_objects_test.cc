#include <gtest/gtest.h>
#include <stddef.h>
#include <string.h>

#include <iterator>
#include <random>
#include <vector>

#include "fake_interpreter.h"
#include "trace/drain/stack_reader.h"

namespace rlscope::trace {
namespace {

// An interpreter as until 3.10: frames are objects anywhere, which say the place of their
// instruction, and threads have the handle of the C library.
struct FakeFrameObject {
  uint64_t other = 0;
  const FakeFrameObject* caller = nullptr;
  const FakeCode* code = nullptr;
  int32_t place = -1;
};
struct FakeHandle {
  uint64_t other = 0;
  uint32_t os_tid = 7;
};

class FrameObjectsTest : public StackReaderTest {
 protected:
  FrameObjectsTest() {
    // Each of four instructions is on the next line.
    lines = {8, {2, 1, 2, 1, 2, 1, 2, 1}};
    for (size_t i = 0; i < std::size(objects); i++) {
      const FakeFrameObject* const caller = i > 0 ? &objects[i - 1] : nullptr;
      objects[i] = {0, caller, i > 0 ? &step : &main, i > 0 ? 2 : 1};
    }
    Run(1);
    thread.stack_chunk = reinterpret_cast<const FakeFrame*>(&handle);
  }

  StackReader::Layout Objects() {
    StackReader::Layout layout = LayoutOf(interpreter);
    layout.has_handle = 1;
    layout.os_tid = layout.stack_chunk;
    layout.handle_tid = offsetof(FakeHandle, os_tid);
    layout.has_frame_objects = 1;
    layout.caller = offsetof(FakeFrameObject, caller);
    layout.code = offsetof(FakeFrameObject, code);
    layout.instruction = offsetof(FakeFrameObject, place);
    return layout;
  }
  void Run(int frame) { thread.current = reinterpret_cast<const FakeFrame*>(&objects[frame]); }
  std::vector<Call> Steps(int count) {
    std::vector<Call> calls = {{"main", 10, 12}};
    for (int i = 0; i < count; i++) calls.push_back({"Env.step", 20, 23});
    return calls;
  }

  FakeFrameObject objects[200];
  FakeHandle handle;
};

TEST_F(FrameObjectsTest, AreFoundWhereverTheyLie) {
  EXPECT_EQ(ReadWith(Objects()), NodeOf(Steps(1)));
  Run(199);  // more than one call of the kernel reads
  EXPECT_EQ(ReadWith(Objects()), NodeOf(Steps(199)));
}

TEST_F(FrameObjectsTest, BeforeItsFirstInstructionAFunctionIsAtIt) {
  objects[1].place = -1;
  EXPECT_EQ(ReadWith(Objects()), NodeOf({{"main", 10, 12}, {"Env.step", 20, 21}}));
}

TEST_F(FrameObjectsTest, WhatCannotBeAStackIsNone) {
  objects[0].caller = &objects[1];
  EXPECT_EQ(ReadWith(Objects()), 0u) << "a circle";
  objects[0].caller = nullptr;
  objects[1].place = INT32_MAX;
  EXPECT_EQ(ReadWith(Objects()), 0u) << "no place in any code";
  objects[1].code = nullptr;
  EXPECT_EQ(ReadWith(Objects()), 0u) << "no code";
  thread.current = nullptr;
  EXPECT_EQ(ReadWith(Objects()), 0u) << "nothing runs";
}

TEST_F(FrameObjectsTest, AThreadWhoseHandleIsGoneHasNoNumber) {
  thread.stack_chunk = nullptr;
  reader = std::make_unique<StackReader>(Pid(), Objects(), &numbers);
  uint32_t os_tid = 1;
  ASSERT_TRUE(reader->Begin() && reader->Next(&os_tid));
  EXPECT_EQ(os_tid, 0u);
}

TEST_F(FrameObjectsTest, AnyWordMayHoldAnything) {
  const uint32_t good = ReadWith(Objects());
  FakeFrameObject* const running = &objects[1];
  std::mt19937 random(310);
  const uint64_t begin = reinterpret_cast<uint64_t>(objects);
  const uint64_t values[] = {0, 1, begin, begin + sizeof objects, uint64_t{1} << 63, UINT64_MAX};
  for (int i = 0; i < 5000; i++) {
    uint8_t* const word =
        reinterpret_cast<uint8_t*>(running) + random() % (sizeof *running - sizeof(uint64_t) + 1);
    uint64_t before, value = values[random() % std::size(values)] + random() % 17 - 8;
    memcpy(&before, word, sizeof before);
    memcpy(word, &value, sizeof value);
    uint32_t os_tid = 0;
    for (reader->Begin(); reader->Next(&os_tid);) reader->Read();
    memcpy(word, &before, sizeof before);
  }
  EXPECT_EQ(ReadWith(Objects()), good);
}

}  // namespace
}  // namespace rlscope::trace
