// Garbage collections among the functions of a process. One is a frame of its own on the stack of
// its thread, as waits are: it may begin inside any call
// (docs/reference/semantics.md#garbage-collections).
#ifndef RLSCOPE_ANALYSIS_THREADS_COLLECTIONS_H_
#define RLSCOPE_ANALYSIS_THREADS_COLLECTIONS_H_

#include <stdint.h>

#include <string_view>

#include "analysis/keys/layer_ranks.h"
#include "trace/layout/layer.h"
#include "trace/read/chunk_parser.h"

namespace rlscope::analysis {

// Before the number of the generation.
constexpr std::string_view kCollectionPrefix = "gc:generation ";

inline bool IsCollection(const trace::Name& name) {
  return name.layer == static_cast<uint32_t>(trace::Layer::kPython) &&
         std::string_view(name.text).substr(0, kCollectionPrefix.size()) == kCollectionPrefix;
}

// In the table of FunctionLayers(): the rank of the layer, and whether it is a collection.
constexpr uint8_t kCollectionBit = 8;
static_assert(kLayers <= kCollectionBit);

constexpr uint32_t RankOfFunction(uint32_t code) { return code & (kCollectionBit - 1); }
// Also inside another call.
constexpr bool IsFrameOfItsOwn(uint32_t code) {
  return code == kWaitRank || (code & kCollectionBit) != 0;
}

}  // namespace rlscope::analysis

#endif  // RLSCOPE_ANALYSIS_THREADS_COLLECTIONS_H_
