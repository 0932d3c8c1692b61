#include "trace/layout/process_record.h"

#include <string.h>

#include "base/crc32c.h"

namespace rlscope::trace {
namespace {

constexpr uint8_t kFirstByte = kProcessRecordMagic & 255;

bool IsIntact(ProcessRecord record) {
  const uint32_t crc = record.crc;
  record.crc = 0;
  return record.magic == kProcessRecordMagic && base::Crc32c(0, &record, sizeof record) == crc;
}

}  // namespace

size_t FindRecord(const uint8_t* data, size_t size, size_t from, ProcessRecord* record) {
  for (size_t at = from; at + sizeof *record <= size; at++) {
    const size_t places = size - sizeof *record + 1 - at;
    const void* found = memchr(data + at, kFirstByte, places);
    if (found == nullptr) break;
    at = static_cast<size_t>(static_cast<const uint8_t*>(found) - data);
    memcpy(record, data + at, sizeof *record);
    if (IsIntact(*record)) return at;
  }
  return SIZE_MAX;
}

}  // namespace rlscope::trace
