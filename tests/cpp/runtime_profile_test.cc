// rls.profile without a wrapper: the process drains itself with a helper thread.
#include <dirent.h>
#include <sys/wait.h>

#include <atomic>
#include <thread>

#include "runtime_run.h"

namespace rlscope::test {
namespace {

// RLSCOPE_DIR names the run of the wrapper; a profile has none at its start.
int Reexecute(const std::string& program, const std::string& directory) {
  const pid_t pid = fork();
  if (pid == 0) {
    unsetenv("RLSCOPE_DIR");
    execl("/proc/self/exe", "program", "--program", program.c_str(), directory.c_str(), nullptr);
    _exit(127);
  }
  return TracedRun::Wait(pid);
}

int CountThreads() {
  DIR* tasks = opendir("/proc/self/task");
  int count = 0;
  while (const struct dirent* entry = readdir(tasks)) count += entry->d_name[0] != '.';
  closedir(tasks);
  return count;
}

size_t Enters(const trace::ProcessImage& process) {
  size_t count = 0;
  if (process.trace == nullptr) return 0;
  for (size_t i = 0; i < process.trace->threads().size(); i++) {
    count += CountKind(ReadItems(*process.trace, i), trace::kOperationEnter);
  }
  return count;
}

PROGRAM(profile_once) {
  const uint32_t id = Intern("x");
  std::thread([] {}).join();  // with the first one ThreadSanitizer begins a thread of its own
  const int threads = CountThreads();
  Repeat(id, 10);  // before: not recorded
  if (rlscope_profile_begin(arguments[0].c_str()) != 0) return 1;
  if (rlscope_profile_begin(arguments[0].c_str()) != EALREADY) return 2;
  Repeat(id, 200000);
  rlscope_profile_end();
  Repeat(id, 10);  // after: not recorded
  if (CountThreads() != threads) return 3;
  return rlscope_initialize() == RLSCOPE_OFF ? 0 : 4;
}

TEST(RuntimeProfile, RecordsWhatIsInside) {
  TracedRun run({}, /*drain=*/false);
  ASSERT_EQ(Reexecute("profile_once", run.directory()), 0);
  const trace::ProcessImage& process = run.ReadOne();
  EXPECT_EQ(Enters(process), 200000u);
  EXPECT_EQ(process.ended, trace::Ended::kExit);
  EXPECT_TRUE(process.late_attach);
  EXPECT_GT(process.profiler_cpu_ns, 0);
  EXPECT_GT(process.exit_flush_ns, 0) << "the program waits for the helper that writes its records";
  EXPECT_EQ(run.FilesLeft(".ring"), 0u);
}

PROGRAM(profile_late) {
  usleep(50000);
  if (rlscope_profile_begin(arguments[0].c_str()) != 0) return 1;
  rlscope_profile_end();
  return 0;
}

TEST(RuntimeProfile, KnowsTheAgeThatItsProcessHad) {
  constexpr int64_t kSleptNs = 50000000, kRoundedNs = 10000000;
  TracedRun run({}, /*drain=*/false);
  const int64_t start_ns = base::ReadMonotonicNs();
  ASSERT_EQ(Reexecute("profile_late", run.directory()), 0);
  const trace::ProcessImage& process = run.ReadOne();
  EXPECT_GE(process.late_attach_ns, kSleptNs);
  EXPECT_LE(process.late_attach_ns, process.began_ns - start_ns + kRoundedNs);
}

PROGRAM(profile_left_open) {
  if (rlscope_profile_begin(arguments[0].c_str()) != 0) return 1;
  Repeat(Intern("x"), 1000);
  return 0;
}

TEST(RuntimeProfile, IsClosedByTheEndOfTheProcess) {
  TracedRun run({}, /*drain=*/false);
  ASSERT_EQ(Reexecute("profile_left_open", run.directory()), 0);
  const trace::ProcessImage& process = run.ReadOne();
  EXPECT_EQ(Enters(process), 1000u);
  EXPECT_EQ(run.FilesLeft(".ring"), 0u);
}

PROGRAM(profile_and_fork) {
  if (rlscope_profile_begin(arguments[0].c_str()) != 0) return 1;
  const uint32_t id = Intern("x");
  for (int i = 0; i < 10; i++) {
    Repeat(id, 100);
    const pid_t pid = fork();
    if (pid == 0) {
      // Python warns when a fork child's parent had threads: the helper is gone by then.
      if (CountThreads() != 1 && !kThreadSanitizer) _exit(9);
      Repeat(id, 7);
      exit(0);
    }
    if (TracedRun::Wait(pid) != 0) return 2;
  }
  Repeat(id, 100);
  rlscope_profile_end();
  return 0;
}

TEST(RuntimeProfile, TheHelperIsAwayDuringAForkAndComesBack) {
  TracedRun run({}, /*drain=*/false);
  ASSERT_EQ(Reexecute("profile_and_fork", run.directory()), 0);
  const trace::Directory& trace = run.Read();
  ASSERT_EQ(trace.processes().size(), 11u);
  for (const trace::ProcessImage& process : trace.processes()) {
    EXPECT_EQ(Enters(process), process.forked ? 7u : 1100u);
  }
  EXPECT_EQ(run.FilesLeft(".ring"), 0u);
}

PROGRAM(profile_again_and_again) {
  static std::atomic<bool> stop;
  std::thread other([] {
    const uint32_t id = Intern("other");
    while (!stop) {
      Repeat(id, 1);
      std::this_thread::sleep_for(std::chrono::microseconds(20));
    }
  });
  int failed = 0;
  for (int i = 0; i < 5; i++) {
    const std::string directory = arguments[0] + "/" + std::to_string(i);
    std::filesystem::create_directory(directory);
    failed += rlscope_profile_begin(directory.c_str()) != 0;
    Repeat(Intern("x"), 5000);
    rlscope_profile_end();
  }
  stop = true;
  other.join();
  return failed;
}

TEST(RuntimeProfile, SessionsOfOneProcessAreTracesOfTheirOwn) {
  TracedRun run({}, /*drain=*/false);
  ASSERT_EQ(Reexecute("profile_again_and_again", run.directory()), 0);
  for (int i = 0; i < 5; i++) {
    std::unique_ptr<trace::Directory> trace;
    const std::string directory = run.directory() + "/" + std::to_string(i);
    ASSERT_TRUE(trace::Directory::Open(directory, "", &trace).ok());
    ASSERT_EQ(trace->processes().size(), 1u);
    EXPECT_GE(Enters(trace->processes()[0]), 5000u);
    EXPECT_TRUE(trace->problems().empty());
  }
}

// Nothing paces the threads: wherever a session begins or ends, they are inside the recorder.
PROGRAM(profile_beside_busy_threads) {
  static std::atomic<bool> stop;
  std::vector<std::thread> threads;
  for (int i = 0; i < 3; i++) {
    threads.emplace_back([i] {
      const uint32_t id = Intern("busy");
      for (int n = 0; !stop; n++) {
        Repeat(id, 1);
        if (n % 64 == 0) Intern(std::to_string(n % 4096 + i).c_str());
        if (n % 256 == 0) rlscope_set_thread_name("busy", 4);
        if (n % 512 == 0) rlscope_add_metadata("n", 1, "1", 1);
      }
    });
  }
  int failed = 0;
  for (int i = 0; i < 20; i++) {
    const std::string directory = arguments[0] + "/" + std::to_string(i);
    std::filesystem::create_directory(directory);
    failed += rlscope_profile_begin(directory.c_str()) != 0;
    rlscope_stop();
    rlscope_start();
    Repeat(Intern("x"), 100);
    usleep(static_cast<useconds_t>(i * 200));
    rlscope_profile_end();
  }
  stop = true;
  for (std::thread& thread : threads) thread.join();
  return failed;
}

TEST(RuntimeProfile, SessionsBeginAndEndBesideThreadsThatNeverPause) {
  TracedRun run({}, /*drain=*/false);
  ASSERT_EQ(Reexecute("profile_beside_busy_threads", run.directory()), 0);
  for (int i = 0; i < 20; i++) {
    std::unique_ptr<trace::Directory> trace;
    const std::string directory = run.directory() + "/" + std::to_string(i);
    ASSERT_TRUE(trace::Directory::Open(directory, "", &trace).ok());
    ASSERT_EQ(trace->processes().size(), 1u);
    EXPECT_TRUE(trace->problems().empty()) << trace->problems()[0].what;
    ASSERT_NE(trace->processes()[0].trace, nullptr);
    EXPECT_EQ(trace->processes()[0].trace->missing_slots(), 0u);
  }
}

PROGRAM(profile_refused) {
  return rlscope_profile_begin(arguments[0].c_str()) == EEXIST &&
                 rlscope_initialize() == RLSCOPE_OFF
             ? 0
             : 1;
}

TEST(RuntimeProfile, ADirectoryThatHoldsARunIsRefused) {
  TracedRun run;
  EXPECT_EQ(Reexecute("profile_refused", run.directory()), 0);
}

}  // namespace
}  // namespace rlscope::test
