// A run for tests of the recorder: a trace directory with a real drainer, real child processes
// that record into it through librlscope.so, and the real reader for what came of it.
//
//   PROGRAM(counts) { ... return 0; }          // runs in a child process
//   TEST(Recorder, Keeps) { TracedRun run; EXPECT_EQ(run.Execute("counts"), 0); ... run.Read() ...
//   }
//
// A child is this binary again (fork and exec), so its constructor sees RLSCOPE_DIR.
#ifndef RLSCOPE_TESTS_CPP_RUNTIME_RUN_H_
#define RLSCOPE_TESTS_CPP_RUNTIME_RUN_H_

#include <gtest/gtest.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include <filesystem>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "runtime/hot.h"
#include "runtime/rlscope.h"
#include "trace/directory/directory.h"
#include "trace/drain/drain_directory.h"
#include "trace/read/cursor.h"

namespace rlscope::test {

#ifdef __SANITIZE_THREAD__
constexpr bool kThreadSanitizer = true;
// Forking beside threads and starting some in the child is what these tests do.
extern "C" const char* __tsan_default_options() { return "die_after_fork=0"; }
// The helper's descriptors are in a table of its own; ThreadSanitizer knows of one per process.
extern "C" const char* __tsan_default_suppressions() { return "race:ImageFile::OpenDescriptor\n"; }
#else
constexpr bool kThreadSanitizer = false;
#endif

using Program = int (*)(const std::vector<std::string>& arguments);

inline std::map<std::string, Program>& Programs() {
  static std::map<std::string, Program> programs;
  return programs;
}

#define PROGRAM(name)                                                                      \
  int name(const std::vector<std::string>& arguments);                                     \
  const bool name##_registered = ::rlscope::test::Programs().emplace(#name, &name).second; \
  int name([[maybe_unused]] const std::vector<std::string>& arguments)

// One record as the reader gives it.
struct Item {
  uint32_t kind;
  uint32_t id;
  int64_t time_ns;
  uint64_t value;  // of kinds with two slots
};

inline std::vector<Item> ReadItems(const trace::ProcessTrace& process, size_t thread) {
  std::vector<Item> items;
  trace::ThreadCursor cursor(process, thread);
  while (const trace::CpuBatch* batch = cursor.Next()) {
    uint32_t value = 0;
    for (uint32_t i = 0; i < batch->count; i++) {
      Item item = {trace::WhatKind(batch->what[i]), trace::WhatId(batch->what[i]),
                   batch->time_ns[i], 0};
      if (trace::HasTwoSlots(item.kind)) item.value = batch->value[value++];
      items.push_back(item);
    }
  }
  return items;
}

inline size_t CountKind(const std::vector<Item>& items, uint32_t kind) {
  size_t count = 0;
  for (const Item& item : items) count += item.kind == kind;
  return count;
}

inline uint64_t LossOf(const trace::ProcessImage& process, const std::string& kind) {
  if (process.trace == nullptr || process.trace->end() == nullptr) return 0;
  for (const auto& [name, count] : process.trace->end()->losses) {
    if (name == kind) return count;
  }
  return 0;
}

class TracedRun {
 public:
  explicit TracedRun(const trace::DrainOptions& options = {}, bool drain = true) {
    char path[] = "/tmp/rlscope-test-XXXXXX";
    directory_ = mkdtemp(path);
    if (drain) Start(options);
  }
  ~TracedRun() {
    drainer_.reset();
    std::filesystem::remove_all(directory_);
  }
  TracedRun(const TracedRun&) = delete;
  TracedRun& operator=(const TracedRun&) = delete;

  void Start(const trace::DrainOptions& options) {
    drainer_ = std::make_unique<trace::DrainDirectory>();
    ASSERT_EQ(drainer_->Start(directory_.c_str(), nullptr, options), 0);
  }
  trace::DrainDirectory& drainer() { return *drainer_; }
  void Stop() {
    if (drainer_ != nullptr) drainer_->Stop();
  }

