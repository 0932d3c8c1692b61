// CRC-32C (Castagnoli), the checksum of frames and of records in processes.log.
#ifndef RLSCOPE_BASE_CRC32C_H_
#define RLSCOPE_BASE_CRC32C_H_

#include <stddef.h>
#include <stdint.h>

namespace rlscope::base {

// Checksum of `size` bytes, going on from `crc` (0 at the start):
//   Crc32c(Crc32c(0, a), b) == Crc32c(0, a + b).
// Uses the CPU's instruction where the build targets it (SSE4.2, ARMv8 CRC), else a table.
uint32_t Crc32c(uint32_t crc, const void* data, size_t size);

// The table form, on any CPU; for tests.
uint32_t Crc32cPortable(uint32_t crc, const void* data, size_t size);

}  // namespace rlscope::base

#endif  // RLSCOPE_BASE_CRC32C_H_
