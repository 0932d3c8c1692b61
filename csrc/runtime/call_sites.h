// Call sites: stacks of the interpreter in which the process makes CUDA calls, as nodes of one tree
// (trace.proto, StacksChunk). Private memory, as that of names (names.h), so that fork children and
// later sessions keep the numbers; an image publishes all of them before its first record.
#ifndef RLSCOPE_RUNTIME_CALL_SITES_H_
#define RLSCOPE_RUNTIME_CALL_SITES_H_

#include <stdint.h>

#include "runtime/rlscope.h"

namespace rlscope::runtime {

struct SiteFunction {
  const char* text;  // the file, then the name; lives as long as the process
  uint16_t file_length;
  uint16_t length;
  uint32_t first_line;
  uint64_t hash;
};
struct SiteStack {
  uint32_t parent, function, line;
};

// rlscope_find_call_sites(). Read without a lock.
extern rlscope_call_site_finder find_call_site;

// All others need process_lock.

// Numbers from 1 on; 0: it does not fit, or memory is refused. *is_new: it was made by this call.
// The texts have at most kMaxNameBytes each.
uint32_t NumberFunction(const char* file, uint64_t file_length, const char* name,
                        uint64_t name_length, uint32_t first_line, bool* is_new);
uint32_t NumberStack(uint32_t parent, uint32_t function, uint32_t line, bool* is_new);

// Null past the last number.
const SiteFunction* FunctionAt(uint32_t number);
const SiteStack* StackAt(uint32_t number);

}  // namespace rlscope::runtime

#endif  // RLSCOPE_RUNTIME_CALL_SITES_H_
