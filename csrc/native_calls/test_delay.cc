#include "native_calls/test_delay.h"

#include <string.h>

#include "base/env.h"

namespace rlscope::native_calls {
namespace {

constexpr const char* kNames[kDelayedKinds] = {"operation", "automatic event", "native call",
                                               "native call inside", "wait"};

uint64_t delays_ns[kDelayedKinds];

// `text`: "operation=500", up to a comma or the end. What does not fit is passed over.
void Read(const char* text, size_t length) {
  for (int kind = 0; kind < kDelayedKinds; kind++) {
    const size_t name = strlen(kNames[kind]);
    if (length <= name || strncmp(text, kNames[kind], name) != 0 || text[name] != '=') continue;
    char number[24] = "";
    if (length - name - 1 < sizeof number) memcpy(number, text + name + 1, length - name - 1);
    uint64_t nanoseconds;
    if (base::ParseNumber(number, &nanoseconds)) delays_ns[kind] = nanoseconds;
  }
}

__attribute__((constructor)) void ReadDelays() {
  const char* text = base::GetEnv("RLSCOPE_TEST_DELAY");
  while (text != nullptr) {
    const char* comma = strchr(text, ',');
    Read(text, comma == nullptr ? strlen(text) : static_cast<size_t>(comma - text));
    text = comma == nullptr ? nullptr : comma + 1;
  }
}

}  // namespace

const uint64_t (&test_delays_ns)[kDelayedKinds] = delays_ns;

void Spend(uint64_t nanoseconds) {
  const uint64_t end = runtime::ReadTicks() + runtime::TicksOf(nanoseconds);
  while (runtime::ReadTicks() < end) {
  }
}

}  // namespace rlscope::native_calls