  // The control page of a drainer that this process says to be: nothing is drained unless it does
  // so itself. The caller releases it.
  trace::ControlPage* ClaimToDrain() const {
    trace::ControlPage* control = nullptr;
    EXPECT_EQ(trace::CreateControl(directory_.c_str(), nullptr, {}, &control), 0);
    control->drainer_pid = static_cast<uint32_t>(getpid());
    control->heartbeat_ns = INT64_MAX / 2;  // in the future: never too old
    return control;
  }

  pid_t Spawn(const std::string& program, const std::vector<std::string>& arguments = {}) {
    const pid_t pid = fork();
    if (pid == 0) {
      setenv("RLSCOPE_DIR", directory_.c_str(), 1);
      std::vector<std::string> words = {"program", "--program", program};
      words.insert(words.end(), arguments.begin(), arguments.end());
      std::vector<char*> argv;
      for (std::string& word : words) argv.push_back(word.data());
      argv.push_back(nullptr);
      execv("/proc/self/exe", argv.data());
      _exit(127);
    }
    return pid;
  }

  // Exit code, or minus the signal.
  static int Wait(pid_t pid) {
    int status = 0;
    if (waitpid(pid, &status, 0) != pid) return 1000;
    return WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status);
  }

  int Execute(const std::string& program, const std::vector<std::string>& arguments = {}) {
    return Wait(Spawn(program, arguments));
  }

  // Stops the drainer and opens the trace.
  const trace::Directory& Read() {
    Stop();
    const base::Status status = trace::Directory::Open(directory_, "", &trace_);
    if (!status.ok()) ADD_FAILURE() << status.message();
    return *trace_;
  }

  // The only process of the run, without any damage; `torn_frames`: but for what a drainer that
  // was killed was writing.
  const trace::ProcessImage& ReadOne(bool torn_frames = false) {
    const trace::Directory& trace = Read();
    EXPECT_EQ(trace.processes().size(), 1u);
    for (const trace::Problem& problem : trace.problems()) {
      EXPECT_TRUE(torn_frames && (problem.what == "cut off or damaged" ||
                                  problem.what.find(" is empty") != std::string::npos))
          << problem.what;
    }
    return trace.processes().front();
  }

  const std::string& directory() const { return directory_; }
  size_t FilesLeft(const std::string& suffix) const {
    size_t count = 0;
    for (const auto& file : std::filesystem::recursive_directory_iterator(directory_)) {
      const std::string name = file.path().filename();
      count += name.size() >= suffix.size() &&
               name.compare(name.size() - suffix.size(), suffix.size(), suffix) == 0;
    }
    return count;
  }

 private:
  std::string directory_;
  std::unique_ptr<trace::DrainDirectory> drainer_;
  std::unique_ptr<trace::Directory> trace_;
};

inline uint32_t Intern(const char* text) {
  return rlscope_intern_name(static_cast<uint32_t>(trace::EntryKind::kOperationName), 0, text,
                             std::char_traits<char>::length(text));
}

inline void Enter(uint32_t id) {
  if (runtime::IsRecording()) runtime::Write(trace::kOperationEnter, id);
}
inline void Exit(uint32_t id) {
  if (runtime::IsRecording()) runtime::Write(trace::kOperationExit, id);
}
inline void Repeat(uint32_t id, int times) {
  for (int i = 0; i < times; i++) {
    Enter(id);
    Exit(id);
  }
}

}  // namespace rlscope::test

// Overrides gtest_main's.
int main(int count, char** words) {
  if (count >= 3 && std::string(words[1]) == "--program") {
    const auto program = rlscope::test::Programs().find(words[2]);
    if (program == rlscope::test::Programs().end()) return 126;
    return program->second(std::vector<std::string>(words + 3, words + count));
  }
  testing::InitGoogleTest(&count, words);
  return RUN_ALL_TESTS();
}

#endif  // RLSCOPE_TESTS_CPP_RUNTIME_RUN_H_
