#include "python/trace_module/probes.h"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <limits>
#include <string>
#include <utility>
#include <vector>

#include "trace/layout/record.h"

namespace rlscope::python {
namespace {

// What was measured, by trace::ProbeKind.
constexpr const char* kProbeWords[] = {"empty",      "native_call", "native_call", "annotation",
                                       "annotation", "wait",        "short_wait"};
static_assert(std::size(kProbeWords) == trace::kProbeKinds);

std::vector<std::string> ProbeWords() { return {std::begin(kProbeWords), std::end(kProbeWords)}; }

// Whether a record was made in it.
bool IsRecorded(uint32_t probe) {
  return probe == trace::kProbeRecordedCall || probe == trace::kProbeRecordedOperation ||
         probe == trace::kProbeWait || probe == trace::kProbeShortWait;
}

}  // namespace

double TickPs(const trace::ProcessTrace& process) {
  constexpr int kSpanBits = 36;  // half a minute
  int64_t first_ns, last_ns;
  if (!process.RecordedSpan(&first_ns, &last_ns)) return 0;
  uint64_t ticks = UINT64_MAX;
  for (const trace::ThreadChunks& thread : process.threads()) {
    if (!thread.cpu.empty()) ticks = std::min(ticks, thread.cpu.front().base_ticks);
  }
  const base::ClockConverter& clock = process.clock();
  const int64_t ns = clock.ToNs(ticks + (UINT64_C(1) << kSpanBits)) - clock.ToNs(ticks);
  return std::ldexp(static_cast<double>(ns) * 1000,
                    -kSpanBits - static_cast<int>(process.info().tick_shift));
}

Columns MakeProbes(const analysis::FoundProbes& probes, double tick_ps) {
  std::vector<const analysis::FoundProbe*> known;  // not of a later version
  for (const analysis::FoundProbe& probe : probes) {
    if (probe.kind < trace::kProbeKinds) known.push_back(&probe);
  }
  const size_t count = known.size();
  const auto inside_ps = [&](size_t i) {
    if (known[i]->inside_ticks == 0) return std::numeric_limits<double>::quiet_NaN();
    return static_cast<double>(known[i]->inside_ticks) * tick_ps;
  };
  Columns columns;
  columns.Add("kind", Words{ProbeWords(),
                            MakeColumn<uint8_t>(count, [&](size_t i) { return known[i]->kind; })});
  columns.Add("recorded",
              MakeColumn<Bool>(count, [&](size_t i) { return IsRecorded(known[i]->kind); }));
  columns.Add("duration_ps", MakeColumn<double>(count, [&](size_t i) {
                return static_cast<double>(known[i]->ticks) * tick_ps;
              }));
  columns.Add("inside_ps", MakeColumn<double>(count, inside_ps));
  return columns;
}

}  // namespace rlscope::python
