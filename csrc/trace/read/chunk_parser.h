// Payloads of the small chunks (names, threads, clock, metadata...) -> values. Counterpart of
// write/chunks.h. Every function is safe on any bytes: false when they are not such a message, with
// what could be read kept.
#ifndef RLSCOPE_TRACE_READ_CHUNK_PARSER_H_
#define RLSCOPE_TRACE_READ_CHUNK_PARSER_H_

#include <stddef.h>
#include <stdint.h>

#include <string>
#include <utility>
#include <vector>

#include "base/clock.h"
#include "trace/layout/thread_times.h"
#include "trace/read/decoder.h"

namespace rlscope::trace {

struct Name {
  uint32_t id = 0;
  uint32_t kind = 0;   // NameKind
  uint32_t layer = 0;  // Layer
  std::string text;
};

struct Thread {
  uint32_t thread = 0;
  uint32_t os_tid = 0;
  bool is_python = false;
  std::string name;
  ThreadTimes first_times = {}, last_times = {};  // of the readings
};

struct ProcessInfo {  // ProcessChunk
  std::string tool_version, host, boot_id;
  uint32_t format_version = 0;
  uint32_t os_pid = 0;
  uint64_t start_time = 0;
  int64_t began_ns = 0;
  base::ClockKind clock = base::ClockKind::kMonotonic;
  uint64_t tick_hz = 0;  // of the clock; a tick of the file is 2^tick_shift of its ticks
  uint32_t main_thread = 0;
  uint32_t tick_shift = 0;
};

struct EndInfo {  // EndChunk
  int64_t end_ns = 0;
  bool exited = false;
  int64_t python_begin_ns = 0;  // 0: no Python
  int64_t python_end_ns = 0;
  uint32_t forks = 0;
  std::vector<std::pair<std::string, uint64_t>> losses;
};

struct Metadata {
  std::vector<std::pair<std::string, std::string>> entries;  // key, JSON; later ones win
  std::string process_name, program, python;
};

// RolledUpChunk; `state` lies in the payload.
struct RolledUpPiece {
  uint32_t piece = 0;
  bool last = false;
  Span state;
};

// Which threads were awake at a time, and where those of the interpreter were (StatesChunk).
struct StateSample {
  int64_t time_ns = 0;
  std::vector<uint32_t> awake;  // numbers of threads
  // Number of a thread of the interpreter, and the node of its stack (stack_tree.h).
  std::vector<std::pair<uint32_t, uint32_t>> stacks;
};

struct StackFunction {
  std::string file, name;
  uint32_t line = 0;  // at which it is defined
};
struct StackNode {
  uint32_t parent = 0;    // 0: none
  uint32_t function = 0;  // its number
  uint32_t line = 0;      // 0: not known
};
// StacksChunk. Each function and node has the number after the one before it.
struct StacksPart {
  uint32_t first_function = 0;
  std::vector<StackFunction> functions;
  uint32_t first_node = 0;
  std::vector<StackNode> nodes;
};

bool ParseRolledUp(Span payload, RolledUpPiece* piece);
bool ParseProcess(Span payload, ProcessInfo* process);
// These append; entries that repeat an id follow the ones they replace.
bool ParseNames(Span payload, std::vector<Name>* names);
bool ParseThreads(Span payload, std::vector<Thread>* threads);
bool ParseClock(Span payload, std::vector<base::ClockPair>* pairs);
bool ParseStates(Span payload, std::vector<StateSample>* samples);
bool ParseStacks(Span payload, StacksPart* part);
bool ParseMetadata(Span payload, Metadata* metadata);
bool ParseEnd(Span payload, EndInfo* end);

}  // namespace rlscope::trace

#endif  // RLSCOPE_TRACE_READ_CHUNK_PARSER_H_
