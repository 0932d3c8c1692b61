// The function behind each stub: the table beside the stub pool, one entry per stub.
//
// An entry is filled before its stub is stored anywhere and is never given to another function:
// pointers to a stub may have been copied to places that are not known (a slot inherited by a later
// subclass).
#ifndef RLSCOPE_NATIVE_CALLS_ENTRIES_H_
#define RLSCOPE_NATIVE_CALLS_ENTRIES_H_

#include <stddef.h>
#include <stdint.h>

#include "native_calls/stub_pool.h"
#include "runtime/rlscope.h"

namespace rlscope::native_calls {

// Every function that CPython calls through a pointer takes at most five integer arguments: all
// METH_ kinds, getters and setters, type slots, vectorcall.
using Function = void* (*)(void*, void*, void*, void*, void*);

// Any of them sends a call through the slow half of call.cc.
enum EntryFlags : uint32_t {
  kWarming = 1,      // has no word yet, or counts its calls until it is hot
  kResultHook = 2,   // the result goes to the hook of SetResultHook()
  kPassThrough = 4,  // unpatched: its calls are counted and not recorded
  kWait = 8,         // a thread waits in it: waits.cc calls it; `word` is the number of its site
  kDelayed = 16,     // its records take longer, for a test (test_delay.h)
  kSerializes = 32,  // native calls inside it are the program's, as if no call were open
};

struct Entry {
  Function original;  // what the stub calls in the end
  uint32_t word;      // trace::MakeWord(kCall, its name's id, 0); 0: the name has no id yet
  uint32_t flags;
};
static_assert(sizeof(Entry) == 16);

// The rest of an entry, which no hot call touches.
struct EntryName {
  const char* text;  // lives as long as the process
  uint32_t length;
  uint16_t layer;
  uint16_t calls;  // recorded while warming
};

// The part that every call reads, on one page with the entries of hot functions: between two
// operators of PyTorch neither caches nor translation buffers keep anything of ours.
struct alignas(4096) EntryTable {
  // Where the recorder's two variables are, which the table of offsets has on two cache lines.
  const struct rlscope_process_state* process;
  intptr_t self_offset;  // of rlscope_self, from the thread pointer; the same in all threads
  Entry entries[kStubs];
};

extern EntryTable entry_table;
inline constexpr auto& entries = entry_table.entries;
extern EntryName entry_names[kStubs];

}  // namespace rlscope::native_calls

#endif  // RLSCOPE_NATIVE_CALLS_ENTRIES_H_
