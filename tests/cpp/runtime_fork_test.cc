// Processes made by processes: every way there is to begin one and to end one.
#include <sched.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/wait.h>

#include <algorithm>
#include <atomic>
#include <thread>

#include "runtime_run.h"

namespace rlscope::test {
namespace {

size_t Enters(const trace::ProcessImage& process) {
  size_t count = 0;
  if (process.trace == nullptr) return 0;
  for (size_t i = 0; i < process.trace->threads().size(); i++) {
    count += CountKind(ReadItems(*process.trace, i), trace::kOperationEnter);
  }
  return count;
}

// Enters of all processes, smallest first: the forks are checked by parent_index.
std::vector<size_t> AllEnters(const trace::Directory& trace) {
  std::vector<size_t> enters;
  for (const trace::ProcessImage& process : trace.processes()) enters.push_back(Enters(process));
  std::sort(enters.begin(), enters.end());
  return enters;
}

PROGRAM(fork_and_record) {
  const uint32_t id = Intern("before the fork");
  Enter(id);
  for (int child = 1; child <= 3; child++) {
    const pid_t pid = fork();
    if (pid == 0) {
      Exit(id);  // inherited: the reader ignores it
      Repeat(id, child * 100);
      exit(child);
    }
    if (TracedRun::Wait(pid) != child) return 1;
    Repeat(id, 1);
  }
  Exit(id);
  return 0;
}

TEST(RuntimeFork, EachForkChildIsAnImageWithTheNamesOfItsParent) {
  TracedRun run;
  ASSERT_EQ(run.Execute("fork_and_record"), 0);
  const trace::Directory& trace = run.Read();
  ASSERT_EQ(trace.processes().size(), 4u);
  EXPECT_EQ(AllEnters(trace), (std::vector<size_t>{4, 100, 200, 300}));
  EXPECT_TRUE(trace.problems().empty());
  for (const trace::ProcessImage& process : trace.processes()) {
    EXPECT_EQ(process.ended, trace::Ended::kExit);
    ASSERT_EQ(process.trace->names().size(), 1u);
    EXPECT_EQ(process.trace->names()[0].text, "before the fork");
    if (process.forked) {
      EXPECT_EQ(process.parent_index, 0);
    }
  }
  EXPECT_EQ(trace.processes()[0].forks, 3u);
}

PROGRAM(fork_silently) {
  Repeat(Intern("x"), 5);
  const pid_t quiet = fork();
  if (quiet == 0) _exit(7);  // no record: its row is written on its way out
  if (TracedRun::Wait(quiet) != 7) return 1;
  const pid_t killed = fork();
  if (killed == 0) raise(SIGKILL);  // neither: the parent's count shows it
  if (TracedRun::Wait(killed) != -SIGKILL) return 2;
  return 0;
}

TEST(RuntimeFork, AChildThatRecordsNothingHasARowFromItsExitPath) {
  TracedRun run;
  ASSERT_EQ(run.Execute("fork_silently"), 0);
  const trace::Directory& trace = run.Read();
  ASSERT_EQ(trace.processes().size(), 2u);
  EXPECT_EQ(trace.processes()[1].exit_code, 7);
  EXPECT_TRUE(trace.processes()[1].forked);
  EXPECT_EQ(trace.processes()[0].forks, 2u);
}

PROGRAM(vfork_and_fail) {
  const uint32_t id = Intern("x");
  Repeat(id, 10);
  for (int i = 0; i < 50; i++) {
    const pid_t pid = vfork();
    if (pid == 0) {
      execl("/does/not/exist", "x", nullptr);
      _exit(127);
    }
    if (TracedRun::Wait(pid) != 127) return 1;
    Repeat(id, 1);
  }
  return 0;
}

TEST(RuntimeFork, AVforkChildWritesNothing) {
  if (kThreadSanitizer) GTEST_SKIP() << "vfork() is fork() under ThreadSanitizer";
  TracedRun run;
  ASSERT_EQ(run.Execute("vfork_and_fail"), 0);
  const trace::ProcessImage& process = run.ReadOne();
  EXPECT_EQ(Enters(process), 60u);
  EXPECT_EQ(process.ended, trace::Ended::kExit);
}

PROGRAM(clone_raw) {
  const uint32_t id = Intern("x");
  Repeat(id, 10);
  const long recording = syscall(SYS_clone, SIGCHLD, nullptr, nullptr, nullptr, nullptr);
  if (recording == 0) {
    Repeat(id, 20);
    _exit(5);
  }
  if (TracedRun::Wait(static_cast<pid_t>(recording)) != 5) return 1;
  const long silent = syscall(SYS_clone, SIGCHLD, nullptr, nullptr, nullptr, nullptr);
  if (silent == 0) _exit(6);
  if (TracedRun::Wait(static_cast<pid_t>(silent)) != 6) return 2;
  Repeat(id, 1);
  return 0;
}

TEST(RuntimeFork, ARawCloneIsAnImageOfItsOwn) {
  TracedRun run;
  ASSERT_EQ(run.Execute("clone_raw"), 0);
  const trace::Directory& trace = run.Read();
  EXPECT_EQ(AllEnters(trace), (std::vector<size_t>{0, 11, 20}));
  EXPECT_TRUE(trace.problems().empty());
}

PROGRAM(exec_again) {
  Repeat(Intern("x"), static_cast<int>(arguments.size()) + 1);
  if (arguments.size() < 2) {
    std::vector<std::string> words = {"program", "--program", "exec_again"};
    words.insert(words.end(), arguments.begin(), arguments.end());
    words.push_back("more");
    std::vector<char*> argv;
    for (std::string& word : words) argv.push_back(word.data());
    argv.push_back(nullptr);
    execv("/proc/self/exe", argv.data());
  }
  return 0;
}

TEST(RuntimeFork, EachExecutedImageOfAPidIsAProcess) {
  TracedRun run;
  ASSERT_EQ(run.Execute("exec_again"), 0);
  const trace::Directory& trace = run.Read();
  ASSERT_EQ(trace.processes().size(), 3u);
  for (size_t i = 0; i < 3; i++) {
    EXPECT_EQ(Enters(trace.processes()[i]), i + 1);
    EXPECT_EQ(trace.processes()[i].os_pid, trace.processes()[0].os_pid);
  }
  EXPECT_EQ(run.FilesLeft(".process"), 0u);
}

PROGRAM(exit_with_live_threads) {
  static std::atomic<uint64_t> counts[4];
  for (int i = 0; i < 4; i++) {
    std::thread([i] {
      const uint32_t id = Intern(("thread " + std::to_string(i)).c_str());
      for (;;) {
        Repeat(id, 1);
        counts[i]++;
        // Busy, but not so that the test measures how fast this machine writes to its disk.
        if (counts[i] % 100 == 0) std::this_thread::sleep_for(std::chrono::microseconds(100));
      }
    }).detach();
  }
  for (int i = 0; i < 4; i++) {
    while (counts[i] < 1000) std::this_thread::yield();
  }
  const std::string& how = arguments[0];
  if (how == "exit") exit(4);
  if (how == "_exit") _exit(4);
  if (how == "_Exit") _Exit(4);
  if (how == "quick_exit") quick_exit(4);
  syscall(SYS_exit_group, 4);
  return 5;
}

class RuntimeExit : public testing::TestWithParam<const char*> {};

TEST_P(RuntimeExit, WithThreadsThatGoOnRecording) {
  TracedRun run;
  ASSERT_EQ(run.Execute("exit_with_live_threads", {GetParam()}), 4);
  const trace::ProcessImage& process = run.ReadOne();
  EXPECT_GE(Enters(process), 4000u);
  const bool seen = std::string(GetParam()) != "exit_group";
  EXPECT_EQ(process.ended, seen ? trace::Ended::kExit : trace::Ended::kGone);
  if (seen && std::string(GetParam()) != "quick_exit") {
    EXPECT_EQ(process.exit_code, 4);
  }
}

INSTANTIATE_TEST_SUITE_P(Ways, RuntimeExit,
                         testing::Values("exit", "_exit", "_Exit", "quick_exit", "exit_group"),
                         [](const auto& way) { return std::string(way.param); });

PROGRAM(exit_in_signal_handler) {
  signal(SIGALRM, [](int) { _exit(9); });
  const uint32_t id = Intern("x");
  ualarm(3000, 0);
  for (;;) {
    std::string name = "name " + std::to_string(rand());
    Intern(name.c_str());  // holds the lock most of the time
    Repeat(id, 1);
  }
}

TEST(RuntimeFork, ExitFromASignalHandlerThatInterruptedUs) {
  for (int i = 0; i < 10; i++) {
    TracedRun run;
    ASSERT_EQ(run.Execute("exit_in_signal_handler"), 9);
    EXPECT_EQ(run.ReadOne().ended, trace::Ended::kExit);
  }
}

PROGRAM(fork_with_busy_threads) {
  static std::atomic<bool> stop;
  std::vector<std::thread> threads;
  for (int i = 0; i < 3; i++) {
    threads.emplace_back([] {
      const uint32_t id = Intern("busy");
      for (int n = 0; !stop; n++) {
        Repeat(id, 1);
        if (n % 64 == 0) Intern(("name " + std::to_string(n)).c_str());
      }
    });
  }
  int failed = 0;
  for (int i = 0; i < 20; i++) {
    const pid_t pid = fork();
    if (pid == 0) {
      Repeat(Intern("child"), 50);
      exit(0);
    }
    failed += TracedRun::Wait(pid) != 0;
  }
  stop = true;
  for (std::thread& thread : threads) thread.join();
  return failed;
}

TEST(RuntimeFork, ForkingBesideThreadsThatRecordAndIntern) {
  TracedRun run;
  ASSERT_EQ(run.Execute("fork_with_busy_threads"), 0);
  const trace::Directory& trace = run.Read();
  ASSERT_EQ(trace.processes().size(), 21u);
  for (const trace::ProcessImage& process : trace.processes()) {
    if (process.forked) {
      EXPECT_EQ(Enters(process), 50u);
    }
  }
  EXPECT_TRUE(trace.problems().empty());
}

}  // namespace
}  // namespace rlscope::test
