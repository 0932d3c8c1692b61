// Kinds of records by what they cost (docs/reference/semantics.md#bookkeeping-by-region).
#ifndef RLSCOPE_ANALYSIS_THREADS_RECORD_KINDS_H_
#define RLSCOPE_ANALYSIS_THREADS_RECORD_KINDS_H_

#include <stddef.h>
#include <stdint.h>

#include <string_view>

namespace rlscope::analysis {

// One row per kind: enumerator, its name in the relation `overhead`.
#define RLSCOPE_COSTLY_RECORD_KINDS(X)                             \
  X(kOperation, "operation") /* entered or left */                 \
  X(kAutomatic, "automatic event")                                 \
  X(kNativeCall, "native call")                                    \
  X(kWait, "wait")                                                 \
  X(kShortWait, "short wait")                                      \
  X(kCallback, "callback")                                         \
  X(kCudaCall, "CUDA call")                                        \
  X(kCudaSubmission, "CUDA submission")                            \
  X(kOther, "other record") /* phase, iteration, progress, task */ \
  X(kLost, "lost record")                                          \
  X(kRoom, "ring wait") /* counted in nanoseconds */               \
  X(kProbe, "probe")

enum class RecordKind : uint8_t {
#define RLSCOPE_RECORD_KIND(name, text) name,
  RLSCOPE_COSTLY_RECORD_KINDS(RLSCOPE_RECORD_KIND)
#undef RLSCOPE_RECORD_KIND
};

constexpr std::string_view kRecordKindTexts[] = {
#define RLSCOPE_RECORD_KIND(name, text) text,
    RLSCOPE_COSTLY_RECORD_KINDS(RLSCOPE_RECORD_KIND)
#undef RLSCOPE_RECORD_KIND
};
constexpr size_t kRecordKinds = sizeof(kRecordKindTexts) / sizeof(kRecordKindTexts[0]);

}  // namespace rlscope::analysis

#endif  // RLSCOPE_ANALYSIS_THREADS_RECORD_KINDS_H_
