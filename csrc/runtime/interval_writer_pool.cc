#include "runtime/interval_writer_pool.h"

#include <string.h>

#include "runtime/syscalls.h"
#include "trace/layout/shared_pages.h"

namespace rlscope::runtime {
namespace {

constexpr uint32_t kWritersPerPage = trace::kPageSize / sizeof(IntervalWriter);
IntervalWriter* free_writers = nullptr;

}  // namespace

IntervalWriter* NewWriter() {
  if (free_writers == nullptr) {
    auto* page = static_cast<IntervalWriter*>(SysMapPrivate(trace::kPageSize));
    if (page == nullptr) return nullptr;
    for (uint32_t i = 0; i < kWritersPerPage; i++) {
      page[i].next_free = free_writers;
      free_writers = &page[i];
    }
  }
  IntervalWriter* writer = free_writers;
  free_writers = writer->next_free;
  memset(writer, 0, sizeof *writer);
  return writer;
}

void FreeWriter(IntervalWriter* writer) {
  writer->next_free = free_writers;
  free_writers = writer;
}

}  // namespace rlscope::runtime
