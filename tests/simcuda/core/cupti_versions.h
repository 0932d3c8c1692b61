// The 17 CUPTI releases that the test double can be: version number, highest cbids, sizes of
// activity records.
//
// Source of every number: the headers of the release's own wheel (nvidia-cuda-cupti-cu11, -cu12,
// nvidia-cuda-cupti at the version of the row): CUPTI_API_VERSION of cupti_version.h,
// CUPTI_*_TRACE_CBID_SIZE - 1 of cupti_runtime_cbid.h and cupti_driver_cbid.h, sizeof of the struct
// that cupti_activity.h documents for the kind. make test-cupti compares each row with them. The
// last row is none of them: an unknown release, made up.
#ifndef SIMCUDA_CORE_CUPTI_VERSIONS_H_
#define SIMCUDA_CORE_CUPTI_VERSIONS_H_

#include <cstdint>
#include <cstring>
#include <initializer_list>

namespace simcuda {

struct CuptiVersion {
  const char* release;
  uint32_t number;  // what cuptiGetVersion returns
  uint32_t runtime_cbid_max;
  uint32_t driver_cbid_max;
  uint32_t kernel_bytes;           // Kernel7, 8, 9, 10, 11, 12, 13
  uint32_t memcpy_bytes;           // Memcpy5, 6, 7
  uint32_t peer_memcpy_bytes;      // MemcpyPtoP4
  uint32_t memset_bytes;           // Memset4, 5
  uint32_t synchronization_bytes;  // Synchronization, 2
  uint32_t api_bytes;              // API
  uint32_t graph_bytes;            // GraphTrace, 2
  uint32_t overhead_bytes;         // Overhead, 2, 3
  uint32_t external_bytes;         // ExternalCorrelation
  uint32_t last_kind;              // of CUpti_ActivityKind
};

constexpr CuptiVersion kCuptiVersions[] = {
    {"11.7.101", 17, 429, 676, 176, 88, 96, 88, 40, 40, 48, 40, 24, 51},
    {"11.8.87", 18, 433, 676, 200, 88, 96, 88, 40, 40, 48, 40, 24, 52},
    {"12.0.146", 18, 444, 700, 208, 88, 96, 88, 40, 40, 48, 40, 24, 52},
    {"12.1.105", 18, 444, 711, 208, 88, 96, 88, 40, 40, 48, 40, 24, 52},
    {"12.2.142", 20, 450, 717, 208, 88, 96, 88, 40, 40, 48, 40, 24, 52},
    {"12.3.101", 21, 464, 732, 208, 88, 96, 88, 40, 40, 56, 48, 24, 52},
    {"12.4.127", 22, 467, 753, 208, 88, 96, 88, 40, 40, 56, 56, 24, 52},
    {"12.5.82", 23, 469, 760, 208, 88, 96, 88, 40, 40, 56, 56, 24, 52},
    {"12.6.80", 24, 479, 762, 208, 88, 96, 88, 40, 40, 56, 56, 24, 52},
    {"12.8.90", 26, 486, 781, 208, 96, 96, 88, 56, 40, 56, 56, 24, 54},
    {"12.9.79", 28, 486, 783, 208, 96, 96, 88, 56, 40, 56, 56, 24, 54},
    {"13.0.85", 130001, 522, 806, 216, 96, 96, 88, 56, 40, 56, 56, 24, 54},
    {"13.1.115", 130101, 549, 845, 224, 96, 96, 88, 56, 40, 56, 56, 24, 58},
    {"13.2.86", 130202, 558, 845, 224, 96, 96, 88, 56, 40, 56, 56, 24, 59},
    {"13.3.75", 130301, 558, 859, 232, 96, 96, 88, 56, 40, 56, 56, 24, 59},
    {"13.4.92", 130401, 565, 867, 248, 112, 96, 104, 56, 40, 56, 56, 24, 59},
    {"13.5.25", 130500, 566, 876, 248, 112, 96, 104, 56, 40, 56, 56, 24, 59},
    {"14.0.0", 140000, 566, 876, 248, 112, 96, 104, 56, 40, 56, 56, 24, 59},
};

// The release that SIMCUPTI_VERSION names, whole (12.6.80) or by its first two numbers (12.6); else
// `fallback`.
inline const CuptiVersion& FindCuptiVersion(const char* wanted, const char* fallback) {
  for (const char* name : {wanted, fallback}) {
    for (const CuptiVersion& version : kCuptiVersions) {
      size_t size = name == nullptr ? 0 : strlen(name);
      bool starts = size > 0 && strncmp(version.release, name, size) == 0;
      if (starts && (version.release[size] == '\0' || version.release[size] == '.')) return version;
    }
  }
  return kCuptiVersions[11];
}

}  // namespace simcuda

#endif  // SIMCUDA_CORE_CUPTI_VERSIONS_H_
