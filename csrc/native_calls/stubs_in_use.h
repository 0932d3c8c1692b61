// Which stubs are given out, to which functions. Not synchronised: patch.cc's lock guards it.
#ifndef RLSCOPE_NATIVE_CALLS_STUBS_IN_USE_H_
#define RLSCOPE_NATIVE_CALLS_STUBS_IN_USE_H_

#include <stdint.h>

#include <functional>
#include <map>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "native_calls/callee.h"
#include "native_calls/entries.h"
#include "native_calls/probe_stub.h"

namespace rlscope::native_calls {

//   0 ........ 512 ........ 1024 ........................ 32,256 ....... 32,768
//   moved hot   | shared ones | one per patched function     | shared ones, when the rest is full
//   (the first is that of the probes)
class StubsInUse {
 public:
  static constexpr uint32_t kNone = UINT32_MAX;
  // PyTorch and its compiler take some 7,200: each overload of an operator has one of its own. What
  // a program makes in a loop, under a new name each time, must not take the stubs of libraries
  // that it imports later.
  static constexpr size_t kMostNamed = 12288;

  // A stub of its own for one function; kNone when the pool is full.
  uint32_t TakeOwn(void* original, const Callee& callee, uint32_t entry_flags);
  // The stub that all locations of one original share, which lasts: it is never moved.
  uint32_t TakeShared(void* original, const Callee& callee, uint32_t entry_flags);
  // The same for all locations of one original and one name; kNone after kMostNamed.
  uint32_t TakeNamed(void* original, const Callee& callee, uint32_t entry_flags);

  // The stub in the hot block that stands for `index` from now on, made if need be; `index` itself
  // when it must stay, or when the block is full.
  uint32_t MoveToHot(uint32_t index);
  // Called often enough for MoveToHot(), and not moved yet.
  bool IsHotOutside(uint32_t index) const;

  bool IsNamed(uint32_t index, const Callee& callee) const;

  // All stubs pass through; one is patched in again.
  void RetireAll();
  void Revive(uint32_t index);

  uint32_t count() const {
    return (next_shared_ - kFirstShared) + (next_own_ - kHotStubs) + (next_spare_ - kFirstSpare);
  }
  uint32_t hot_count() const { return next_hot_ - kFirstHot; }

 private:
  static constexpr uint32_t kFirstHot = kProbeStub + 1;
  static constexpr uint32_t kFirstShared = kHotStubs / 2;
  static constexpr uint32_t kFirstSpare = kStubs - 512;

  uint32_t NextShared();
  const char* Keep(const Callee& callee);
  void FillNew(uint32_t index, void* original, const Callee& callee, uint32_t entry_flags);
  void Fill(uint32_t index, void* original, const EntryName& name, uint32_t word, uint32_t flags);

  uint32_t next_hot_ = kFirstHot;
  uint32_t next_shared_ = kFirstShared;
  uint32_t next_own_ = kHotStubs;
  uint32_t next_spare_ = kFirstSpare;
  std::unordered_map<void*, uint32_t> shared_;                            // by original
  std::map<std::pair<void*, std::string>, uint32_t, std::less<>> named_;  // by original and name
  std::vector<bool> is_lasting_ = std::vector<bool>(kStubs);              // not to be moved
  std::unordered_map<uint32_t, uint32_t> moved_;                          // to the hot block
  char* text_ = nullptr;  // never freed: entries point into it
  size_t text_left_ = 0;
};

}  // namespace rlscope::native_calls

#endif  // RLSCOPE_NATIVE_CALLS_STUBS_IN_USE_H_
