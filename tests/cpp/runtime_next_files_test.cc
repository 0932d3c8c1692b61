// A drainer that closes its files and goes on in others, while processes record.
#include <atomic>
#include <fstream>
#include <thread>

#include "base/clock.h"
#include "runtime_run.h"

namespace rlscope::test {
namespace {

namespace fs = std::filesystem;

constexpr int kOperations = 20000;

// Two threads, one of which records hardly anything: its ring is never half full.
PROGRAM(record_and_wait) {
  const uint32_t id = Intern("x");
  std::thread idle([id] { Repeat(id, 3); });
  idle.join();
  Repeat(id, kOperations);
  while (!fs::exists(arguments[0])) usleep(1000);
  Repeat(id, kOperations);
  return 0;
}

// Waits until the drainer has begun other files, after now.
void BeginNextFiles(trace::DrainDirectory* drainer) {
  const int64_t now = base::ReadMonotonicNs();
  drainer->BeginNextFiles();
  for (int i = 0; i < 100000 && drainer->stats().flushed_ns < now; i++) usleep(1000);
  ASSERT_GE(drainer->stats().flushed_ns, now);
}

uint64_t CountEnters(const trace::ProcessTrace& process) {
  uint64_t count = 0;
  for (size_t i = 0; i < process.threads().size(); i++) {
    count += CountKind(ReadItems(process, i), trace::kOperationEnter);
  }
  return count;
}

TEST(RuntimeNextFiles, HoldWhatWasRecordedUntilThen) {
  TracedRun run;
  const std::string go_on = run.directory() + "/go_on";
  const pid_t pid = run.Spawn("record_and_wait", {go_on});
  uint64_t in_files = 0;
  for (int i = 0; i < 1000 && in_files != kOperations + 3; i++) {
    BeginNextFiles(&run.drainer());
    std::unique_ptr<trace::Directory> directory;  // without rings
    const std::string folder = run.directory() + "/trace";
    if (!trace::Directory::Open(run.directory(), folder, &directory).ok()) continue;
    const trace::ProcessImage& process = directory->processes().front();
    if (process.trace == nullptr) continue;
    in_files = CountEnters(*process.trace);
  }
  EXPECT_EQ(in_files, kOperations + 3u);
  std::ofstream(go_on) << "1";
  BeginNextFiles(&run.drainer());
  EXPECT_EQ(TracedRun::Wait(pid), 0);
  const trace::ProcessImage& process = run.ReadOne();
  const trace::ProcessTrace& trace = *process.trace;
  EXPECT_EQ(CountEnters(trace), 2 * kOperations + 3u - LossOf(process, "ring_full"));
  EXPECT_GT(trace.files().size(), 1u);
  for (const auto& file : trace.files()) EXPECT_TRUE(file->is_closed()) << file->path();
  EXPECT_EQ(trace.duplicate_chunks(), 0u);
  EXPECT_EQ(trace.missing_slots(), 0u);
}

TEST(RuntimeNextFiles, AProcessThatRecordedNothingMoreHasNoFurtherFile) {
  TracedRun run;
  const std::string go_on = run.directory() + "/go_on";
  const pid_t pid = run.Spawn("record_and_wait", {go_on});
  while (run.drainer().stats().drain.events < kOperations + 3) BeginNextFiles(&run.drainer());
  const size_t files = run.FilesLeft(".rls");
  for (int i = 0; i < 5; i++) BeginNextFiles(&run.drainer());
  EXPECT_LE(run.FilesLeft(".rls"), files + 1);
  std::ofstream(go_on) << "1";
  EXPECT_EQ(TracedRun::Wait(pid), 0);
}

}  // namespace
}  // namespace rlscope::test
