// Call sites: stacks of the interpreter in which the process makes CUDA calls, as nodes of one tree
// (trace.proto, StacksChunk). Private memory, as that of names (names.h), so that fork children and
// later sessions keep the numbers; an image publishes all of them before its first record.
#ifndef RLSCOPE_RUNTIME_CALL_SITES_H_
#define RLSCOPE_RUNTIME_CALL_SITES_H_

#include "runtime/rlscope.h"

namespace rlscope::runtime {

// rlscope_find_call_sites(). Read without a lock.
extern rlscope_call_site_finder find_call_site;

// Writes all functions and stacks into the arena of the image that was opened. Needs process_lock.
void PublishCallSites();

}  // namespace rlscope::runtime

#endif  // RLSCOPE_RUNTIME_CALL_SITES_H_
