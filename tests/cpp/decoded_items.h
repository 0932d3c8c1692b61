// Items of a thread as the reader gives them, one struct each.
#ifndef RLSCOPE_TESTS_CPP_DECODED_ITEMS_H_
#define RLSCOPE_TESTS_CPP_DECODED_ITEMS_H_

#include <gtest/gtest.h>

#include <ostream>
#include <vector>

#include "trace/read/cursor.h"
#include "trace/read/process_trace.h"

namespace rlscope::trace {

struct Decoded {
  int64_t time_ns;
  uint32_t kind;
  uint32_t id;
  int64_t end_ns = 0;
  uint64_t value = 0;
  bool operator==(const Decoded& o) const {
    return time_ns == o.time_ns && kind == o.kind && id == o.id && end_ns == o.end_ns &&
           value == o.value;
  }
};
inline void PrintTo(const Decoded& d, std::ostream* out) {
  *out << "{" << d.time_ns << ", kind " << d.kind << ", id " << d.id << ", end " << d.end_ns
       << ", value " << d.value << "}";
}

inline std::vector<Decoded> ReadThread(const ProcessTrace& trace, size_t index = 0) {
  std::vector<Decoded> items;
  ThreadCursor cursor(trace, index);
  while (const CpuBatch* batch = cursor.Next()) {
    uint32_t call = 0, value = 0, probe = 0;
    for (uint32_t i = 0; i < batch->count; ++i) {
      Decoded item = {batch->time_ns[i], WhatKind(batch->what[i]), WhatId(batch->what[i])};
      if (item.kind == kCall) item.end_ns = batch->call_end_ns[call++];
      if (HasTwoSlots(item.kind)) item.value = batch->value[value++];
      if (IsOfProbe(item.kind)) item.value = batch->probe[probe++];
      items.push_back(item);
    }
    EXPECT_EQ(call, batch->calls);
    EXPECT_EQ(value, batch->values);
    EXPECT_EQ(probe, batch->probes);
  }
  EXPECT_EQ(cursor.undecodable_chunks(), 0u);
  return items;
}

}  // namespace rlscope::trace

#endif  // RLSCOPE_TESTS_CPP_DECODED_ITEMS_H_
