// Calls through two stubs of native functions, in programs of runtime tests.
#ifndef RLSCOPE_TESTS_CPP_STUB_CALLS_H_
#define RLSCOPE_TESTS_CPP_STUB_CALLS_H_

#include <gmock/gmock.h>
#include <stdint.h>
#include <time.h>

#include <string>
#include <vector>

#include "native_calls/entries.h"
#include "native_calls/stub_pool.h"
#include "runtime_run.h"
#include "trace/layout/shared_pages.h"

namespace rlscope::test {

using Body = void (*)();

inline void* Run(void* body, void*, void*, void*, void*) {
  if (body != nullptr) reinterpret_cast<Body>(body)();
  return body;
}

constexpr uint32_t kOuter = native_calls::kHotStubs;
constexpr uint32_t kInner = kOuter + 1;

inline void UseStubs() {
  using native_calls::entries;
  for (const uint32_t index : {kOuter, kInner}) {
    entries[index] = {Run, 0, native_calls::kWarming};
    native_calls::entry_names[index] = {index == kOuter ? "test:outer" : "test:inner", 10, 3, 0};
  }
}

inline void Call(uint32_t stub, Body body = nullptr) {
  reinterpret_cast<void* (*)(void*)>(native_calls::StubAt(stub))(reinterpret_cast<void*>(body));
}

inline uint32_t Operation() { return Intern("step"); }

inline std::vector<uint32_t> KindsOf(const std::vector<Item>& items) {
  std::vector<uint32_t> kinds;
  for (const Item& item : items) kinds.push_back(item.kind);
  return kinds;
}

// The kinds of the main thread's items, the first of which is kThreadBegin.
inline std::vector<uint32_t> KindsOfRun(const std::string& program) {
  TracedRun run;
  EXPECT_EQ(run.Execute(program), 0);
  std::vector<uint32_t> kinds = KindsOf(ReadItems(*run.ReadOne().trace, 0));
  EXPECT_EQ(kinds.front(), trace::kThreadBegin);
  kinds.erase(kinds.begin());
  return kinds;
}

inline void SleepMs(int milliseconds) {
  const timespec time = {milliseconds / 1000, milliseconds % 1000 * 1000000L};
  nanosleep(&time, nullptr);
}

}  // namespace rlscope::test

#endif  // RLSCOPE_TESTS_CPP_STUB_CALLS_H_
