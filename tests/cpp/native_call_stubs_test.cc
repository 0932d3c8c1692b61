// The stub pool, as the CPU runs it: no recorder, no Python.
#include <gtest/gtest.h>
#include <stdint.h>
#include <string.h>

#include <set>

#include "native_calls/call.h"
#include "native_calls/entries.h"
#include "native_calls/stub_pool.h"

namespace rlscope::native_calls {
namespace {

struct Seen {
  uintptr_t arguments[5];
  int calls;
};
Seen seen;

void* Remember(void* a, void* b, void* c, void* d, void* e) {
  void* const arguments[] = {a, b, c, d, e};
  memcpy(seen.arguments, arguments, sizeof arguments);
  ++seen.calls;
  return reinterpret_cast<void*>(~uintptr_t{0} - 5);
}

int ReturnMinusOne(void*, void*, int operation) { return operation - 3; }

void* At(uintptr_t value) { return reinterpret_cast<void*>(value); }

template <typename Signature>
Signature* FunctionAt(uint32_t index) {
  return reinterpret_cast<Signature*>(StubAt(index));
}

void Use(uint32_t index, Function original) {
  entries[index] = {original, 0, 0};
  entry_names[index] = {"test:function", 13, 3, 0};
}

TEST(Stubs, EveryStubLeadsToItsOwnEntry) {
  for (uint32_t index = 0; index < kStubs; index++) Use(index, Remember);
  static uint32_t expected;
  for (expected = 0; expected < kStubs; expected++) {
    seen = {};
    entries[expected].original = [](void*, void*, void*, void*, void*) {
      return At(expected * uintptr_t{3});
    };
    EXPECT_EQ(FunctionAt<void*(void*)>(expected)(nullptr), At(expected * uintptr_t{3}));
    EXPECT_EQ(seen.calls, 0);
    entries[expected].original = Remember;
  }
}

TEST(Stubs, PassFiveArgumentsAndTheWholeResult) {
  const uintptr_t big = uintptr_t{0x8123456789abcdef};
  for (const uint32_t index : {0u, 1u, kHotStubs, kStubs - 1}) {
    Use(index, Remember);
    auto* stub = FunctionAt<void*(void*, void*, void*, void*, void*)>(index);
    EXPECT_EQ(stub(At(big), At(2), At(big + 3), At(4), At(big + 5)), At(~uintptr_t{0} - 5));
    const uintptr_t expected[] = {big, 2, big + 3, 4, big + 5};
    EXPECT_EQ(memcmp(seen.arguments, expected, sizeof expected), 0) << index;
  }
}

TEST(Stubs, ReturnNegativeIntegersOfSlots) {
  Use(7, reinterpret_cast<Function>(reinterpret_cast<void (*)()>(ReturnMinusOne)));
  EXPECT_EQ((FunctionAt<int(void*, void*, int)>(7)(nullptr, nullptr, 2)), -1);
}

TEST(Stubs, AreToldFromOtherPointers) {
  EXPECT_TRUE(IsStub(StubAt(0)));
  EXPECT_TRUE(IsStub(StubAt(kStubs - 1)));
  EXPECT_FALSE(IsStub(rlscope_stubs + kStubs * kStubBytes));
  EXPECT_FALSE(IsStub(rlscope_stubs - 1));
  EXPECT_FALSE(IsStub(nullptr));
  std::set<uint32_t> indexes;
  for (uint32_t index = 0; index < kStubs; index++) indexes.insert(IndexOf(StubAt(index)));
  EXPECT_EQ(indexes.size(), kStubs);
}

TEST(Stubs, OfHotFunctionsLieOnThePageOfWhatTheyCall) {
  const auto page_of = [](const void* code) { return reinterpret_cast<uintptr_t>(code) / 4096; };
  const auto call = reinterpret_cast<const void*>(&rlscope_call);
  EXPECT_EQ(page_of(StubAt(0)), page_of(call));
  EXPECT_EQ(page_of(StubAt(127)), page_of(call));
}

TEST(Stubs, CountCallsAfterTheyWereTakenOut) {
  Use(9, Remember);
  entries[9].flags = kPassThrough;
  const uint64_t before = PassedThrough();
  seen = {};
  FunctionAt<void*(void*)>(9)(nullptr);
  FunctionAt<void*(void*)>(9)(nullptr);
  EXPECT_EQ(PassedThrough() - before, 2u);
  EXPECT_EQ(seen.calls, 2);
}

void* last_result = nullptr;

TEST(Stubs, ShowResultsToTheHookAlsoWhenNothingRecords) {
  Use(11, Remember);
  entries[11].flags = kResultHook;
  call_hooks.result = [](void* result) { last_result = result; };
  EXPECT_EQ(FunctionAt<void*(void*)>(11)(nullptr), At(~uintptr_t{0} - 5));
  EXPECT_EQ(last_result, At(~uintptr_t{0} - 5));
}

}  // namespace
}  // namespace rlscope::native_calls
