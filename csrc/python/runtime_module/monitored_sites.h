// Call sites as sys.monitoring names them, and which of them may be switched off.
//
// A site that is switched off costs nothing any more, and is blind: `hook(*args)` that called a
// Python function first would never show the native one it calls next. So a site goes on until its
// callees were of no interest kMissesUntilOff times in a row, and for good once one was watched.
#ifndef RLSCOPE_PYTHON_RUNTIME_MODULE_MONITORED_SITES_H_
#define RLSCOPE_PYTHON_RUNTIME_MODULE_MONITORED_SITES_H_

#include <stdint.h>

#include <memory>

namespace rlscope::python {

// At 50 ns an event a site costs 3 us before it is off; a site that calls native code once in 64
// times is seen with a probability of 63 %, each of 16 times with 98 %.
constexpr uint32_t kMissesUntilOff = 64;

// For threads that hold the GIL.
class MonitoredSites {
 public:
  MonitoredSites();

  // The callee at this site is watched: the site stays on for good.
  void Keep(const void* code, uint32_t offset);

  // It is not: true if the site may be switched off. A site beyond the table's capacity may, at
  // once: its cost is bounded, and the misses are reported.
  bool Miss(const void* code, uint32_t offset);

  uint32_t kept() const { return kept_; }
  uint32_t switched_off() const { return switched_off_; }

 private:
  struct Site {
    const void* code;
    uint32_t offset;
    uint32_t misses;  // in a row; kKept
  };
  static constexpr uint32_t kCapacity = 1 << 16;  // 1 MiB; torch and a trainer run 5,000 sites
  static constexpr uint32_t kLimit = kCapacity / 4 * 3;
  static constexpr uint32_t kKept = UINT32_MAX;

  // Found or made; null when the table is full.
  Site* Find(const void* code, uint32_t offset);

  const std::unique_ptr<Site[]> sites_;
  uint32_t used_ = 0;
  uint32_t kept_ = 0;
  uint32_t switched_off_ = 0;
};

}  // namespace rlscope::python

#endif  // RLSCOPE_PYTHON_RUNTIME_MODULE_MONITORED_SITES_H_
