#include "python/runtime_module/monitored_sites.h"

namespace rlscope::python {
namespace {

// Fibonacci hashing: code objects are 16-byte aligned, offsets are even.
uint32_t Mix(const void* code, uint32_t offset) {
  const uint64_t key = (reinterpret_cast<uintptr_t>(code) >> 4) ^ uint64_t { offset } << 31;
  return static_cast<uint32_t>((key * 0x9E3779B97F4A7C15u) >> 32);
}

}  // namespace

MonitoredSites::MonitoredSites() : sites_(new Site[kCapacity]()) {}

MonitoredSites::Site* MonitoredSites::Find(const void* code, uint32_t offset) {
  for (uint32_t at = Mix(code, offset);; at++) {
    Site* site = &sites_[at % kCapacity];
    if (site->code == code && site->offset == offset) return site;
    if (site->code != nullptr) continue;
    if (used_ >= kLimit) return nullptr;
    used_++;
    *site = {code, offset, 0};
    return site;
  }
}

void MonitoredSites::Keep(const void* code, uint32_t offset) {
  Site* site = Find(code, offset);
  if (site == nullptr || site->misses == kKept) return;
  site->misses = kKept;
  kept_++;
}

bool MonitoredSites::Miss(const void* code, uint32_t offset) {
  Site* site = Find(code, offset);
  if (site != nullptr && site->misses == kKept) return false;
  if (site != nullptr && ++site->misses < kMissesUntilOff) return false;
  if (site != nullptr) site->misses = kMissesUntilOff;
  switched_off_++;
  return true;
}

}  // namespace rlscope::python
