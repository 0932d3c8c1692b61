// Reads where the threads of an interpreter are, from the memory of its process, while it runs
// (docs/reference/semantics.md#source-lines). Threads: one at a time. Libc only.
//
// The frames of a thread lie in a piece of memory of their own, which is read with one call of the
// kernel, the pointer to the innermost frame before and after it. If that moved, the thread called
// or returned meanwhile, and is read again. If it moved each time, the stack is what both ends have
// in common: the thread was there in between. Until 3.10 each frame lies by itself: they are
// followed once to learn where they are, and then read with one call.
#ifndef RLSCOPE_TRACE_DRAIN_STACK_READER_H_
#define RLSCOPE_TRACE_DRAIN_STACK_READER_H_

#include <stdint.h>

#include "trace/drain/growing_array.h"
#include "trace/drain/number_table.h"
#include "trace/drain/remote_memory.h"
#include "trace/drain/stack_numbers.h"
#include "trace/layout/interpreter_layout.h"

namespace rlscope::trace {

class StackReader {
 public:
  using Layout = rlscope_interpreter_layout;

  // Whether the offsets are such that this reads nothing outside of its own memory.
  static bool IsPlausible(const Layout& layout);

  // `layout` is plausible. What is read goes into `numbers`; both must outlive this.
  StackReader(uint32_t pid, const Layout& layout, StackNumbers* numbers)
      : memory_(pid), layout_(layout), numbers_(numbers) {}

  // Goes to the newest thread; false: the process cannot be read.
  bool Begin();
  // Goes to the next thread, from Begin() on. False: there is none.
  bool Next(uint32_t* os_tid);
  // The node of the thread; 0: none could be read.
  uint32_t Read();
  // CLOCK_MONOTONIC when the memory was copied from which the last Read() took its node: to find
  // the node takes longer than many calls of a program.
  int64_t copied_ns() const { return copied_ns_; }

 private:
  struct Frame {
    uint64_t code, instruction;  // with has_frame_objects: the place of the instruction
    uint64_t address;
  };
  // What identifies the content of a code object, as long as that stays where it is.
  struct Code {
    uint64_t file, name, line_table;
    uint32_t instruction_count, first_line;
    uint32_t function;  // follows from the others

    bool IsSame(const Code& other) const {
      return file == other.file && name == other.name && line_table == other.line_table &&
             instruction_count == other.instruction_count && first_line == other.first_line;
    }
  };
  static constexpr uint32_t kThreadBytes = 1024, kFrameBytes = 128, kCodeBytes = 256;
  static constexpr uint32_t kStackBytes = 64 * 1024;
  static constexpr uint32_t kMostFrames = 1024, kMostFar = 16;

  bool ReadFrames(bool is_strict);
  bool ReadFrameObjects();
  bool FollowFrameObjects(uint64_t top);
  bool ReadFrameObjects(uint64_t top, uint32_t begin, uint32_t count);
  bool ReadStack(bool is_strict);
  bool Walk(uint64_t top);
  bool WalkCommon(uint64_t first, uint64_t last);
  bool FindFrame(uint64_t address, uint8_t* frame);
  bool FindFarFrame(uint64_t address, uint8_t* frame);
  bool NodeOfFrames(uint32_t* node);
  bool EnterFrame(const Frame& frame, const uint8_t* object, uint32_t* node);
  uint64_t PlaceOf(const Frame& frame) const;
  uint32_t FindCode(uint64_t address, const uint8_t* object);
  uint32_t FunctionOf(const Code& code);
  bool ReadText(uint64_t address, GrowingArray<char>* text) const;
  uint32_t LineOf(const Code& code, uint32_t instruction);

  const RemoteMemory memory_;
  const Layout layout_;
  StackNumbers* const numbers_;

  uint64_t newest_ = 0;      // address of the newest thread, as the last Begin() found it
  bool has_newest_ = false;  // thread_bytes_ holds it
  uint64_t next_ = 0;        // address of the thread that Next() goes to
  uint32_t threads_ = 0;     // that it went to since Begin()
  uint64_t thread_ = 0;      // and of the one it went to
  uint8_t thread_bytes_[kThreadBytes];
  uint64_t stack_begin_ = 0, stack_end_ = 0;  // what stack_bytes_ holds
  uint8_t stack_bytes_[kStackBytes];
  // Frames that lie elsewhere, as those of generators do: what a try found is copied with the stack
  // in the next one.
  uint64_t far_[kMostFar];
  uint8_t far_bytes_[kMostFar][kFrameBytes];
  uint32_t far_count_ = 0, far_copied_ = 0;  // the first of them are copied
  Frame frames_[kMostFrames];                // the innermost first
  uint64_t others_[kMostFrames];             // addresses of the frames of another stack
  uint32_t frame_count_ = 0;
  int64_t copied_ns_ = 0;
  uint8_t code_bytes_[RemoteMemory::kMostPieces][kCodeBytes];

  NumberTable code_numbers_;  // by address: the place of its latest content in codes_, from 1 on
  GrowingArray<Code> codes_;
  NumberTable nodes_;  // by parent, code and instruction: the node
  GrowingArray<char> file_, name_, line_table_;
};

}  // namespace rlscope::trace

#endif  // RLSCOPE_TRACE_DRAIN_STACK_READER_H_
