#include "trace/write/chunks.h"

#include <errno.h>
#include <string.h>

#include "base/utf8.h"
#include "base/wire.h"
#include "trace/format/frame.h"
#include "trace/write/message.h"

namespace rlscope::trace {
namespace {

using base::PutBytesField;
using base::PutFixed64;
using base::PutLength;
using base::PutVarintField;

constexpr size_t kMaxEntryBytes = 68 * 1024;  // one metadata entry: key and JSON value

// Writes what is in the message and empties it when `needed` more bytes would not fit.
int MakeRoom(Message* message, size_t needed, Sink* sink, FrameType type) {
  if (message->left() >= needed) return 0;
  const int error = message->Append(sink, type);
  message->Clear();
  return error;
}

// One submessage made of numbers followed by one text.
void PutSubmessage(Message* message, uint32_t field, const uint8_t* numbers, size_t size,
                   uint32_t text_field, Text text) {
  const size_t text_size = Message::Cut(text);
  uint8_t tag[16];
  const size_t tag_size =
      text_size == 0 ? 0 : static_cast<size_t>(PutLength(tag, text_field, text_size) - tag);
  uint8_t*& out = message->end();
  out = PutLength(out, field, size + tag_size + text_size);
  memcpy(out, numbers, size);
  memcpy(out + size, tag, tag_size);
  out += size + tag_size;
  if (text_size > 0) memcpy(out, text.data, text_size);
  base::ReplaceInvalidUtf8(out, text_size);
  out += text_size;
}

// One list for each of `count` times, as (length, entries...); a list ends at the next of `ends`.
template <typename PutEntry>
void PutLists(Message* message, uint32_t field, const uint32_t* ends, size_t count,
              PutEntry put_entry) {
  uint8_t* const values = message->end() + kMaxFieldBytes;
  uint8_t* out = values;
  uint32_t from = 0;
  for (size_t i = 0; i < count; from = ends[i++]) {
    out = base::PutVarint(out, ends[i] - from);
    for (uint32_t at = from; at < ends[i]; ++at) out = put_entry(out, at);
  }
  message->Packed(field, values, out);
}

void PutFunction(Message* message, const FunctionFields& function) {
  uint8_t numbers[2 * kMaxFieldBytes];
  const size_t sizes[] = {Message::Cut(function.file), Message::Cut(function.name)};
  size_t inner = static_cast<size_t>(PutVarintField(numbers, 3, function.line) - numbers);
  for (const size_t size : sizes) {
    if (size > 0) inner += static_cast<size_t>(PutLength(numbers, 1, size) - numbers) + size;
  }
  message->end() = PutLength(message->end(), 2, inner);
  message->String(1, function.file);
  message->String(2, function.name);
  message->Varint(3, function.line);
}

}  // namespace

int WriteProcess(Sink* sink, ChunkBuffer* buffer, const ProcessFields& fields) {
  Message message(buffer);
  message.Varint(1, kFormatVersion);
  message.String(2, fields.tool_version);
  message.String(3, fields.host);
  message.String(4, fields.boot_id);
  message.Varint(5, fields.os_pid);
  message.Varint(6, fields.start_time);
  message.Signed(7, fields.began_ns);
  message.Varint(8, static_cast<uint32_t>(fields.clock));
  message.Varint(9, fields.tick_hz);
  message.Varint(10, fields.main_thread);
  message.Varint(11, fields.tick_shift);
  return message.Append(sink, FrameType::kProcess);
}

int WriteNames(Sink* sink, ChunkBuffer* buffer, const NameFields* names, size_t count) {
  Message message(buffer);
  for (size_t i = 0; i < count; ++i) {
    const NameFields& name = names[i];
    const size_t needed = 2 * kMaxFieldBytes + Message::Cut(name.text);
    if (int error = MakeRoom(&message, needed, sink, FrameType::kNames)) return error;
    uint8_t numbers[kMaxFieldBytes];
    uint8_t* end = PutVarintField(numbers, 1, name.id);
    end = PutVarintField(end, 2, static_cast<uint32_t>(name.kind));
    end = PutVarintField(end, 3, static_cast<uint32_t>(name.layer));
    PutSubmessage(&message, 1, numbers, static_cast<size_t>(end - numbers), 4, name.text);
  }
  return message.size() == 0 ? 0 : message.Append(sink, FrameType::kNames);
}

int WriteThreads(Sink* sink, ChunkBuffer* buffer, const ThreadFields* threads, size_t count) {
  Message message(buffer);
  for (size_t i = 0; i < count; ++i) {
    const ThreadFields& thread = threads[i];
    const size_t needed = 2 * kMaxFieldBytes + Message::Cut(thread.name);
    if (int error = MakeRoom(&message, needed, sink, FrameType::kThreads)) return error;
    uint8_t numbers[kMaxFieldBytes];
    uint8_t* end = PutVarintField(numbers, 1, thread.thread);
    end = PutVarintField(end, 2, thread.os_tid);
    end = PutVarintField(end, 4, thread.is_python ? 1 : 0);
    if (thread.times.read_ns != 0) {
      end = PutVarintField(end, 5, thread.times.running_ns);
      end = PutVarintField(end, 6, thread.times.runnable_ns);
      end = PutVarintField(end, 7, static_cast<uint64_t>(thread.times.read_ns));
    }
    PutSubmessage(&message, 1, numbers, static_cast<size_t>(end - numbers), 3, thread.name);
  }
  return message.size() == 0 ? 0 : message.Append(sink, FrameType::kThreads);
}

int WriteClock(Sink* sink, ChunkBuffer* buffer, const base::ClockPair* pairs, size_t count) {
  constexpr size_t kMaxPairs = (sizeof(ChunkBuffer) - kMaxFieldBytes) / sizeof(base::ClockPair);
  for (size_t first = 0; first < count; first += kMaxPairs) {
    const size_t some = count - first < kMaxPairs ? count - first : kMaxPairs;
    Message message(buffer);
    uint8_t*& out = message.end();
    out = PutLength(out, 1, 8 * some);
    for (size_t i = 0; i < some; ++i) out = PutFixed64(out, pairs[first + i].ticks);
    out = PutLength(out, 2, 8 * some);
    for (size_t i = 0; i < some; ++i) {
      out = PutFixed64(out, static_cast<uint64_t>(pairs[first + i].ns));
    }
    if (int error = message.Append(sink, FrameType::kClock)) return error;
  }
  return 0;
}

int WriteStates(Sink* sink, ChunkBuffer* buffer, const StatesFields& fields) {
  constexpr size_t kMostNumbers = 3 * kMostStates + kMostAwake + 2 * kMostStacks;
  static_assert(kMostNumbers * base::kMaxVarintBytes + 4 * kMaxFieldBytes < sizeof buffer->bytes);
  if (fields.count == 0) return 0;
  Message message(buffer);
  message.Fixed64(1, static_cast<uint64_t>(fields.times_ns[0]));
  message.Column(2, fields.count, [&](size_t i) {
    return static_cast<uint64_t>(fields.times_ns[i] - fields.times_ns[i == 0 ? 0 : i - 1]);
  });
  PutLists(&message, 3, fields.ends, fields.count,
           [&](uint8_t* out, uint32_t at) { return base::PutVarint(out, fields.awake[at]); });
  if (fields.stack_ends != nullptr) {
    PutLists(&message, 4, fields.stack_ends, fields.count, [&](uint8_t* out, uint32_t at) {
      out = base::PutVarint(out, fields.stacks[at].thread);
      return base::PutVarint(out, fields.stacks[at].node);
    });
  }
  return message.Append(sink, FrameType::kStates);
}

int WriteStacks(Sink* sink, ChunkBuffer* buffer, const StackFields& fields) {
  constexpr size_t kMostNodes = 4096;  // of one frame
  constexpr size_t kMostNodeBytes = 3 * kMostNodes * base::kMaxVarintBytes + 4 * kMaxFieldBytes;
  static_assert(kMostNodeBytes < sizeof buffer->bytes);
  Message message(buffer);
  for (size_t i = 0; i < fields.function_count; ++i) {
    const FunctionFields& function = fields.functions[i];
    const size_t needed =
        3 * kMaxFieldBytes + Message::Cut(function.file) + Message::Cut(function.name);
    if (int error = MakeRoom(&message, needed, sink, FrameType::kStacks)) return error;
    if (message.size() == 0) message.Varint(1, fields.first_function + i);
    PutFunction(&message, function);
  }
  for (size_t first = 0; first < fields.node_count; first += kMostNodes) {
    const size_t left = fields.node_count - first;
    const size_t some = left < kMostNodes ? left : kMostNodes;
    const NodeFields* const nodes = fields.nodes + first;
    if (int error = MakeRoom(&message, kMostNodeBytes, sink, FrameType::kStacks)) return error;
    message.Varint(3, fields.first_node + first);
    message.Column(4, some, [&](size_t i) { return uint64_t{nodes[i].parent}; });
    message.Column(5, some, [&](size_t i) { return uint64_t{nodes[i].function}; });
    message.Column(6, some, [&](size_t i) { return uint64_t{nodes[i].line}; });
    if (int error = message.Append(sink, FrameType::kStacks)) return error;
    message.Clear();
  }
  return message.size() == 0 ? 0 : message.Append(sink, FrameType::kStacks);
}

int WriteMetadata(Sink* sink, ChunkBuffer* buffer, const ProcessNames& names,
                  const MetadataFields* entries, size_t count) {
  Message message(buffer);
  message.String(2, names.process_name);
  message.String(3, names.program);
  message.String(4, names.python);
  for (size_t i = 0; i < count; ++i) {
    const MetadataFields& entry = entries[i];
    if (entry.key.size + entry.value.size > kMaxEntryBytes) continue;
    const size_t needed = 2 * kMaxFieldBytes + entry.key.size + entry.value.size;
    if (int error = MakeRoom(&message, needed, sink, FrameType::kMetadata)) return error;
    uint8_t sizes[32];
    size_t inner = entry.key.size + entry.value.size;
    if (entry.key.size > 0)
      inner += static_cast<size_t>(PutLength(sizes, 1, entry.key.size) - sizes);
    if (entry.value.size > 0) {
      inner += static_cast<size_t>(PutLength(sizes, 2, entry.value.size) - sizes);
    }
    uint8_t*& out = message.end();
    out = PutLength(out, 1, inner);
    out = PutBytesField(out, 1, entry.key.data, entry.key.size);
    base::ReplaceInvalidUtf8(out - entry.key.size, entry.key.size);
    out = PutBytesField(out, 2, entry.value.data, entry.value.size);
    base::ReplaceInvalidUtf8(out - entry.value.size, entry.value.size);
  }
  return message.size() == 0 ? 0 : message.Append(sink, FrameType::kMetadata);
}

int WriteClosed(Sink* sink) {
  const void* const nothing = nullptr;
  return AppendFrame(sink, FrameType::kClosed, nothing, 0);
}

int WriteEnd(Sink* sink, ChunkBuffer* buffer, const EndFields& fields, const LossFields* losses,
             size_t count) {
  Message message(buffer);
  message.Signed(1, fields.end_ns);
  message.Varint(2, fields.exited ? 1 : 0);
  message.Signed(3, fields.python_begin_ns);
  message.Signed(4, fields.python_end_ns);
  for (size_t i = 0; i < count; ++i) {
    const Text kind = {losses[i].kind, strlen(losses[i].kind)};
    if (message.left() < 3 * kMaxFieldBytes + kind.size) return EMSGSIZE;
    uint8_t numbers[kMaxFieldBytes];
    const uint8_t* end = PutVarintField(numbers, 2, losses[i].count);
    PutSubmessage(&message, 5, numbers, static_cast<size_t>(end - numbers), 1, kind);
  }
  message.Varint(6, fields.forks);
  return message.Append(sink, FrameType::kEnd);
}

}  // namespace rlscope::trace
