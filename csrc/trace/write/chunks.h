// The small chunks of trace.proto, written as one frame each. Libc only, no malloc: a chunk is
// built in the caller's ChunkBuffer. Every function returns 0 or an errno value; text is cut so
// that a chunk always fits its buffer.
#ifndef RLSCOPE_TRACE_WRITE_CHUNKS_H_
#define RLSCOPE_TRACE_WRITE_CHUNKS_H_

#include <stddef.h>
#include <stdint.h>

#include "base/clock.h"
#include "trace/format/frame.h"
#include "trace/format/name_kind.h"
#include "trace/layout/layer.h"
#include "trace/layout/thread_times.h"
#include "trace/write/chunk_buffer.h"
#include "trace/write/sink.h"

namespace rlscope::trace {

struct ProcessFields {  // ProcessChunk
  const char* tool_version;
  const char* host;
  const char* boot_id;
  uint32_t os_pid;
  uint64_t start_time;
  int64_t began_ns;
  base::ClockKind clock;
  uint64_t tick_hz;  // of the clock itself
  uint32_t main_thread;
  uint32_t tick_shift = 0;  // tick_unit.h; of every tick that is written to this file
};
int WriteProcess(Sink* sink, ChunkBuffer* buffer, const ProcessFields& fields);

struct NameFields {
  uint32_t id;
  NameKind kind;
  Layer layer;
  Text text;
};
// Any number of names: as many frames as they need.
int WriteNames(Sink* sink, ChunkBuffer* buffer, const NameFields* names, size_t count);

struct ThreadFields {
  uint32_t thread;
  uint32_t os_tid;
  bool is_python;
  Text name;
  ThreadTimes times = {0, 0, 0};
};
int WriteThreads(Sink* sink, ChunkBuffer* buffer, const ThreadFields* threads, size_t count);

int WriteClock(Sink* sink, ChunkBuffer* buffer, const base::ClockPair* pairs, size_t count);

struct ThreadStack {
  uint32_t thread;
  uint32_t node;  // StackFields
};

// Which threads were awake, at times that ascend: `awake` has those of the first time up to
// `ends[0]`, and so on. Where the interpreter's threads were lies in `stacks` the same way.
struct StatesFields {
  const int64_t* times_ns;
  const uint32_t* ends;
  const uint32_t* awake;
  size_t count;  // at most kMostStates, with at most kMostAwake threads in all
  const uint32_t* stack_ends = nullptr;  // null: nothing is known of any thread
  const ThreadStack* stacks = nullptr;   // at most kMostStacks in all
};
constexpr size_t kMostStates = 64;
constexpr size_t kMostAwake = 1024;
constexpr size_t kMostStacks = 4096;
int WriteStates(Sink* sink, ChunkBuffer* buffer, const StatesFields& fields);

struct FunctionFields {
  Text file;
  Text name;
  uint32_t line;  // at which it is defined
};
struct NodeFields {
  uint32_t parent;    // number of a node before it; 0: the outermost call of a thread
  uint32_t function;  // its number
  uint32_t line;      // 0: not known
};
// Functions and nodes of stacks that are new in the image. Each has the number after the one before
// it; the first number of the image is 1.
struct StackFields {
  uint32_t first_function;
  const FunctionFields* functions;
  size_t function_count;
  uint32_t first_node;
  const NodeFields* nodes;
  size_t node_count;
};
// Any number of both: as many frames as they need.
int WriteStacks(Sink* sink, ChunkBuffer* buffer, const StackFields& fields);

struct MetadataFields {
  Text key;
  Text value;  // JSON; one that does not fit a chunk is left out
};
struct ProcessNames {  // empty: unchanged
  Text process_name;
  Text program;
  Text python;
};
int WriteMetadata(Sink* sink, ChunkBuffer* buffer, const ProcessNames& names,
                  const MetadataFields* entries, size_t count);

struct LossFields {
  const char* kind;
  uint64_t count;
};
struct EndFields {
  int64_t end_ns;
  bool exited;
  int64_t python_begin_ns;
  int64_t python_end_ns;
  uint32_t forks;
};
int WriteEnd(Sink* sink, ChunkBuffer* buffer, const EndFields& fields, const LossFields* losses,
             size_t count);

// The last frame of a file whose process goes on in another one.
int WriteClosed(Sink* sink);

}  // namespace rlscope::trace

#endif  // RLSCOPE_TRACE_WRITE_CHUNKS_H_
