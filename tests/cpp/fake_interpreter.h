// Memory of this process that looks like an interpreter, for tests of the reader of stacks.
#ifndef RLSCOPE_TESTS_CPP_FAKE_INTERPRETER_H_
#define RLSCOPE_TESTS_CPP_FAKE_INTERPRETER_H_

#include <gtest/gtest.h>
#include <stddef.h>
#include <unistd.h>

#include <memory>
#include <string>
#include <vector>

#include "trace/drain/stack_reader.h"

namespace rlscope::trace {

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

inline const char code_type = 0;

inline FakeText Ascii(const std::string& text) {
  FakeText made;
  made.state = 1 | 2 | 1 << 4;
  made.length = text.size();
  text.copy(made.ascii, sizeof made.ascii);
  return made;
}

inline StackReader::Layout LayoutOf(const FakeInterpreter& interpreter) {
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

}  // namespace rlscope::trace

#endif  // RLSCOPE_TESTS_CPP_FAKE_INTERPRETER_H_
