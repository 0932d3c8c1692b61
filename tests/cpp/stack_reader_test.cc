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
#include <string>
#include <thread>
#include <vector>

namespace rlscope::trace {
namespace {

// An interpreter of our own, in this process, with the parts that matter in an order of its own.
struct FakeText {
  uint32_t state = 0;  // 1: ascii; 2: compact; bits 4 to 6: bytes of a character
  uint64_t length = 0;
  char ascii[64] = "";
  uint16_t wide[8] = {};
};
struct FakeBytes {
  uint64_t length = 0;
  char data[64] = "";
};
struct FakeCode {
  const FakeText* name = nullptr;
  const FakeText* file = nullptr;
  const FakeBytes* line_table = nullptr;
  uint64_t instruction_count = 0;
  const void* type = nullptr;
  uint32_t first_line = 0;
  uint16_t instructions[64] = {};
};
struct FakeFrame {
  const uint16_t* instruction = nullptr;
  const FakeFrame* caller = nullptr;
  uint64_t code = 0;
  char owner = 0;
};
struct FakeThread {
  const FakeFrame* current = nullptr;
  FakeThread* next = nullptr;
  uint32_t os_tid = 0;
  const FakeFrame* stack_chunk = nullptr;
  const FakeFrame* stack_top = nullptr;
};
struct FakeInterpreter {
  uint64_t other = 0;
  FakeThread* first_thread = nullptr;
};

const char code_type = 0;

FakeText Ascii(const std::string& text) {
  FakeText made;
  made.state = 1 | 2 | 1 << 4;
  made.length = text.size();
  text.copy(made.ascii, sizeof made.ascii);
  return made;
}

StackReader::Layout LayoutOf(const FakeInterpreter& interpreter) {
  StackReader::Layout layout = {};
  layout.interpreter = reinterpret_cast<uint64_t>(&interpreter);
  layout.code_type = reinterpret_cast<uint64_t>(&code_type);
  layout.first_thread = offsetof(FakeInterpreter, first_thread);
  layout.next_thread = offsetof(FakeThread, next);
  layout.os_tid = offsetof(FakeThread, os_tid);
  layout.current = offsetof(FakeThread, current);
  layout.stack_chunk = offsetof(FakeThread, stack_chunk);
  layout.stack_top = offsetof(FakeThread, stack_top);
  layout.code = offsetof(FakeFrame, code);
  layout.code_tag = 1;
  layout.caller = offsetof(FakeFrame, caller);
  layout.instruction = offsetof(FakeFrame, instruction);
  layout.owner = offsetof(FakeFrame, owner);
  layout.foreign_owner = 3;
  layout.type = offsetof(FakeCode, type);
  layout.instruction_count = offsetof(FakeCode, instruction_count);
  layout.file = offsetof(FakeCode, file);
  layout.name = offsetof(FakeCode, name);
  layout.first_line = offsetof(FakeCode, first_line);
  layout.line_table = offsetof(FakeCode, line_table);
  layout.instructions = offsetof(FakeCode, instructions);
  layout.text_length = offsetof(FakeText, length);
  layout.text_state = offsetof(FakeText, state);
  layout.ascii_mask = 1;
  layout.compact_mask = 2;
  layout.kind_mask = 7 << 4;
  layout.ascii_data = offsetof(FakeText, ascii);
  layout.compact_data = offsetof(FakeText, wide);
  layout.bytes_length = offsetof(FakeBytes, length);
  layout.bytes_data = offsetof(FakeBytes, data);
  return layout;
}

// A program with two functions, and one thread that runs them.
class StackReaderTest : public testing::Test {
 protected:
  StackReaderTest() {
    // Each of four instructions is on the next line.
    for (char& byte : lines.data) byte = 0;
    for (int i = 0; i < 4; i++) lines.data[3 * i] = static_cast<char>(0x80 | 11 << 3);
    lines.length = 12;
    main = {&main_name, &file, &lines, 4, &code_type, 10, {}};
    step = {&step_name, &file, &lines, 4, &code_type, 20, {}};
    thread.os_tid = 7;
    thread.stack_chunk = frames;
    thread.stack_top = frames + 8;
    interpreter.first_thread = &thread;
    Enter(0, main, 1);
    Enter(1, step, 2);
  }

  FakeFrame Frame(const FakeCode& code, int instruction) {
    return {code.instructions + instruction, thread.current, reinterpret_cast<uint64_t>(&code), 0};
  }
  void Enter(int place, const FakeCode& code, int instruction) {
    frames[place] = Frame(code, instruction);
    thread.current = &frames[place];
  }

  uint32_t Read() { return ReadWith(LayoutOf(interpreter)); }
  uint32_t ReadWith(const StackReader::Layout& layout) {
    if (!reader) reader = std::make_unique<StackReader>(Pid(), layout, &numbers);
    uint32_t os_tid = 0;
    if (!reader->Begin() || !reader->Next(&os_tid)) return 0;
    EXPECT_EQ(os_tid, 7u);
    return reader->Read();
  }
  static uint32_t Pid() { return static_cast<uint32_t>(getpid()); }

  // What Read() must give of calls, the outermost first.
  struct Call {
    std::string name;
    uint32_t first_line, line;
  };
  uint32_t NodeOf(const std::vector<Call>& calls) {
    uint32_t node = 0;
    for (const Call& call : calls) {
      const uint32_t function =
          numbers.Function({"train.py", 8}, {call.name.data(), call.name.size()}, call.first_line);
      node = numbers.Node(node, function, call.line);
    }
    return node;
  }

  FakeText file = Ascii("train.py"), main_name = Ascii("main"), step_name = Ascii("Env.step");
  FakeBytes lines;
  FakeCode main, step;
  FakeFrame frames[8];
  FakeThread thread;
  FakeInterpreter interpreter;
  StackNumbers numbers;
  std::unique_ptr<StackReader> reader;
};

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
