#include "trace/write/interval_chunks.h"

#include <errno.h>

#include "base/wire.h"
#include "trace/format/frame.h"
#include "trace/write/message.h"

namespace rlscope::trace {
namespace {

using base::ZigZag;

// A column of zeros is left out.
template <typename ValueAt>
void PutColumnUnlessZero(Message* message, uint32_t field, size_t count, ValueAt value_at) {
  for (size_t i = 0; i < count; ++i) {
    if (value_at(i) == 0) continue;
    message->Column(field, count, value_at);
    return;
  }
}

uint64_t Delta(int64_t value, int64_t before) {
  return ZigZag(static_cast<int64_t>(static_cast<uint64_t>(value) - static_cast<uint64_t>(before)));
}

// A call as it is written after one that ends at `ahead`.
struct PlacedCall {
  uint64_t start, end;
  uint32_t moved;  // times that had to move
};
PlacedCall Place(const CudaCall& call, uint64_t ahead) {
  uint64_t end;
  if (__builtin_add_overflow(call.start_ticks, call.duration, &end)) end = UINT64_MAX;
  const uint64_t start = call.start_ticks < ahead ? ahead : call.start_ticks;
  const uint32_t moved = static_cast<uint32_t>(start != call.start_ticks) + (end < start);
  return {start, end < start ? start : end, moved};
}

// Writes the column of what `value_of(call, ahead)` says of each call, in order.
template <typename ValueOf>
void PutCallColumn(Message* message, uint32_t field, const CudaCall* calls, size_t count,
                   ValueOf value_of) {
  uint64_t ahead = count == 0 ? 0 : calls[0].start_ticks;
  message->Column(field, count, [&](size_t i) {
    const PlacedCall call = Place(calls[i], ahead);
    const uint64_t value = value_of(call, ahead);
    ahead = call.end;
    return value;
  });
}

constexpr size_t kMostDetailBytes = 4 * 10;

// Columns `detail` and `details`: most intervals of a stream share a few. False: so many differ
// that they do not fit.
bool PutDetails(Message* message, const GpuInterval* intervals, size_t count) {
  uint16_t kinds[kChunkIntervals];  // where each of the distinct ones stands first
  uint16_t index[kChunkIntervals];  // of an interval: into `kinds`, plus one
  size_t distinct = 0;
  for (size_t i = 0; i < count; ++i) {
    const GpuDetail& detail = intervals[i].detail;
    index[i] = 0;
    if (detail == GpuDetail()) continue;
    size_t at = 0;
    while (at < distinct && !(intervals[kinds[at]].detail == detail)) ++at;
    if (at == distinct) kinds[distinct++] = static_cast<uint16_t>(i);
    index[i] = static_cast<uint16_t>(at + 1);
  }
  if (distinct == 0) return true;
  if (message->left() < 2 * count + kMostDetailBytes * distinct + 4 * kMaxFieldBytes) return false;
  message->Column(14, count, [&](size_t i) { return static_cast<uint64_t>(index[i]); });
  message->Column(15, 4 * distinct, [&](size_t i) {
    const GpuDetail& detail = intervals[kinds[i / 4]].detail;
    const uint64_t fields[] = {detail.grid, detail.block, detail.shared_memory,
                               uint64_t{detail.registers} << 8 | detail.how};
    return fields[i % 4];
  });
  return true;
}

}  // namespace

int WriteCudaCalls(Sink* sink, ChunkBuffer* buffer, uint32_t thread, uint32_t ring,
                   uint64_t first_slot, uint64_t slots, const CudaCall* calls, size_t count,
                   uint64_t* clamped) {
  if (count == 0 && slots == 0) return 0;
  if (count > kChunkIntervals) return EMSGSIZE;
  const uint64_t base_ticks = count == 0 ? 0 : calls[0].start_ticks;
  uint64_t last_ticks = base_ticks;
  for (size_t i = 0; i < count; ++i) {
    const PlacedCall call = Place(calls[i], last_ticks);
    if (clamped != nullptr) *clamped += call.moved;
    last_ticks = call.end;
  }
  Message message(buffer);
  message.Varint(1, thread);
  message.Varint(2, ring);
  message.Varint(3, first_slot);
  message.Varint(4, slots);
  message.Fixed64(5, base_ticks);
  message.Varint(6, count);
  message.Fixed64(13, last_ticks);
  PutCallColumn(&message, 7, calls, count,
                [](const PlacedCall& call, uint64_t ahead) { return call.start - ahead; });
  PutCallColumn(&message, 8, calls, count,
                [](const PlacedCall& call, uint64_t) { return call.end - call.start; });
  message.Column(9, count, [&](size_t i) { return static_cast<uint64_t>(calls[i].name); });
  message.Column(10, count, [&](size_t i) {
    return Delta(calls[i].correlation, i == 0 ? 0 : calls[i - 1].correlation);
  });
  const auto status = [&](size_t i) { return static_cast<uint64_t>(calls[i].status); };
  PutColumnUnlessZero(&message, 11, count, status);
  const auto context = [&](size_t i) { return static_cast<uint64_t>(calls[i].context); };
  PutColumnUnlessZero(&message, 12, count, context);
  const auto site = [&](size_t i) { return static_cast<uint64_t>(calls[i].site); };
  PutColumnUnlessZero(&message, 14, count, site);
  return message.Append(sink, FrameType::kCudaCall);
}

int WriteGpu(Sink* sink, ChunkBuffer* buffer, const GpuOrigin& origin, const GpuInterval* intervals,
             size_t count) {
  if (count == 0 && origin.slots == 0) return 0;
  if (count > kChunkIntervals) return EMSGSIZE;
  const auto end_of = [&](size_t i) { return intervals[i].start_ns + intervals[i].duration_ns; };
  const int64_t min_start_ns = count == 0 ? 0 : intervals[0].start_ns;
  int64_t max_end_ns = count == 0 ? 0 : end_of(0);
  for (size_t i = 1; i < count; ++i) max_end_ns = end_of(i) > max_end_ns ? end_of(i) : max_end_ns;
  Message message(buffer);
  message.Varint(1, origin.device);
  message.Varint(2, origin.context);
  message.Varint(3, origin.stream);
  message.Varint(16, origin.ring);
  message.Varint(17, origin.first_slot);
  message.Varint(18, origin.slots);
  message.Fixed64(4, static_cast<uint64_t>(min_start_ns));
  message.Fixed64(5, static_cast<uint64_t>(max_end_ns));
  message.Varint(6, count);
  message.Column(
      7, count, [&](size_t i) { return i == 0 ? 0 : Delta(intervals[i].start_ns, end_of(i - 1)); });
  message.Column(8, count,
                 [&](size_t i) { return static_cast<uint64_t>(intervals[i].duration_ns); });
  message.Column(9, count, [&](size_t i) { return static_cast<uint64_t>(intervals[i].kind); });
  message.Column(10, count, [&](size_t i) { return static_cast<uint64_t>(intervals[i].name); });
  message.Column(11, count, [&](size_t i) {
    return Delta(intervals[i].correlation, i == 0 ? 0 : intervals[i - 1].correlation);
  });
  PutColumnUnlessZero(&message, 12, count, [&](size_t i) { return intervals[i].bytes; });
  PutColumnUnlessZero(&message, 13, count,
                      [&](size_t i) { return static_cast<uint64_t>(intervals[i].graph); });
  if (!PutDetails(&message, intervals, count)) return EMSGSIZE;
  return message.Append(sink, FrameType::kGpu);
}

}  // namespace rlscope::trace
