#include "trace/drain/stack_reader.h"

#include <string.h>

#include "base/clock.h"
#include "trace/drain/characters.h"
#include "trace/drain/line_table.h"

namespace rlscope::trace {
namespace {

// The first tries want a thread that stays where it is.
constexpr uint32_t kStrictTries = 3, kMostTries = 12;
constexpr uint32_t kMostVisited = 4096;
constexpr uint32_t kMostCodes = 4 * kMostFunctions;
constexpr uint32_t kMostInstructions = 1 << 24;  // of code that does not say how many it has
constexpr uint64_t kMostCharacters = 1024;
constexpr uint64_t kMostLineTableBytes = 256 * 1024;
constexpr uint64_t kPage = 4096;
constexpr uint8_t kOfThread = 0;  // owner of a frame; 1: a generator

template <typename T>
T Get(const uint8_t* object, uint32_t offset) {
  T value;
  memcpy(&value, object + offset, sizeof value);
  return value;
}

// Bytes of an object up to the end of the last of its members, each of 8 bytes at most.
template <typename... Offset>
uint64_t BytesUpTo(Offset... offsets) {
  uint32_t last = 0;
  ((last = last < offsets ? offsets : last), ...);
  return uint64_t{last} + 8;
}

uint64_t ThreadBytes(const StackReader::Layout& layout) {
  return BytesUpTo(layout.next_thread, layout.os_tid, layout.current, layout.stack_chunk,
                   layout.stack_top);
}
uint64_t FrameBytes(const StackReader::Layout& layout) {
  return BytesUpTo(layout.code, layout.caller, layout.instruction, layout.owner);
}
uint64_t CodeBytes(const StackReader::Layout& layout) {
  return BytesUpTo(layout.type, layout.instruction_count, layout.file, layout.name,
                   layout.first_line, layout.line_table);
}
uint64_t TextBytes(const StackReader::Layout& layout) {
  return BytesUpTo(layout.text_length, layout.text_state);
}

}  // namespace

bool StackReader::IsPlausible(const Layout& layout) {
  constexpr uint64_t kMostOffset = 1 << 20;
  const bool fits = ThreadBytes(layout) <= kThreadBytes && FrameBytes(layout) <= kFrameBytes &&
                    CodeBytes(layout) <= kCodeBytes && TextBytes(layout) <= kCodeBytes;
  const uint64_t far =
      BytesUpTo(layout.first_thread, layout.handle_tid, layout.holder_frame, layout.instructions,
                layout.ascii_data, layout.compact_data, layout.bytes_length, layout.bytes_data);
  return layout.interpreter != 0 && fits && far <= kMostOffset && layout.kind_mask != 0;
}

bool StackReader::Begin() {
  threads_ = 0;
  const uint64_t first = layout_.interpreter + layout_.first_thread;
  // Most programs go on with the thread that they had: one call of the kernel reads both.
  const RemoteMemory::Piece pieces[] = {{first, &next_, sizeof next_},
                                        {newest_, thread_bytes_, ThreadBytes(layout_)}};
  has_newest_ = newest_ != 0 && memory_.Read(pieces, 2) && next_ == newest_;
  if (!has_newest_ && !memory_.Read(first, &next_, sizeof next_)) return false;
  newest_ = next_;
  return true;
}

bool StackReader::Next(uint32_t* os_tid) {
  if (next_ == 0 || ++threads_ > kMostVisited) return false;
  const bool is_read = threads_ == 1 && has_newest_;
  if (!is_read && !memory_.Read(next_, thread_bytes_, ThreadBytes(layout_))) return false;
  thread_ = next_;
  next_ = Get<uint64_t>(thread_bytes_, layout_.next_thread);
  if (layout_.has_handle == 0) {
    *os_tid = Get<uint32_t>(thread_bytes_, layout_.os_tid);
    return true;
  }
  const auto handle = Get<uint64_t>(thread_bytes_, layout_.os_tid);
  if (!memory_.Read(handle + layout_.handle_tid, os_tid, sizeof *os_tid)) *os_tid = 0;
  return true;
}

uint32_t StackReader::Read() {
  far_count_ = 0;
  for (uint32_t i = 0; i < kMostTries; i++) {
    const int64_t before_ns = base::ReadMonotonicNs();
    if (!ReadFrames(i < kStrictTries)) continue;
    copied_ns_ = before_ns + (base::ReadMonotonicNs() - before_ns) / 2;
    uint32_t node = 0;
    if (NodeOfFrames(&node)) return node;
  }
  return 0;
}

// ---- frames -------------------------------------------------------------------------------------

bool StackReader::ReadFrames(bool is_strict) {
  return layout_.has_frame_objects != 0 ? ReadFrameObjects() : ReadStack(is_strict);
}

bool StackReader::ReadFrameObjects() {
  uint64_t top = 0;
  if (!memory_.Read(thread_ + layout_.current, &top, sizeof top)) return false;
  if (!FollowFrameObjects(top)) return false;
  constexpr uint32_t kMost = RemoteMemory::kMostPieces - 2;
  for (uint32_t begin = 0; begin < frame_count_; begin += kMost) {
    const uint32_t left = frame_count_ - begin;
    if (!ReadFrameObjects(top, begin, left < kMost ? left : kMost)) return false;
  }
  return true;
}

// Puts the addresses of the frames into frames_, as if they were those of their code.
bool StackReader::FollowFrameObjects(uint64_t top) {
  frame_count_ = 0;
  for (uint64_t address = top; address != 0;) {
    if (frame_count_ == kMostFrames) return false;
    frames_[frame_count_++].code = address;
    if (!memory_.Read(address + layout_.caller, &address, sizeof address)) return false;
  }
  return true;
}

// Some of frames_, from `begin` on, if they are still where they were.
bool StackReader::ReadFrameObjects(uint64_t top, uint32_t begin, uint32_t count) {
  const uint64_t top_address = thread_ + layout_.current;
  uint64_t first = 0, last = 0;
  RemoteMemory::Piece pieces[RemoteMemory::kMostPieces];
  pieces[0] = {top_address, &first, sizeof first};
  for (uint32_t i = 0; i < count; i++) {
    pieces[i + 1] = {frames_[begin + i].code, stack_bytes_ + i * kFrameBytes, FrameBytes(layout_)};
  }
  pieces[count + 1] = {top_address, &last, sizeof last};
  if (!memory_.Read(pieces, count + 2) || first != top || last != top) return false;
  for (uint32_t i = 0; i < count; i++) {
    const uint8_t* const object = stack_bytes_ + i * kFrameBytes;
    const uint32_t next = begin + i + 1;
    const uint64_t caller = next < frame_count_ ? frames_[next].code : 0;
    if (Get<uint64_t>(object, layout_.caller) != caller) return false;
    const auto place = Get<int32_t>(object, layout_.instruction);  // negative: before the first one
    frames_[begin + i] = {Get<uint64_t>(object, layout_.code),
                          place < 0 ? 0 : static_cast<uint64_t>(place), frames_[begin + i].code};
  }
  return true;
}

bool StackReader::ReadStack(bool is_strict) {
  const auto current = Get<uint64_t>(thread_bytes_, layout_.current);
  const bool held = layout_.has_holder != 0;
  const auto begin = Get<uint64_t>(thread_bytes_, layout_.stack_chunk);
  const auto top = Get<uint64_t>(thread_bytes_, layout_.stack_top);
  // To the end of the page: frames that were added since lie there.
  stack_end_ = begin < top ? ((top - 1) | (kPage - 1)) + 1 : begin;
  stack_begin_ = stack_end_ - begin > kStackBytes ? stack_end_ - kStackBytes : begin;
  const uint64_t top_address = held ? current + layout_.holder_frame : thread_ + layout_.current;
  uint64_t first = 0, last = 0;
  RemoteMemory::Piece pieces[kMostFar + 4];
  uint32_t count = 0;
  pieces[count++] = {top_address, &first, sizeof first};
  pieces[count++] = {stack_begin_, stack_bytes_, stack_end_ - stack_begin_};
  for (uint32_t i = 0; i < far_count_; i++) {
    pieces[count++] = {far_[i], far_bytes_[i], FrameBytes(layout_)};
  }
  pieces[count++] = {top_address, &last, sizeof last};
  pieces[count++] = {thread_, thread_bytes_, ThreadBytes(layout_)};
  far_copied_ = far_count_;
  if (!memory_.Read(pieces, count)) {
    far_count_ = 0;  // one of them may be gone
    return false;
  }
  const auto current_after = Get<uint64_t>(thread_bytes_, layout_.current);
  const bool same = !held || current_after == current;
  if (same && first == last) return Walk(first);
  if (is_strict) return false;
  // C code called Python meanwhile, or returned from it: the pointer lies elsewhere.
  if (!same && !memory_.Read(current_after + layout_.holder_frame, &last, sizeof last))
    return false;
  return WalkCommon(first, last);
}

bool StackReader::FindFrame(uint64_t address, uint8_t* frame) {
  const uint64_t bytes = FrameBytes(layout_), held = stack_end_ - stack_begin_;
  const uint64_t place =
      address - stack_begin_;  // whatever lies at `address`, it may be any number
  if (address < stack_begin_ || held < bytes || place > held - bytes) {
    return FindFarFrame(address, frame);
  }
  memcpy(frame, stack_bytes_ + place, bytes);
  return true;
}

// Of a generator, or in another piece of the stack.
bool StackReader::FindFarFrame(uint64_t address, uint8_t* frame) {
  uint32_t place = 0;
  while (place < far_count_ && far_[place] != address) place++;
  if (place < far_copied_) {
    memcpy(frame, far_bytes_[place], FrameBytes(layout_));
    return true;
  }
  if (!memory_.Read(address, frame, FrameBytes(layout_))) return false;
  if (place == far_count_ && far_count_ < kMostFar) far_[far_count_++] = address;
  return true;
}

// False: it is no whole stack. That of a generator ends with it once the generator has yielded.
bool StackReader::Walk(uint64_t top) {
  frame_count_ = 0;
  uint32_t seen = 0;
  uint8_t owner = 0;
  for (uint64_t address = top; address != 0;) {
    uint8_t frame[kFrameBytes];
    if (++seen > kMostFrames || !FindFrame(address, frame)) return false;
    // The interpreter enters Python from C through a frame of its own.
    owner = Get<uint8_t>(frame, layout_.owner);
    const bool runs_code = owner < layout_.foreign_owner;
    const uint64_t code = Get<uint64_t>(frame, layout_.code) & ~uint64_t{layout_.code_tag};
    const uint64_t instruction = Get<uint64_t>(frame, layout_.instruction);
    if (runs_code) frames_[frame_count_++] = {code, instruction, address};
    address = Get<uint64_t>(frame, layout_.caller);
  }
  return owner == kOfThread || owner >= layout_.foreign_owner;
}

// The frames that two stacks of the thread have in common. On the way from one to the other the
// thread was in the innermost of them: it returned to it, or called from it, or both. Where a
// generator yielded meanwhile, only one of them is whole.
bool StackReader::WalkCommon(uint64_t first, uint64_t last) {
  if (!Walk(last)) return Walk(first);
  const uint32_t others = frame_count_;
  for (uint32_t i = 0; i < others; i++) others_[i] = frames_[i].address;
  if (!Walk(first)) return Walk(last);
  uint32_t common = 0;
  while (common < others && common < frame_count_ &&
         frames_[frame_count_ - 1 - common].address == others_[others - 1 - common]) {
    common++;
  }
  memmove(frames_, frames_ + (frame_count_ - common), common * sizeof *frames_);
  frame_count_ = common;
  return common > 0;
}

// ---- code ---------------------------------------------------------------------------------------

// False: what was read is no stack; it changed while it was read.
bool StackReader::NodeOfFrames(uint32_t* node) {
  uint32_t left = frame_count_;
  while (left > 0) {
    RemoteMemory::Piece pieces[RemoteMemory::kMostPieces];
    uint32_t count = 0;
    for (; count < RemoteMemory::kMostPieces && count < left; count++) {
      pieces[count] = {frames_[left - 1 - count].code, code_bytes_[count], CodeBytes(layout_)};
    }
    if (!memory_.Read(pieces, count)) return false;
    for (uint32_t i = 0; i < count; i++) {
      if (!EnterFrame(frames_[--left], code_bytes_[i], node)) return false;
    }
  }
  return true;
}

bool StackReader::EnterFrame(const Frame& frame, const uint8_t* object, uint32_t* node) {
  if (Get<uint64_t>(object, layout_.type) != layout_.code_type) return false;
  const uint64_t place = PlaceOf(frame);
  const uint32_t number = FindCode(frame.code, object);
  if (number == 0 || place >= codes_[number - 1].instruction_count) return false;
  const auto instruction = static_cast<uint32_t>(place);
  uint32_t* const known = nodes_.Find({*node, number, instruction});
  if (known == nullptr) return false;
  if (*known == 0) {
    const Code& code = codes_[number - 1];
    *known = numbers_->Node(*node, code.function, LineOf(code, instruction));
  }
  *node = *known;
  return *node != 0;
}

// Of the instruction, in the code.
uint64_t StackReader::PlaceOf(const Frame& frame) const {
  if (layout_.has_frame_objects != 0) return frame.instruction;
  const uint64_t begin = frame.code + layout_.instructions;
  return frame.instruction < begin ? 0 : (frame.instruction - begin) / 2;
}

// The place in codes_, from 1 on. 0: it cannot be read.
uint32_t StackReader::FindCode(uint64_t address, const uint8_t* object) {
  const bool is_counted = layout_.has_frame_objects == 0;
  const auto counted = Get<uint32_t>(object, layout_.instruction_count);
  Code code = {Get<uint64_t>(object, layout_.file),       Get<uint64_t>(object, layout_.name),
               Get<uint64_t>(object, layout_.line_table), is_counted ? counted : kMostInstructions,
               Get<uint32_t>(object, layout_.first_line), 0};
  uint32_t* const number = code_numbers_.Find({address, 0, 0});
  if (number == nullptr) return 0;
  if (*number != 0 && code.IsSame(codes_[*number - 1])) return *number;
  code.function = FunctionOf(code);
  if (code.function == 0 || codes_.count() == kMostCodes || !codes_.Add(code)) return 0;
  return *number = codes_.count();
}

uint32_t StackReader::FunctionOf(const Code& code) {
  if (!ReadText(code.file, &file_) || !ReadText(code.name, &name_)) return 0;
  return numbers_->Function({file_.begin(), file_.count()}, {name_.begin(), name_.count()},
                            code.first_line);
}

bool StackReader::ReadText(uint64_t address, GrowingArray<char>* text) const {
  uint8_t object[kCodeBytes];
  if (!memory_.Read(address, object, TextBytes(layout_))) return false;
  const auto state = Get<uint32_t>(object, layout_.text_state);
  const auto length = Get<uint64_t>(object, layout_.text_length);
  const bool is_ascii = (state & layout_.ascii_mask) != 0;
  if (!is_ascii && (state & layout_.compact_mask) == 0) return false;
  const uint32_t kind = (state & layout_.kind_mask) >> __builtin_ctz(layout_.kind_mask);
  const uint32_t width = is_ascii ? 1 : kind;
  if (width != 1 && width != 2 && width != 4) return false;
  const uint64_t count = length < kMostCharacters ? length : kMostCharacters;
  const uint64_t data = address + (is_ascii ? layout_.ascii_data : layout_.compact_data);
  uint8_t characters[kMostCharacters * 4];
  if (!memory_.Read(data, characters, count * width)) return false;
  text->Clear();
  return AddCharacters(characters, count, width, text);
}

// 0: not known.
uint32_t StackReader::LineOf(const Code& code, uint32_t instruction) {
  uint64_t length = 0;
  if (!memory_.Read(code.line_table + layout_.bytes_length, &length, sizeof length)) return 0;
  if (length > kMostLineTableBytes || !line_table_.Resize(static_cast<uint32_t>(length))) return 0;
  if (!memory_.Read(code.line_table + layout_.bytes_data, line_table_.begin(), length)) return 0;
  const auto find = layout_.has_frame_objects != 0 ? FindLineInPairs : FindLine;
  return find(line_table_.begin(), length, code.first_line, instruction);
}

}  // namespace rlscope::trace
