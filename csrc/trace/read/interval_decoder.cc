#include "trace/read/interval_decoder.h"

#include <algorithm>

#include "base/clock.h"
#include "base/wire.h"
#include "trace/read/columns.h"
#include "trace/read/varints.h"

namespace rlscope::trace {
namespace {

using base::UnZigZag;
using base::WireReader;

// A column of exactly `count` values.
template <typename Value>
bool DecodeColumn(Span span, uint32_t count, std::vector<Value>* column) {
  Reserve(column, count);
  return DecodeVarints(span, column->data(), count) == count;
}

// An empty column stands for zeros.
template <typename Value>
bool DecodeColumnOrZeros(Span span, uint32_t count, std::vector<Value>* column) {
  if (span.size != 0) return DecodeColumn(span, count, column);
  column->assign(count, 0);
  return true;
}

// Differences, zigzag -> values. Wraps around like the writer's.
bool DecodeDeltas(Span span, uint32_t count, std::vector<uint64_t>* scratch,
                  std::vector<int64_t>* column) {
  if (!DecodeColumn(span, count, scratch)) return false;
  Reserve(column, count);
  uint64_t value = 0;
  for (uint32_t i = 0; i < count; ++i) {
    value += static_cast<uint64_t>(UnZigZag((*scratch)[i]));
    (*column)[i] = static_cast<int64_t>(value);
  }
  return true;
}

// A column that is not wanted.
bool HasLength(Span span, uint32_t count) { return CountVarints(span) == count; }
bool HasLengthOrZeros(Span span, uint32_t count) {
  return span.size == 0 || HasLength(span, count);
}

void SetCudaCallField(const WireReader& field, CudaCallHeader* header) {
  Span* const columns[] = {&header->step,        &header->duration, &header->name,
                           &header->correlation, &header->status,   &header->context};
  const uint32_t column = field.field() - 7;
  if (field.field() >= 7 && column < sizeof columns / sizeof columns[0]) {
    *columns[column] = {field.data(), field.size()};
    return;
  }
  if (field.field() == 14) header->site = {field.data(), field.size()};
  if (!SetRingField(field, header) && field.field() == 13) header->last_ticks = field.value();
}

void SetGpuField(const WireReader& field, GpuHeader* header) {
  Span* const columns[] = {&header->step,  &header->duration,    &header->kind,
                           &header->name,  &header->correlation, &header->bytes,
                           &header->graph, &header->detail,      &header->details};
  const uint32_t column = field.field() - 7;
  if (field.field() >= 7 && column < sizeof columns / sizeof columns[0]) {
    *columns[column] = {field.data(), field.size()};
    return;
  }
  switch (field.field()) {
    case 1:
      header->device = Low32(field.value());
      break;
    case 2:
      header->context = Low32(field.value());
      break;
    case 3:
      header->stream = Low32(field.value());
      break;
    case 4:
      header->min_start_ns = static_cast<int64_t>(field.value());
      break;
    case 5:
      header->max_end_ns = static_cast<int64_t>(field.value());
      break;
    case 6:
      header->count = Low32(field.value());
      break;
    case 16:
      header->ring = Low32(field.value());
      break;
    case 17:
      header->first_slot = field.value();
      break;
    case 18:
      header->slots = field.value();
      break;
    default:
      break;
  }
}

// Steps and durations -> [start, end) of calls that follow each other.
bool JoinCalls(const CudaCallHeader& header, CudaCallColumns* columns) {
  uint64_t* const starts = columns->start.data();
  uint64_t* const ends = columns->end.data();
  uint64_t at = header.base_ticks;
  bool overflow = false;
  for (uint32_t i = 0; i < header.count; ++i) {
    overflow |= __builtin_add_overflow(at, starts[i], &starts[i]);
    overflow |= __builtin_add_overflow(starts[i], ends[i], &ends[i]);
    at = ends[i];
  }
  return !overflow && at == header.last_ticks;
}

// Steps (from the end before) and durations -> [start, end), starts ascending, inside the
// header's bounds.
bool JoinGpu(const GpuHeader& header, const std::vector<uint64_t>& step, GpuColumns* columns) {
  int64_t start = header.min_start_ns, end = header.min_start_ns;
  for (uint32_t i = 0; i < header.count; ++i) {
    const int64_t before = start;
    if (__builtin_add_overflow(end, UnZigZag(step[i]), &start) || start < before ||
        columns->end_ns[i] < 0 || __builtin_add_overflow(start, columns->end_ns[i], &end) ||
        end > header.max_end_ns) {
      return false;
    }
    columns->start_ns[i] = start;
    columns->end_ns[i] = end;
  }
  return true;
}

bool DecodeCallDetail(const CudaCallHeader& header, Detail detail, CudaCallColumns* columns) {
  static thread_local std::vector<uint64_t> scratch;
  const uint32_t count = header.count;
  const bool has_names = detail == Detail::kTimes
                             ? HasLength(header.name, count)
                             : DecodeColumn(header.name, count, &columns->name);
  if (detail != Detail::kAll) {
    return has_names && HasLength(header.correlation, count) &&
           HasLengthOrZeros(header.status, count) && HasLengthOrZeros(header.context, count) &&
           HasLengthOrZeros(header.site, count);
  }
  return has_names && DecodeDeltas(header.correlation, count, &scratch, &columns->correlation) &&
         DecodeColumnOrZeros(header.status, count, &columns->status) &&
         DecodeColumnOrZeros(header.context, count, &columns->context) &&
         DecodeColumnOrZeros(header.site, count, &columns->site);
}

GpuDetail MakeDetail(const uint64_t* fields) {
  GpuDetail detail;
  detail.grid = fields[0];
  detail.block = Low32(fields[1]);
  detail.shared_memory = fields[2];
  detail.registers = static_cast<uint16_t>(fields[3] >> 8);
  detail.how = static_cast<uint8_t>(fields[3]);
  return detail;
}

bool ExpandDetails(const GpuHeader& header, std::vector<uint64_t>* scratch, GpuColumns* columns) {
  static thread_local std::vector<uint32_t> index;
  columns->details.assign(std::max<size_t>(columns->details.size(), header.count), GpuDetail());
  if (header.detail.size == 0) return header.details.size == 0;
  const auto fields = static_cast<uint32_t>(CountVarints(header.details));
  if (fields % 4 != 0 || fields / 4 > header.count ||
      !DecodeColumn(header.detail, header.count, &index) ||
      !DecodeColumn(header.details, fields, scratch)) {
    return false;
  }
  for (uint32_t i = 0; i < header.count; ++i) {
    if (index[i] > fields / 4) return false;
    if (index[i] != 0) columns->details[i] = MakeDetail(scratch->data() + 4 * (index[i] - 1));
  }
  return true;
}

bool DecodeGpuDetail(const GpuHeader& header, Detail detail, std::vector<uint64_t>* scratch,
                     GpuColumns* columns) {
  const uint32_t count = header.count;
  if (detail == Detail::kTimes) {
    return HasLength(header.name, count) && HasLength(header.correlation, count) &&
           HasLengthOrZeros(header.bytes, count) && HasLengthOrZeros(header.graph, count) &&
           HasLengthOrZeros(header.detail, count);
  }
  return DecodeColumn(header.name, count, &columns->name) &&
         DecodeDeltas(header.correlation, count, scratch, &columns->correlation) &&
         DecodeColumnOrZeros(header.bytes, count, &columns->bytes) &&
         DecodeColumnOrZeros(header.graph, count, &columns->graph) &&
         ExpandDetails(header, scratch, columns);
}

}  // namespace

bool ParseCudaCallHeader(const uint8_t* payload, size_t size, CudaCallHeader* header) {
  *header = CudaCallHeader();
  WireReader reader(payload, size);
  while (reader.Next()) SetCudaCallField(reader, header);
  return reader.ok() && IsValidRingHeader(*header);
}

bool DecodeCudaCalls(const CudaCallHeader& header, Detail detail, CudaCallColumns* columns) {
  columns->count = 0;
  const uint32_t count = header.count;
  if (!DecodeColumn(header.step, count, &columns->start) ||
      !DecodeColumn(header.duration, count, &columns->end) || !JoinCalls(header, columns) ||
      !DecodeCallDetail(header, detail, columns)) {
    return false;
  }
  columns->count = count;
  return true;
}

bool ParseGpuHeader(const uint8_t* payload, size_t size, GpuHeader* header) {
  *header = GpuHeader();
  WireReader reader(payload, size);
  while (reader.Next()) SetGpuField(reader, header);
  return reader.ok() && header->count <= header->step.size &&
         header->slots <= UINT64_MAX - header->first_slot &&
         header->min_start_ns >= -base::ClockConverter::kMaxNs &&
         header->max_end_ns <= base::ClockConverter::kMaxNs &&
         header->min_start_ns <= header->max_end_ns;
}

void GpuColumns::Resize(size_t size, Detail detail) {
  start_ns.resize(size);
  end_ns.resize(size);
  kind.resize(size);
  if (detail == Detail::kTimes) return;
  name.resize(size);
  correlation.resize(size);
  bytes.resize(size);
  graph.resize(size);
  details.resize(size);
}

bool DecodeGpu(const GpuHeader& header, Detail detail, GpuColumns* columns) {
  static thread_local std::vector<uint64_t> scratch;
  columns->count = 0;
  const uint32_t count = header.count;
  Reserve(&columns->start_ns, count);
  Reserve(&columns->end_ns, count);
  if (!DecodeColumn(header.duration, count, &scratch)) return false;
  for (uint32_t i = 0; i < count; ++i) columns->end_ns[i] = static_cast<int64_t>(scratch[i]);
  if (!DecodeColumn(header.kind, count, &columns->kind) ||
      !DecodeColumn(header.step, count, &scratch) || !JoinGpu(header, scratch, columns) ||
      !DecodeGpuDetail(header, detail, &scratch, columns)) {
    return false;
  }
  columns->count = count;
  return true;
}

}  // namespace rlscope::trace
