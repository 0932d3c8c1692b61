#include "native_calls/probe_stub.h"

#include "native_calls/test_delay.h"
#include "runtime/hot.h"
#include "trace/layout/record.h"

namespace rlscope::native_calls {
namespace {

void* DoNothing(void*, void*, void*, void*, void*) { return nullptr; }

}  // namespace

const ProbeFunctions probe_functions = {DoNothing, reinterpret_cast<Function>(StubAt(kProbeStub))};

void UseProbeStub() {
  Entry* entry = &entries[kProbeStub];
  entry->original = DoNothing;
  entry->word = trace::MakeWord(trace::kProbeRecord, 0, 0);
  __atomic_store_n(&entry->flags, DelayFlag(), __ATOMIC_RELEASE);
}

bool HasProbeStub() {
  const Entry& entry = entries[kProbeStub];
  return entry.original != nullptr && runtime::Load(entry.flags) == DelayFlag();
}

}  // namespace rlscope::native_calls
