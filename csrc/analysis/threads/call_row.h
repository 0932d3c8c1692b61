// Complete native calls in a row, with the CUDA calls inside, written as keys: the inner loop of a
// thread's states. All in registers while the row is written.
#ifndef RLSCOPE_ANALYSIS_THREADS_CALL_ROW_H_
#define RLSCOPE_ANALYSIS_THREADS_CALL_ROW_H_

#include <stdint.h>

#include <vector>

#include "analysis/keys/layer_ranks.h"
#include "analysis/keys/state_stream.h"
#include "analysis/threads/collections.h"
#include "trace/layout/layer.h"
#include "trace/layout/record.h"
#include "trace/read/decoder.h"

namespace rlscope::analysis {

// The CUDA calls of a thread from some call on. Its first one begins at start_ns; the last of a
// batch is left to the general way, because the next batch says when the one after it begins.
struct CudaCalls {
  const int64_t* starts_ns = nullptr;
  const int64_t* ends_ns = nullptr;
  uint32_t last = 0;  // of the batch
  uint32_t at = 0;
  int64_t start_ns = kNever;
  int64_t end_ns = 0;  // of the one before

  // Writes those that begin before `call_end_ns`. False when one is not wholly inside, or has no
  // room.
  bool Write(int64_t call_end_ns, uint32_t state, uint32_t state_in_cuda, const uint64_t* limit,
             KeyWriter* writer, int64_t* cuda_ns) {
    while (start_ns < call_end_ns) {
      if (at == last || writer->end >= limit) return false;
      end_ns = ends_ns[at];
      const int64_t next_ns = starts_ns[++at];
      if (end_ns < start_ns || end_ns > call_end_ns || next_ns < end_ns) return false;
      writer->EmitLayer(start_ns, state_in_cuda);
      writer->EmitLayer(end_ns, state);
      *cuda_ns += end_ns - start_ns;
      start_ns = next_ns;
    }
    return true;
  }
};

// From the next item on. A Counter is called for each call that is written: Add(function, layer,
// start_ns, duration_ns, cuda_calls, cuda_ns); then, with kTakesCudaCalls, AddCuda(layer, place in
// the batch, start_ns) for each of the CUDA calls.
struct CallRow {
  static constexpr uint32_t kCudaApi = kCudaApiRank;

  // The batch of items.
  const int64_t* times_ns;
  const uint32_t* what;
  const int64_t* ends_ns;
  uint32_t last;  // item of the batch: left to the general way

  uint32_t item;
  uint32_t call;
  int64_t start_ns;
  CudaCalls cuda;
  KeyWriter writer;

  // The same for all calls.
  uint32_t path;          // of the thread, and
  uint32_t outside;       // its state outside
  int64_t limit_ns;       // calls end before it
  const uint64_t* limit;  // of the writer
  const uint8_t* layers;  // by function, for ids below
  size_t functions;

  bool IsNext() const { return item < last && trace::WhatKind(what[item]) == trace::kCall; }
  uint32_t LayerOf(uint32_t function) const { return function < functions ? layers[function] : 0; }

  // Writes the calls from here on that are of the common form: no two changes at one time, a layer
  // of their own, up to two CUDA calls wholly inside. None is a wait.
  template <class Counter>
  void WriteCommon(Counter* counter) {
    if (writer.state != outside) return;
    const KeyCodes codes = {writer, path, outside};
    const uint32_t first = item;
    const int64_t* const ends = ends_ns + call;
    int64_t before_ns = writer.last_time;
    uint64_t* end = writer.end;
    for (; IsNext(); ++item) {
      const uint32_t function = trace::WhatId(what[item]);
      const uint32_t layer = LayerOf(function);
      const int64_t end_ns = ends[item - first];
      if (IsFrameOfItsOwn(layer) || MakeState(path, layer) == outside || start_ns <= before_ns ||
          end_ns <= start_ns || end_ns >= limit_ns || end >= limit) {
        break;
      }
      if (end_ns <= cuda.start_ns) {
        *end++ = codes.Inside(start_ns, layer);
        counter->Add(function, layer, start_ns, end_ns - start_ns, 0, 0);
      } else if (!WriteCommonCuda(codes, function, layer, end_ns, &end, counter)) {
        break;
      }
      *end++ = codes.Outside(end_ns);
      before_ns = end_ns;
      start_ns = times_ns[item + 1];
    }
    call += item - first;
    writer.last_time = before_ns;
    writer.end = end;
  }

