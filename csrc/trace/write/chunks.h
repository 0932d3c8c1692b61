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

// Which threads were awake, at times that ascend: `awake` has those of the first time up to
// `ends[0]`, and so on.
struct StatesFields {
  const int64_t* times_ns;
  const uint32_t* ends;
  const uint32_t* awake;
  size_t count;  // at most kMostStates, with at most kMostAwake threads in all
};
constexpr size_t kMostStates = 64;
constexpr size_t kMostAwake = 1024;
int WriteStates(Sink* sink, ChunkBuffer* buffer, const StatesFields& fields);

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
