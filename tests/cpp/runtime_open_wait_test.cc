// Waits that have not ended when their process is killed: their begin is in the trace, once.
#include <gmock/gmock.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <thread>

#include "runtime/native_call.h"
#include "runtime/open_wait.h"
#include "runtime_run.h"
#include "trace/layout/layer.h"

namespace rlscope::test {
namespace {

using testing::ElementsAre;
using trace::kCall;
using trace::kCallBegin;
using trace::kThreadBegin;
using trace::kThreadEnd;

uint32_t WordOf(const std::string& name) {
  const auto kind = static_cast<uint32_t>(trace::EntryKind::kFunctionName);
  const auto layer = static_cast<uint32_t>(trace::Layer::kWait);
  return trace::MakeWord(kCall, rlscope_intern_name(kind, layer, name.data(), name.size()), 0);
}

void Begin(const std::string& name) {
  const uint32_t word = WordOf(name);
  ASSERT_TRUE(runtime::IsRecording() && runtime::HasRoom());
  runtime::BeginCall(&rlscope_self, word, runtime::ReadTicks());
  runtime::ShowOpenWait(rlscope_self);
}

void End() {
  const uint32_t generation = runtime::Load(rlscope_process.generation);
  runtime::HideOpenWait(rlscope_self, generation);
  runtime::EndCall(&rlscope_self, generation, runtime::ReadTicks());
}

int KillSelf() {
  raise(SIGKILL);
  return 0;
}

std::string NameOf(const trace::ProcessTrace& process, const Item& item) {
  const trace::Name* name = process.FindName(item.id);
  return name == nullptr ? "?" : name->text;
}

// The kinds of a thread's items, calls by their names.
std::vector<std::string> Named(const trace::ProcessTrace& process, size_t thread) {
  std::vector<std::string> names;
  for (const Item& item : ReadItems(process, thread)) {
    const bool is_call = item.kind == kCall || item.kind == kCallBegin;
    const char* prefix = item.kind == kCallBegin ? "begin " : "";
    names.push_back(is_call ? prefix + NameOf(process, item) : std::to_string(item.kind));
  }
  return names;
}

// Named() for the main thread of a program that is killed, or of the first of its processes.
std::vector<std::string> NamedOfRun(const std::string& program) {
  TracedRun run;
  EXPECT_EQ(run.Execute(program), -SIGKILL);
  return Named(*run.ReadOne().trace, 0);
}

const std::string kBegan = std::to_string(kThreadBegin);

PROGRAM(wait_killed) {
  Begin("sleep");
  End();
  Begin("pipe");
  return KillSelf();
}

TEST(OpenWait, HasItsBeginWhenTheProcessIsKilled) {
  EXPECT_THAT(NamedOfRun("wait_killed"), ElementsAre(kBegan, "sleep", "begin pipe"));
}

TEST(OpenWait, IsReadFromTheRingsWhereNothingDrainsThem) {
  TracedRun run({}, /*drain=*/false);
  trace::ControlPage* const control = run.ClaimToDrain();
  ASSERT_EQ(run.Execute("wait_killed"), -SIGKILL);
  EXPECT_THAT(Named(*run.ReadOne().trace, 0), ElementsAre(kBegan, "sleep", "begin pipe"));
  trace::ReleaseControl(control);
}

PROGRAM(wait_ended) {
  Begin("sleep");
  End();
  return KillSelf();
}

TEST(OpenWait, ThatEndedIsOneRecord) {
  EXPECT_THAT(NamedOfRun("wait_ended"), ElementsAre(kBegan, "sleep"));
}

PROGRAM(wait_short) {
  Begin("sleep");
  End();
  Begin("lock");
  const uint32_t generation = runtime::Load(rlscope_process.generation);
  runtime::HideOpenWait(rlscope_self, generation);
  runtime::DropCall(&rlscope_self, generation);
  return KillSelf();
}

TEST(OpenWait, ThatWasTooShortLeavesNothing) {
  EXPECT_THAT(NamedOfRun("wait_short"), ElementsAre(kBegan, "sleep"));
}

PROGRAM(wait_inside) {
  Begin("pipe");
  const uint32_t gil = WordOf("gil");
  const uint64_t start = runtime::ReadTicks();
  rlscope_record_wait(gil, start, runtime::ReadTicks());
  return KillSelf();
}

TEST(OpenWait, WithAnotherOneInsideHasItsBeginOnce) {
  EXPECT_THAT(NamedOfRun("wait_inside"), ElementsAre(kBegan, "begin pipe", "gil"));
}

PROGRAM(wait_of_a_recycled_ring) {
  std::thread([] {
    Begin("pipe");
    pthread_exit(nullptr);
  }).join();
  Repeat(Intern("x"), 1);
  return KillSelf();
}

TEST(OpenWait, IsNotThatOfTheThreadThatHadTheRingBefore) {
  TracedRun run;
  ASSERT_EQ(run.Execute("wait_of_a_recycled_ring"), -SIGKILL);
  const trace::ProcessTrace& process = *run.ReadOne().trace;
  EXPECT_THAT(Named(process, 0), ElementsAre(kBegan, "begin pipe", std::to_string(kThreadEnd)));
  EXPECT_EQ(CountKind(ReadItems(process, 1), kCallBegin), 0u);
}

// The child goes on inside the parent's wait, as a signal handler's fork does.
PROGRAM(wait_forked) {
  Begin("pipe");
  const pid_t child = fork();
  if (child == 0) {
    End();
    Begin("sleep");
    return KillSelf();
  }
  waitpid(child, nullptr, 0);
  return KillSelf();
}

TEST(OpenWait, IsNotInherited) {
  TracedRun run;
  ASSERT_EQ(run.Execute("wait_forked"), -SIGKILL);
  const trace::Directory& trace = run.Read();
  ASSERT_EQ(trace.processes().size(), 2u);
  EXPECT_THAT(Named(*trace.processes()[0].trace, 0), ElementsAre(kBegan, "begin pipe"));
  EXPECT_THAT(Named(*trace.processes()[1].trace, 0), ElementsAre(kBegan, "begin sleep"));
}

PROGRAM(wait_stopped) {
  Begin("pipe");
  rlscope_stop();
  return KillSelf();
}

TEST(OpenWait, OfAnEarlierWindowHasItsBeginThere) {
  EXPECT_THAT(NamedOfRun("wait_stopped"),
              ElementsAre(kBegan, "begin pipe", std::to_string(trace::kWindowStop)));
}

std::atomic<bool> waits;

// Beside a thread that waits the process ends in order.
PROGRAM(wait_beside_exit) {
  std::thread([] {
    Begin("queue");
    waits = true;
    pause();
  }).detach();
  while (!waits) usleep(100);
  return 0;
}

TEST(OpenWait, HasItsBeginWhenTheProcessExits) {
  TracedRun run;
  ASSERT_EQ(run.Execute("wait_beside_exit"), 0);
  EXPECT_THAT(Named(*run.ReadOne().trace, 0), ElementsAre(kBegan, "begin queue"));
}

}  // namespace
}  // namespace rlscope::test
