// A native function that does nothing, with a stub and without: what probes call. The stub lies
// among those of hot functions and records as they do, but a kProbeRecord: no native call of the
// program.
#ifndef RLSCOPE_NATIVE_CALLS_PROBE_STUB_H_
#define RLSCOPE_NATIVE_CALLS_PROBE_STUB_H_

#include "native_calls/entries.h"

namespace rlscope::native_calls {

constexpr uint32_t kProbeStub = 0;

// From here on calls of the stub are recorded: native calls of the program are. With the GIL.
void UseProbeStub();

// Whether they are. RetireAll() takes that back.
bool HasProbeStub();

struct ProbeFunctions {
  Function plain;
  Function recorded;
};
extern const ProbeFunctions probe_functions;

}  // namespace rlscope::native_calls

#endif  // RLSCOPE_NATIVE_CALLS_PROBE_STUB_H_
