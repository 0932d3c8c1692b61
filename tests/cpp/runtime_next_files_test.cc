// A drainer that closes its files and goes on in others, while processes record.
#include <atomic>
#include <fstream>
#include <thread>

#include "base/clock.h"
#include "runtime/native_call.h"
#include "runtime/open_wait.h"
#include "runtime_run.h"
#include "trace/layout/layer.h"

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

// A thread waits until it may go on; one more operation says that it does.
PROGRAM(wait_to_go_on) {
  const auto layer = static_cast<uint32_t>(trace::Layer::kWait);
  const auto kind = static_cast<uint32_t>(trace::EntryKind::kFunctionName);
  const uint32_t word =
      trace::MakeWord(trace::kCall, rlscope_intern_name(kind, layer, "queue", 5), 0);
  Repeat(Intern("x"), 1);
  if (!runtime::IsRecording() || !runtime::HasRoom()) return 1;
  const uint32_t generation = runtime::Load(rlscope_process.generation);
  runtime::BeginCall(&rlscope_self, word, runtime::ReadTicks());
  runtime::ShowOpenWait(rlscope_self);
  std::ofstream(arguments[0]) << "1";
  while (!fs::exists(arguments[1])) usleep(1000);
  runtime::HideOpenWait(rlscope_self, generation);
  runtime::EndCall(&rlscope_self, generation, runtime::ReadTicks());
  Repeat(Intern("x"), 1);
  return 0;
}

uint64_t CountWaits(const trace::ProcessTrace& process) {
  const std::vector<Item> items = ReadItems(process, 0);
  return CountKind(items, trace::kCallBegin) + CountKind(items, trace::kCall);
}

TEST(RuntimeNextFiles, HoldTheBeginOfAWaitThatIsFoundOpenTwice) {
  TracedRun run;
  const std::string waits = run.directory() + "/waits", go_on = run.directory() + "/go_on";
  const std::string folder = run.directory() + "/trace";
  const pid_t pid = run.Spawn("wait_to_go_on", {waits, go_on});
  while (!fs::exists(waits)) usleep(1000);
  for (uint64_t times = 1; times <= 4; times++) {
    BeginNextFiles(&run.drainer());
    std::unique_ptr<trace::Directory> directory;  // without rings
    ASSERT_TRUE(trace::Directory::Open(run.directory(), folder, &directory).ok());
    EXPECT_EQ(CountWaits(*directory->processes().front().trace), times == 1 ? 0u : 1u) << times;
  }
  const size_t files = run.FilesLeft(".rls");
  std::ofstream(go_on) << "1";
  EXPECT_EQ(TracedRun::Wait(pid), 0);
  const trace::ProcessTrace& trace = *run.ReadOne().trace;
  EXPECT_EQ(CountWaits(trace), 1u);
  EXPECT_EQ(trace.CountEvents().Sum(), 3u);
  EXPECT_EQ(run.drainer().stats().drain.events, 3u);
  EXPECT_EQ(trace.duplicate_chunks(), 1u);
  EXPECT_EQ(trace.missing_slots(), 0u);
  EXPECT_LE(files, 3u);  // nothing else was recorded
}

}  // namespace
}  // namespace rlscope::test
