#include "python/runtime_module/freed_code.h"

#define PY_SSIZE_T_CLEAN
#include <Python.h>

#include <atomic>

namespace rlscope::python {
namespace {

constexpr uint32_t kBits = 1 << 16;

std::atomic<uint64_t> remembered[kBits / 64];  // by a hash of the address
std::atomic<uint64_t> freed = 0;
std::atomic<destructor> original = nullptr;

struct Bit {
  uint32_t word;
  uint64_t mask;
};
Bit BitOf(uint64_t code) {
  const auto bit = static_cast<uint32_t>(code * 0x9e3779b97f4a7c15u >> 48);
  return {bit / 64, uint64_t{1} << bit % 64};
}

bool IsRemembered(const PyObject* code) {
  const Bit bit = BitOf(reinterpret_cast<uint64_t>(code));
  return (remembered[bit.word].load(std::memory_order_relaxed) & bit.mask) != 0;
}

// While it ends, its thread may call CUDA once more, as for a cache of compiled code.
void FreeCode(PyObject* code) {
  const bool counts = IsRemembered(code);
  if (counts) freed.fetch_add(1);
  original.load(std::memory_order_relaxed)(code);
  if (counts) freed.fetch_add(1);
}

// Code objects have no hook for their end before 3.12, and the one of 3.12 is one of eight.
void FollowEnds() {
  destructor* const slot = &PyCode_Type.tp_dealloc;
  destructor found = __atomic_load_n(slot, __ATOMIC_ACQUIRE);
  if (found == FreeCode) return;
  original.store(found);
  __atomic_compare_exchange_n(slot, &found, &FreeCode, false, __ATOMIC_ACQ_REL, __ATOMIC_RELAXED);
}

}  // namespace

void RememberCode(uint64_t code) {
  if (original.load(std::memory_order_acquire) == nullptr) FollowEnds();
  const Bit bit = BitOf(code);
  remembered[bit.word].fetch_or(bit.mask, std::memory_order_relaxed);
}

uint64_t FreedCode() { return freed.load(std::memory_order_acquire); }

}  // namespace rlscope::python