  // Writes the call that is next. False, with nothing done, when it is not simple: a wait, cut by
  // an edge, by the end of the epoch or of the block, out of order, or with CUDA calls before it or
  // not wholly inside.
  template <class Counter>
  bool WriteOne(Counter* counter) {
    const uint32_t function = trace::WhatId(what[item]);
    const uint32_t layer = LayerOf(function);
    const int64_t end_ns = ends_ns[call];
    const int64_t next_ns = times_ns[item + 1];
    const bool is_ordered = !IsFrameOfItsOwn(layer) && start_ns <= end_ns && end_ns <= next_ns &&
                            (call == 0 || start_ns >= ends_ns[call - 1]);
    if (!is_ordered || start_ns > cuda.start_ns || end_ns >= limit_ns || writer.end >= limit ||
        counter->NeedsKey(layer)) {
      return false;
    }
    const uint32_t first_cuda_call = cuda.at;
    const int64_t first_cuda_ns = cuda.start_ns;
    int64_t cuda_ns = 0;
    if (!WriteKeys(end_ns, MakeState(path, layer), &cuda_ns)) return false;
    counter->Add(function, layer, start_ns, end_ns - start_ns, cuda.at - first_cuda_call, cuda_ns);
    if constexpr (Counter::kTakesCudaCalls) {
      for (uint32_t i = first_cuda_call; i < cuda.at; ++i) {
        counter->AddCuda(layer, i, i == first_cuda_call ? first_cuda_ns : cuda.starts_ns[i]);
      }
    }
    start_ns = next_ns;
    ++item;
    ++call;
    return true;
  }

 private:
  // Keys of a row without their times.
  struct KeyCodes {
    KeyCodes(const KeyWriter& writer, uint32_t path, uint32_t outside)
        : time_shift(writer.time_shift),
          origin(writer.stream_code -
                 (static_cast<uint64_t>(writer.epoch_start_ns) << writer.time_shift)),
          first(origin + MakeState(path, 0)),
          outside(origin + outside) {}
    uint64_t Inside(int64_t now, uint32_t layer) const {
      return (static_cast<uint64_t>(now) << time_shift) + first + (layer << kFieldShift);
    }
    uint64_t Outside(int64_t now) const {
      return (static_cast<uint64_t>(now) << time_shift) + outside;
    }
    uint32_t time_shift;
    uint64_t origin;
    uint64_t first;
    uint64_t outside;
  };

  // All keys of a call with one or two CUDA calls but the last. Whether there is a second one is a
  // coin toss. So its keys are written anyway; if there is none, the next keys go over them. False,
  // with nothing done, when it is not of the common form.
  template <class Counter>
  [[gnu::always_inline]] bool WriteCommonCuda(const KeyCodes& codes, uint32_t function,
                                              uint32_t layer, int64_t end_ns, uint64_t** end,
                                              Counter* counter) {
    const uint32_t at = cuda.at;
    if (at + 2 > cuda.last || layer == kCudaApi) return false;
    const int64_t start1 = cuda.start_ns, end1 = cuda.ends_ns[at];
    const int64_t start2 = cuda.starts_ns[at + 1], end2 = cuda.ends_ns[at + 1];
    const int64_t start3 = cuda.starts_ns[at + 2];
    // A mask, because compilers turn ?: into a branch: all ones if there is no second one.
    const int64_t is_alone = (end_ns - 1 - start2) >> 63;
    const int64_t last_end = end2 ^ ((end1 ^ end2) & is_alone);
    if (start1 <= start_ns || end1 <= start1 || start2 <= end1 || end2 <= start2 ||
        last_end >= end_ns || start3 < end_ns) {
      return false;
    }
    uint64_t* const keys = *end;
    keys[0] = codes.Inside(start_ns, layer);
    keys[1] = codes.Inside(start1, kCudaApi);
    keys[2] = codes.Inside(end1, layer);
    keys[3] = codes.Inside(start2, kCudaApi);
    keys[4] = codes.Inside(end2, layer);
    *end = keys + 5 + 2 * is_alone;
    const uint32_t calls = static_cast<uint32_t>(2 + is_alone);
    cuda.at = at + calls;
    cuda.end_ns = last_end;
    cuda.start_ns = start3 ^ ((start2 ^ start3) & is_alone);
    counter->Add(function, layer, start_ns, end_ns - start_ns, calls,
                 end1 - start1 + ((end2 - start2) & ~is_alone));
    if constexpr (Counter::kTakesCudaCalls) {
      counter->AddCuda(layer, at, start1);
      if (calls == 2) counter->AddCuda(layer, at + 1, start2);
    }
    return true;
  }

  // False, with nothing done, when a CUDA call is not wholly inside, or has no room.
  bool WriteKeys(int64_t end_ns, uint32_t state, int64_t* cuda_ns) {
    const KeyWriter writer_before = writer;
    const CudaCalls cuda_before = cuda;
    writer.EmitLayer(start_ns, state);
    if (cuda.Write(end_ns, state, MakeState(path, kCudaApi), limit, &writer, cuda_ns)) {
      writer.EmitLayer(end_ns, outside);
      return true;
    }
    writer = writer_before;
    cuda = cuda_before;
    return false;
  }
};

}  // namespace rlscope::analysis

#endif  // RLSCOPE_ANALYSIS_THREADS_CALL_ROW_H_
