// Modules by address, for whoever asks whether one was trained.
//
// An address may come to belong to another object; nothing here is ever dereferenced.
#ifndef RLSCOPE_PYTHON_RUNTIME_MODULE_MODULE_SET_H_
#define RLSCOPE_PYTHON_RUNTIME_MODULE_MODULE_SET_H_

#include <stddef.h>
#include <stdint.h>

namespace rlscope::python {

// A few modules, in the order in which they came, each once.
class FewModules {
 public:
  void Clear() { count_ = 0; }
  void Add(const void* module) {
    for (int i = 0; i < kept(); i++) {
      if (modules_[i] == module) return;
    }
    if (count_ < kMost) modules_[count_] = module;
    if (count_ <= kMost) ++count_;
  }
  bool empty() const { return count_ == 0; }
  bool Has(const void* module) const {
    bool has = false;
    ForEach([&](const void* each) { has = has || each == module; });
    return has;
  }
  template <class IsSo>
  bool AreAll(IsSo is_so) const {
    bool all = count_ <= kMost;  // those that were too many are unknown
    for (int i = 0; i < kept(); i++) all = all && is_so(modules_[i]);
    return all;
  }
  template <class Visit>
  void ForEach(Visit visit) const {
    for (int i = 0; i < kept(); i++) visit(modules_[i]);
  }

 private:
  static constexpr int kMost = 8;
  int kept() const { return count_ < kMost ? count_ : kMost; }

  const void* modules_[kMost] = {};
  int count_ = 0;
};

// Of all threads, for ever. A null pointer is none of them.
class ModuleTable {
 public:
  bool Has(const void* module) const {
    const void* found = nullptr;
    return module != nullptr && Find(module, &found) != kSlots && found == module;
  }
  // Once it is nearly full, none is added.
  void Add(const void* module) {
    const void* found = nullptr;
    const size_t slot = module == nullptr ? kSlots : Find(module, &found);
    if (slot == kSlots || found == module) return;
    if (__atomic_fetch_add(&count_, 1, __ATOMIC_RELAXED) >= kSlots / 2) return;
    __atomic_store_n(&slots_[slot], module, __ATOMIC_RELAXED);
  }

 private:
  static constexpr size_t kSlots = 8192;
  // Its slot, or the empty one where it would be.
  size_t Find(const void* module, const void** found) const {
    const size_t hash = (reinterpret_cast<uintptr_t>(module) >> 4) * 0x9E3779B97F4A7C15u >> 32;
    for (size_t i = 0; i < kSlots; i++) {
      const size_t slot = (hash + i) % kSlots;
      *found = __atomic_load_n(&slots_[slot], __ATOMIC_RELAXED);
      if (*found == module || *found == nullptr) return slot;
    }
    return kSlots;
  }

  const void* slots_[kSlots] = {};
  size_t count_ = 0;
};

}  // namespace rlscope::python

#endif  // RLSCOPE_PYTHON_RUNTIME_MODULE_MODULE_SET_H_
