// Where an importer's bytes come from: a file, a decompressor, a test.
#ifndef RLSCOPE_IMPORTERS_BYTE_SOURCE_H_
#define RLSCOPE_IMPORTERS_BYTE_SOURCE_H_

#include <stddef.h>

#include <stdexcept>

namespace rlscope::importers {

class ByteSource {
 public:
  virtual ~ByteSource() = default;
  // Puts up to `size` bytes, at least one, into `into`; 0: there are no more. May throw anything.
  virtual size_t Read(char* into, size_t size) = 0;
};

// The content is not what the importer reads: one sentence without the name of the file.
class FormatError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

}  // namespace rlscope::importers

#endif  // RLSCOPE_IMPORTERS_BYTE_SOURCE_H_
