// The Arrow C data interface and C stream interface: an ABI that never changes, in declarations of
// our own (https://arrow.apache.org/docs/format/CDataInterface.html, CStreamInterface.html).
#ifndef RLSCOPE_PYTHON_TRACE_MODULE_ARROW_ABI_H_
#define RLSCOPE_PYTHON_TRACE_MODULE_ARROW_ABI_H_

#include <stdint.h>

namespace rlscope::python {

constexpr int64_t kArrowNullable = 2;

struct ArrowSchema {
  const char* format;
  const char* name;
  const char* metadata;
  int64_t flags;
  int64_t n_children;
  ArrowSchema** children;
  ArrowSchema* dictionary;
  void (*release)(ArrowSchema*);
  void* private_data;
};

struct ArrowArray {
  int64_t length;
  int64_t null_count;
  int64_t offset;
  int64_t n_buffers;
  int64_t n_children;
  const void** buffers;
  ArrowArray** children;
  ArrowArray* dictionary;
  void (*release)(ArrowArray*);
  void* private_data;
};

struct ArrowArrayStream {
  int (*get_schema)(ArrowArrayStream*, ArrowSchema*);
  int (*get_next)(ArrowArrayStream*, ArrowArray*);
  const char* (*get_last_error)(ArrowArrayStream*);
  void (*release)(ArrowArrayStream*);
  void* private_data;
};

}  // namespace rlscope::python

#endif  // RLSCOPE_PYTHON_TRACE_MODULE_ARROW_ABI_H_
