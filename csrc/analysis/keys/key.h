// State-change keys: what the sweep merges. One 64-bit number says when the state of one stream
// changes, and to what, so that merging is comparing integers.
//
//   63                              19 + stream bits          19          4        1      0
//   +----------------------------------+----------------------+-----------+--------+------+
//   | ns since the epoch's start       | stream               | path      | field  | note |
//   +----------------------------------+----------------------+-----------+--------+------+
//
// The stream takes as many bits as there are streams, the time what is left: 37 bits (137 s) for
// 200 streams. An epoch is that long; longer traces are swept epoch by epoch.
//
// Keys of one stream ascend strictly: changes at one time are one key, with the last state. All GPU
// streams of a process have the lowest number and become one stream on their way (gpu_union.h), so
// the GPU's key comes first among the keys of one time. It is the only one that speaks of the GPU.
#ifndef RLSCOPE_ANALYSIS_KEYS_KEY_H_
#define RLSCOPE_ANALYSIS_KEYS_KEY_H_

#include <stdint.h>

namespace rlscope::analysis {

constexpr int64_t kNever = INT64_MAX;

// Numbers of streams: the GPU, then the threads in the order of the input.
constexpr uint32_t kGpuStream = 0;
constexpr uint32_t kFirstThreadStream = 1;

// The stream's queue of notes (notes.h) may hold something for this time, or the thread got its
// first operation or lost its last.
constexpr uint32_t kNoteBit = 1;

// Field of a thread: the rank of its layer, or kAbsent before it begins and after it ended. Field
// of a GPU stream: kGpuBusy or kGpuIdle, in this order: where two streams meet, the start sorts
// before the end.
constexpr uint32_t kFieldShift = 1;
constexpr uint32_t kFieldMask = 7;
constexpr uint32_t kGpuBusy = 6;
constexpr uint32_t kGpuIdle = 7;
constexpr uint32_t kAbsent = 7;

constexpr uint32_t kPathShift = 4;
constexpr uint32_t kPathMask = (1u << 15) - 1;
constexpr uint32_t kStateBits = 19;
constexpr uint32_t kStateMask = (1u << kStateBits) - 1;

constexpr uint32_t MakeState(uint32_t path, uint32_t field) {
  return path << kPathShift | field << kFieldShift;
}
// What a key says of its stream.
constexpr uint32_t StateOf(uint64_t key) {
  return static_cast<uint32_t>(key) & kStateMask & ~kNoteBit;
}
constexpr uint32_t FieldOf(uint32_t state) { return state >> kFieldShift & kFieldMask; }
constexpr uint32_t PathOf(uint32_t state) { return state >> kPathShift & kPathMask; }

// How the key of one sweep is cut.
struct KeyLayout {
  uint32_t stream_bits;
  explicit KeyLayout(uint64_t streams) : stream_bits(1) {
    while ((uint64_t{1} << stream_bits) < streams) ++stream_bits;
  }
  uint32_t time_shift() const { return kStateBits + stream_bits; }
  // Since the epoch's start.
  int64_t TimeOf(uint64_t key) const { return static_cast<int64_t>(key >> time_shift()); }
  uint32_t StreamOf(uint64_t key) const {
    return static_cast<uint32_t>(key >> kStateBits) & ((1u << stream_bits) - 1);
  }
  // One value short of all ones, so that no key equals a sentinel.
  int64_t epoch_ns() const { return (int64_t{1} << (64 - time_shift())) - 1; }
};

}  // namespace rlscope::analysis

#endif  // RLSCOPE_ANALYSIS_KEYS_KEY_H_
