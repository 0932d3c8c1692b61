// Native calls through stubs across the ends of windows and across forks.
#include <gmock/gmock.h>
#include <stdint.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <thread>

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
using trace::kWindowStart;
using trace::kWindowStop;

// ---- windows -----------------------------------------------------------------------------------

PROGRAM(calls_stop_inside) {
  UseStubs();
  Call(kOuter, [] {
    rlscope_stop();
    Call(kInner);
  });
  Call(kInner);
  rlscope_start();
  Call(kInner);
  return 0;
}

TEST(Windows, ThatStopInsideACallLeaveItOpen) {
  EXPECT_THAT(KindsOfRun("calls_stop_inside"),
              testing::ElementsAre(kCallBegin, kWindowStop, kWindowStart, kCall));
}

PROGRAM(calls_stop_start_inside) {
  UseStubs();
  Call(kOuter, [] {
    CallbackScope scope;
    rlscope_stop();
    rlscope_start();
    Call(kInner);
  });
  Call(kInner);
  return 0;
}

TEST(Windows, ThatStartAgainInsideACallKnowNothingOfIt) {
  EXPECT_THAT(
      KindsOfRun("calls_stop_start_inside"),
      testing::ElementsAre(kCallBegin, kCallbackBegin, kWindowStop, kWindowStart, kCall, kCall));
}

PROGRAM(calls_start_inside) {
  UseStubs();
  rlscope_stop();
  Call(kOuter, [] {
    CallbackScope scope;
    rlscope_start();
    Call(kInner);
  });
  Call(kInner);
  return 0;
}

TEST(Windows, ThatStartInsideACallRecordWhatPythonCallsThere) {
  EXPECT_THAT(KindsOfRun("calls_start_inside"),
              testing::ElementsAre(kWindowStop, kWindowStart, kCall, kCall));
}

PROGRAM(calls_stop_elsewhere) {
  UseStubs();
  Call(kInner);
  Call(kOuter, [] {
    std::thread([] { rlscope_stop(); }).join();
    SleepMs(5);
    CallbackScope scope;  // does not record
    SleepMs(5);
  });
  return 0;
}

// Cut at the stop by its reader.
TEST(Windows, ThatAnotherThreadStopsKeepTheCallHeldBack) {
  TracedRun run;
  ASSERT_EQ(run.Execute("calls_stop_elsewhere"), 0);
  EXPECT_THAT(KindsOf(ReadItems(*run.ReadOne().trace, 0)),
              testing::ElementsAre(trace::kThreadBegin, kCall, kCall));
}

// ---- forks -------------------------------------------------------------------------------------

PROGRAM(calls_fork_inside) {
  UseStubs();
  static pid_t child = 0;
  Call(kOuter, [] {
    CallbackScope scope;
    child = fork();
    Call(kInner);
  });
  Call(kInner);
  if (child == 0) _exit(0);
  return TracedRun::Wait(child);
}

TEST(Forks, InsideACallStartAChildOutsideOfIt) {
  TracedRun run;
  ASSERT_EQ(run.Execute("calls_fork_inside"), 0);
  const trace::Directory& trace = run.Read();
  ASSERT_EQ(trace.processes().size(), 2u);
  const trace::ProcessImage& parent = trace.processes()[0];  // in order of their begin
  const trace::ProcessImage& child = trace.processes()[1];
  EXPECT_TRUE(child.forked);
  EXPECT_THAT(KindsOf(ReadItems(*parent.trace, 0)),
              testing::ElementsAre(trace::kThreadBegin, kCallBegin, kCallbackBegin, kCall,
                                   kCallbackEnd, kCallEnd, kCall));
  EXPECT_THAT(KindsOf(ReadItems(*child.trace, 0)),
              testing::ElementsAre(trace::kThreadBegin, kCall, kCall));
}

PROGRAM(calls_clone_inside) {
  UseStubs();
  static long child = 0;
  Call(kOuter, [] { child = syscall(SYS_clone, SIGCHLD, 0, 0, 0, 0); });
  Call(kInner);
  if (child == 0) _exit(0);
  return TracedRun::Wait(static_cast<pid_t>(child));
}

TEST(Forks, WithoutHandlersDoNotWriteIntoTheParentsRing) {
  TracedRun run;
  ASSERT_EQ(run.Execute("calls_clone_inside"), 0);
  const trace::Directory& trace = run.Read();
  ASSERT_EQ(trace.processes().size(), 2u);
  EXPECT_THAT(KindsOf(ReadItems(*trace.processes()[0].trace, 0)),
              testing::ElementsAre(trace::kThreadBegin, kCall, kCall));
  EXPECT_THAT(KindsOf(ReadItems(*trace.processes()[1].trace, 0)),
              testing::ElementsAre(trace::kThreadBegin, kCall));
}

}  // namespace
}  // namespace rlscope::test
