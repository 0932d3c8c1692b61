// Layers in order of their depth. If the threads of a process are in several layers, the process is
// in the one with the highest rank. In a trace they have the numbers of trace::Layer, which never
// change.
#ifndef RLSCOPE_ANALYSIS_KEYS_LAYER_RANKS_H_
#define RLSCOPE_ANALYSIS_KEYS_LAYER_RANKS_H_

#include <stdint.h>

#include "trace/layout/layer.h"

namespace rlscope::analysis {

constexpr uint32_t kNoLayer = 0;
constexpr uint32_t kWaitRank = 1;  // below every layer in which a thread does something
constexpr uint32_t kPythonRank = 2;
constexpr uint32_t kSimulatorRank = 3;
constexpr uint32_t kFrameworkRank = 4;
constexpr uint32_t kCudaApiRank = 5;
constexpr uint32_t kLayers = 6;

constexpr trace::Layer kLayerOfRank[kLayers] = {trace::Layer::kNone,      trace::Layer::kWait,
                                                trace::Layer::kPython,    trace::Layer::kSimulator,
                                                trace::Layer::kFramework, trace::Layer::kCudaApi};
static_assert(kLayerOfRank[kWaitRank] == trace::Layer::kWait &&
              kLayerOfRank[kPythonRank] == trace::Layer::kPython &&
              kLayerOfRank[kSimulatorRank] == trace::Layer::kSimulator &&
              kLayerOfRank[kFrameworkRank] == trace::Layer::kFramework &&
              kLayerOfRank[kCudaApiRank] == trace::Layer::kCudaApi);

constexpr uint32_t LayerOfRank(uint32_t rank) { return static_cast<uint32_t>(kLayerOfRank[rank]); }

// kNoLayer where no thread can be: the GPU, and numbers that mean nothing.
constexpr uint32_t RankOfLayer(uint32_t layer) {
  for (uint32_t rank = 0; rank < kLayers; ++rank) {
    if (LayerOfRank(rank) == layer) return rank;
  }
  return kNoLayer;
}

}  // namespace rlscope::analysis

#endif  // RLSCOPE_ANALYSIS_KEYS_LAYER_RANKS_H_
