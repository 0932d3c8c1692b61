// libFuzzer target of the reader:
//   cmake -S csrc -B build/fuzz -G Ninja -DRLSCOPE_FUZZ=ON -DCMAKE_CXX_COMPILER=clang++-14
//     -DCMAKE_C_COMPILER=clang-14 "-DRLSCOPE_SANITIZE=address;undefined"
//   ninja -C build/fuzz reader_fuzz
//   build/fuzz/fuzz/reader_fuzz tests/fuzz/corpus -max_total_time=60
//
// A frame with a wrong checksum is never decoded, so random changes would all end there: a
// mutated input is first read as it is, then again with the checksums of its frames put right.
#include <string.h>

#include <vector>

#include "read_everything.h"
#include "trace/format/frame.h"

namespace rlscope::trace {
namespace {

void MendChecksums(std::vector<uint8_t>* bytes) {
  FrameHeader header;
  for (size_t at = 0; at + sizeof header <= bytes->size();) {
    memcpy(&header, &(*bytes)[at], sizeof header);
    const size_t left = bytes->size() - at - sizeof header;
    if (header.magic != kFrameMagic || header.length > left) {
      ++at;
      continue;
    }
    header.crc = FrameCrc(header, bytes->data() + at + sizeof header);
    memcpy(&(*bytes)[at], &header, sizeof header);
    at += sizeof header + header.length;
  }
}

}  // namespace
}  // namespace rlscope::trace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  rlscope::trace::ReadEverything(data, size);
  std::vector<uint8_t> mended(data, data + size);
  rlscope::trace::MendChecksums(&mended);
  rlscope::trace::ReadEverything(mended.data(), mended.size());
  return 0;
}
