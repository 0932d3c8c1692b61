// Native calls through stubs, as the reader finds them: one record each while nothing happens
// inside, and the right ones when something does.
#include <gmock/gmock.h>
#include <signal.h>
#include <stdint.h>
#include <ucontext.h>
#include <unistd.h>
#include <unwind.h>

#include <algorithm>
#include <thread>

#include "native_calls/call.h"
#include "native_calls/callback_scope.h"
#include "runtime_run.h"
#include "stub_calls.h"
#include "trace/layout/shared_pages.h"

namespace rlscope::test {
namespace {

using native_calls::CallbackScope;
using trace::kCall;
using trace::kCallbackBegin;
using trace::kCallbackEnd;
using trace::kCallBegin;
using trace::kCallEnd;
using trace::kOperationEnter;
using trace::kOperationExit;

// ---- one record a call -------------------------------------------------------------------------

PROGRAM(calls_alone) {
  UseStubs();
  for (int i = 0; i < 1000; i++) Call(kOuter);
  return 0;
}

TEST(Calls, AreOneRecordEach) {
  EXPECT_EQ(KindsOfRun("calls_alone"), std::vector<uint32_t>(1000, kCall));
}

PROGRAM(calls_nested) {
  UseStubs();
  for (int i = 0; i < 100; i++) Call(kOuter, [] { Call(kInner, [] { Call(kOuter); }); });
  return 0;
}

TEST(Calls, InsideOthersBelongToThem) {
  EXPECT_EQ(KindsOfRun("calls_nested"), std::vector<uint32_t>(100, kCall));
}

int results_seen = 0;

PROGRAM(calls_hooked) {
  UseStubs();
  for (int i = 0; i < native_calls::kCallsUntilHot; i++) Call(kInner);
  native_calls::entries[kInner].flags |= native_calls::kResultHook;
  native_calls::call_hooks.result = [](void*) { results_seen++; };
  for (int i = 0; i < 5000; i++) Call(kInner);
  Call(kOuter, [] { Call(kInner); });
  Call(kInner, [] { Call(kInner); });
  rlscope_stop();
  Call(kInner);
  rlscope_start();
  return results_seen == 5000 + 1 + 2 + 1 ? 0 : 1;
}

TEST(Calls, WhoseResultsAreLookedAtAreRecordedLikeOthers) {
  TracedRun run;
  ASSERT_EQ(run.Execute("calls_hooked"), 0);
  std::vector<uint32_t> functions;
  for (const Item& item : ReadItems(*run.ReadOne().trace, 0)) {
    EXPECT_NE(item.kind, kCallBegin);
    if (item.kind == kCall) functions.push_back(item.id);
  }
  ASSERT_EQ(functions.size(), native_calls::kCallsUntilHot + 5000u + 2u);
  const uint32_t outer = functions[functions.size() - 2];
  EXPECT_NE(outer, functions[0]);
  EXPECT_EQ(std::count(functions.begin(), functions.end(), outer), 1);
}

// Whether the arguments and the result come through: warming, hot, where a ring is full, looked at,
// inside another call and while nothing is recorded.
void* Sum(void* a, void* b, void* c, void* d, void* e) {
  const auto number = [](void* pointer) { return reinterpret_cast<uintptr_t>(pointer); };
  return reinterpret_cast<void*>(number(a) + 10 * number(b) + 100 * number(c) + 1000 * number(d) +
                                 10000 * number(e));
}

void CallSum() {
  const auto at = [](uintptr_t value) { return reinterpret_cast<void*>(value); };
  const auto call = reinterpret_cast<native_calls::Function>(native_calls::StubAt(kInner));
  const uintptr_t high = uintptr_t{1} << 60;
  if (call(at(1 + high), at(2), at(3), at(4), at(5)) != at(54321 + high)) _exit(1);
}

constexpr int kMoreThanARing = 5000;

PROGRAM(calls_with_arguments) {
  UseStubs();
  native_calls::entries[kInner].original = Sum;
  for (const uint32_t flag : {uint32_t{0}, uint32_t{native_calls::kResultHook}}) {
    native_calls::entries[kInner].flags |= flag;
    for (int i = 0; i < kMoreThanARing; i++) CallSum();
    Call(kOuter, CallSum);
    rlscope_stop();
    CallSum();
    rlscope_start();
  }
  return 0;
}

TEST(Calls, PassArgumentsAndResults) {
  const std::vector<uint32_t> kinds = KindsOfRun("calls_with_arguments");
  EXPECT_EQ(std::count(kinds.begin(), kinds.end(), kCall), 2 * (kMoreThanARing + 1));
}

#if defined(__x86_64__)

// The instructions of a stub and of rlscope_call(), unwound from a signal.
struct Steps {
  uintptr_t caller;
  int of_stubs;
  int lost;
};
Steps steps;

bool IsOfStubs(uintptr_t code) {
  const auto from = reinterpret_cast<uintptr_t>(native_calls::rlscope_call);
  const auto to = reinterpret_cast<uintptr_t>(native_calls::StubAt(native_calls::kStubs - 1));
  return from <= code && code < to + native_calls::kStubBytes;
}

_Unwind_Reason_Code LookForCaller(_Unwind_Context* context, void* found) {
  if (_Unwind_GetIP(context) != steps.caller) return _URC_NO_REASON;
  *static_cast<bool*>(found) = true;
  return _URC_END_OF_STACK;
}

void UnwindStep(int, siginfo_t*, void* context) {
  const auto* at = static_cast<ucontext_t*>(context)->uc_mcontext.gregs;
  if (!IsOfStubs(static_cast<uintptr_t>(at[REG_RIP]))) return;
  steps.of_stubs++;
  bool found = false;
  _Unwind_Backtrace(LookForCaller, &found);
  if (!found) steps.lost++;
}

void SetTrap(bool on) {
  constexpr uintptr_t kTrap = 0x100;
  uintptr_t flags = __builtin_ia32_readeflags_u64();
  flags = on ? flags | kTrap : flags & ~kTrap;
  __builtin_ia32_writeeflags_u64(flags);
}

__attribute__((noinline)) void StepThroughCall(Body body) {
  steps.caller = reinterpret_cast<uintptr_t>(__builtin_return_address(0));
  SetTrap(true);
  Call(kInner, body);
  SetTrap(false);
}

// At least so many instructions of ours, and all of them unwound.
bool IsUnwound(int at_least, Body body = nullptr) {
  steps = {};
  StepThroughCall(body);
  return steps.of_stubs >= at_least && steps.lost == 0;
}

void Annotate() {
  Enter(Operation());
  Exit(Operation());
}

PROGRAM(calls_unwound) {
  UseStubs();
  struct sigaction action = {};
  action.sa_sigaction = UnwindStep;
  action.sa_flags = SA_SIGINFO;
  sigaction(SIGTRAP, &action, nullptr);
  const auto call_outer = [] { Call(kOuter); };
  Annotate();
  Call(kInner);                  // makes a ring and a name, with all signals blocked
  if (!IsUnwound(15)) return 1;  // warming: begun and ended in C++
  for (int i = 0; i < native_calls::kCallsUntilHot; i++) Call(kInner), Call(kOuter);
  if (!IsUnwound(50)) return 2;
  if (!IsUnwound(65, call_outer)) return 3;
  if (!IsUnwound(40, Annotate)) return 4;  // what was begun is not one record any more
  rlscope_stop();
  if (!IsUnwound(15)) return 5;
  rlscope_start();
  native_calls::entries[kInner].flags |= native_calls::kResultHook;
  if (!IsUnwound(15)) return 6;
  if (!IsUnwound(30, call_outer)) return 7;
  rlscope_stop();
  if (!IsUnwound(15)) return 8;
  return 0;
}

TEST(Calls, AreUnwoundAtEachInstruction) {
  TracedRun run;
  EXPECT_EQ(run.Execute("calls_unwound"), 0);
}

#endif

PROGRAM(calls_long) {
  UseStubs();
  Call(kOuter, [] { SleepMs(2500); });  // 2^32 ticks are 2.2 s at 2 GHz, 1.1 s at 4 GHz
  Call(kInner);
  return 0;
}

TEST(Calls, LongerThanTheDurationFieldAreBeginAndEnd) {
  TracedRun run;
  ASSERT_EQ(run.Execute("calls_long"), 0);
  const trace::ProcessImage& process = run.ReadOne();
  const std::vector<Item> items = ReadItems(*process.trace, 0);
  const std::vector<uint32_t> kinds = KindsOf(items);
  ASSERT_THAT(kinds,
              testing::AnyOf(testing::ElementsAre(trace::kThreadBegin, kCallBegin, kCallEnd, kCall),
                             testing::ElementsAre(trace::kThreadBegin, kCall, kCall)));
  if (kinds[1] == kCallBegin) {
    EXPECT_GT(items[2].time_ns - items[1].time_ns, 2'400'000'000);
  }
}

// ---- something inside --------------------------------------------------------------------------

PROGRAM(calls_annotated) {
  UseStubs();
  Enter(Operation());
  Call(kOuter, [] {
    Enter(Operation());
    Exit(Operation());
  });
  Call(kOuter);
  Exit(Operation());
  return 0;
}

TEST(Calls, WithAnAnnotationInsideBeginBeforeIt) {
  EXPECT_THAT(KindsOfRun("calls_annotated"),
              testing::ElementsAre(kOperationEnter, kCallBegin, kOperationEnter, kOperationExit,
                                   kCallEnd, kCall, kOperationExit));
}

PROGRAM(calls_callback) {
  UseStubs();
  Call(kOuter, [] {
    {
      CallbackScope scope;
      Call(kInner);
      Call(kInner, [] { Call(kOuter); });
    }
    Call(kInner);
    CallbackScope scope;
  });
  Call(kOuter);
  return 0;
}

TEST(Calls, InCallbacksAreCallsOfTheirOwn) {
  EXPECT_THAT(KindsOfRun("calls_callback"),
              testing::ElementsAre(kCallBegin, kCallbackBegin, kCall, kCall, kCallbackEnd,
                                   kCallbackBegin, kCallbackEnd, kCallEnd, kCall));
}

PROGRAM(calls_recursive) {
  UseStubs();
  static int depth = 0;
  static const Body recurse = [] {
    CallbackScope scope;
    if (++depth < 50) Call(kOuter, recurse);
  };
  Call(kOuter, recurse);
  return 0;
}

TEST(Calls, NestThroughCallbacksToAnyDepth) {
  const std::vector<uint32_t> kinds = KindsOfRun("calls_recursive");
  ASSERT_EQ(kinds.size(), 200u);
  for (size_t i = 0; i < 100; i++) {
    EXPECT_EQ(kinds[i], i % 2 == 0 ? kCallBegin : kCallbackBegin);
    EXPECT_EQ(kinds[100 + i], i % 2 == 0 ? kCallbackEnd : kCallEnd);
  }
}

PROGRAM(calls_from_outside) {
  UseStubs();
  CallbackScope scope(/*from_outside=*/true);
  Call(kOuter);
  return 0;
}

TEST(Callbacks, OfThreadsWithoutPythonCountWithoutACall) {
  EXPECT_THAT(KindsOfRun("calls_from_outside"),
              testing::ElementsAre(kCallbackBegin, kCall, kCallbackEnd));
}

PROGRAM(calls_begin_times) {
  UseStubs();
  Enter(Operation());
  Call(kOuter, [] {
    SleepMs(30);
    Enter(Operation());
    SleepMs(30);
  });
  return 0;
}

TEST(Calls, HeldBackBeginWhenTheyBegan) {
  TracedRun run;
  ASSERT_EQ(run.Execute("calls_begin_times"), 0);
  const std::vector<Item> items = ReadItems(*run.ReadOne().trace, 0);
  ASSERT_THAT(KindsOf(items), testing::ElementsAre(trace::kThreadBegin, kOperationEnter, kCallBegin,
                                                   kOperationEnter, kCallEnd));
  EXPECT_GE(items[3].time_ns - items[2].time_ns, 30'000'000);
  EXPECT_GE(items[4].time_ns - items[3].time_ns, 30'000'000);
}

PROGRAM(calls_exit_inside) {
  UseStubs();
  Call(kInner);
  Call(kOuter, [] { _exit(0); });
  return 1;
}

TEST(Calls, OpenWhenTheProcessExitsHaveTheirBegin) {
  EXPECT_THAT(KindsOfRun("calls_exit_inside"), testing::ElementsAre(kCall, kCallBegin));
}

PROGRAM(calls_thread_exit) {
  UseStubs();
  std::thread([] {
    Call(kInner);
    Call(kOuter, [] { pthread_exit(nullptr); });
  }).join();
  Call(kOuter);
  return 0;
}

TEST(Calls, OpenWhenTheirThreadEndsHaveTheirBegin) {
  TracedRun run;
  ASSERT_EQ(run.Execute("calls_thread_exit"), 0);
  const trace::ProcessImage& process = run.ReadOne();
  ASSERT_EQ(process.trace->threads().size(), 2u);
  EXPECT_THAT(KindsOf(ReadItems(*process.trace, 0)),
              testing::ElementsAre(trace::kThreadBegin, kCall, kCallBegin, trace::kThreadEnd));
  EXPECT_THAT(KindsOf(ReadItems(*process.trace, 1)),
              testing::ElementsAre(trace::kThreadBegin, kCall));
}

// ---- many --------------------------------------------------------------------------------------

constexpr int kThreads = 4;
constexpr int kCallsEach = 200'000;

PROGRAM(calls_threads) {
  UseStubs();
  std::vector<std::thread> threads;
  for (int i = 0; i < kThreads; i++) {
    threads.emplace_back([] {
      for (int call = 0; call < kCallsEach; call++) {
        Call(kOuter, call % 16 == 0 ? Body([] { CallbackScope scope; }) : nullptr);
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  return 0;
}

// Across many laps of growing rings: every call once, on its thread, in order.
TEST(Calls, OfManyThreadsAreAllThere) {
  TracedRun run;
  ASSERT_EQ(run.Execute("calls_threads"), 0);
  const trace::ProcessImage& process = run.ReadOne();
  ASSERT_EQ(LossOf(process, "ring_full"), 0u);
  size_t whole = 0;
  size_t begun = 0;
  for (size_t thread = 0; thread < process.trace->threads().size(); thread++) {
    const std::vector<Item> items = ReadItems(*process.trace, thread);
    whole += CountKind(items, kCall);
    begun += CountKind(items, kCallBegin);
    EXPECT_EQ(CountKind(items, kCallBegin), CountKind(items, kCallEnd));
    EXPECT_EQ(CountKind(items, kCallbackBegin), CountKind(items, kCallbackEnd));
    for (size_t i = 1; i < items.size(); i++) ASSERT_LE(items[i - 1].time_ns, items[i].time_ns);
  }
  EXPECT_EQ(begun, size_t{kThreads} * kCallsEach / 16);
  EXPECT_EQ(whole, size_t{kThreads} * kCallsEach / 16 * 15);
}

}  // namespace
}  // namespace rlscope::test
