// The draining side against memory that holds anything: a traced program can scribble over its
// rings, and the drainer and the reader must live.
#include <fcntl.h>
#include <string.h>

#include <fstream>
#include <random>
#include <thread>

#include "base/page_guard.h"
#include "runtime_run.h"
#include "trace/drain/drain.h"
#include "trace/drain/ring_view.h"
#include "trace/write/sink.h"

namespace rlscope::test {
namespace {

namespace fs = std::filesystem;

PROGRAM(record_and_die) {
  const uint32_t id = Intern("x");
  for (int i = 0; i < 300; i++) Intern(("a name that is long enough " + std::to_string(i)).c_str());
  Repeat(id, 700);
  rlscope_record_value(trace::kProgressDone, 0, 1);
  rlscope_add_metadata("key", 3, "\"value\"", 7);
  const std::string large(60000, 'x');  // a second arena file
  rlscope_add_metadata("large", 5, large.data(), large.size());
  raise(SIGKILL);
  return 0;
}

PROGRAM(run_backwards_and_die) {
  const uint32_t id = Intern("x");
  Repeat(id, 10);
  for (int i = 0; i < 3; i++) {
    if (runtime::HasRoom()) runtime::Publish(trace::kOperationEnter, id, 1, 0);
  }
  raise(SIGKILL);
  return 0;
}

// Rings and pages of a process that was killed while nothing drained.
class KilledRun : public TracedRun {
 public:
  explicit KilledRun(const char* program = "record_and_die") : TracedRun({}, /*drain=*/false) {
    trace::ControlPage* const control = ClaimToDrain();
    trace::ReleaseControl(control);
    EXPECT_EQ(Execute(program), -SIGKILL);
    for (const auto& file : fs::directory_iterator(directory() + "/rings")) {
      const fs::path path = file.path();
      if (path.extension() == ".process") image_ = path.stem();
      if (path.filename() != "control") files_.push_back(path);
    }
  }

  const std::string& image() const { return image_; }
  const std::vector<std::string>& files() const { return files_; }
  std::string rings() const { return directory() + "/rings"; }

 private:
  std::string image_;
  std::vector<std::string> files_;
};

std::string ReadFile(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}
void WriteFile(const std::string& path, const std::string& bytes) {
  std::ofstream(path, std::ios::binary).write(bytes.data(), static_cast<long>(bytes.size()));
}

// Drains whatever is there; bytes written.
uint64_t DrainAll(const KilledRun& run, trace::DrainMode mode) {
  trace::DrainScratch* scratch = trace::NewDrainScratch();
  uint64_t bytes = 0;
  {
    trace::DrainImage image(scratch);
    trace::MemorySink sink;
    if (image.Open(run.rings().c_str(), run.image().c_str(), mode) == 0) {
      image.Drain(&sink, /*final=*/false);
      image.Drain(&sink, /*final=*/true);
      image.WriteEnd(&sink, {});
    }
    bytes = sink.bytes();
  }
  trace::FreeDrainScratch(scratch);
  return bytes;
}

TEST(RuntimeDrain, SalvageReadsWithoutChanging) {
  KilledRun run;
  ASSERT_EQ(run.files().size(), 3u);  // page, names, ring
  std::vector<std::string> before;
  for (const std::string& path : run.files()) before.push_back(ReadFile(path));
  const uint64_t first = DrainAll(run, trace::DrainMode::kSalvage);
  EXPECT_GT(first, 60000u);
  EXPECT_EQ(DrainAll(run, trace::DrainMode::kSalvage), first);
  for (size_t i = 0; i < before.size(); i++) EXPECT_EQ(ReadFile(run.files()[i]), before[i]);
  const trace::ProcessImage& process = run.ReadOne();
  EXPECT_EQ(CountKind(ReadItems(*process.trace, 0), trace::kOperationEnter), 700u);
}

TEST(RuntimeDrain, SalvageTellsOfTicksThatRanBackwards) {
  KilledRun run("run_backwards_and_die");
  EXPECT_EQ(LossOf(run.ReadOne(), "clamped"), 3u);
}

TEST(RuntimeDrain, TicksThatRanBackwardsOutliveTheirDrainer) {
  KilledRun run("run_backwards_and_die");
  DrainAll(run, trace::DrainMode::kConsume);
  EXPECT_EQ(LossOf(run.ReadOne(), "clamped"), 3u);
}

TEST(RuntimeDrain, ConsumingTwiceWritesRecordsOnce) {
  KilledRun run;
  const uint64_t first = DrainAll(run, trace::DrainMode::kConsume);
  const uint64_t second = DrainAll(run, trace::DrainMode::kConsume);
  EXPECT_LT(second, first);
  const trace::ProcessImage& process = run.ReadOne();
  EXPECT_EQ(process.trace->threads().size(), 1u);
  EXPECT_EQ(ReadItems(*process.trace, 0).size(), 0u);
}

PROGRAM(record_in_threads_and_die) {
  const uint32_t id = Intern("x");
  for (int i = 0; i < 3; i++) std::thread([id] { Repeat(id, 100); }).join();
  raise(SIGKILL);
  return 0;
}

class RuntimeDrainDamage : public testing::TestWithParam<const char*> {};

TEST_P(RuntimeDrainDamage, OfARingCostsItsOwnRecordsAlone) {
  KilledRun run("record_in_threads_and_die");
  const std::string ring = run.rings() + "/" + run.image() + ".1.ring";
  const std::string how = GetParam();
  if (how == "removed") fs::remove(ring);
  if (how == "cut short") fs::resize_file(ring, 100);
  if (how == "overwritten") WriteFile(ring, std::string(fs::file_size(ring), 'x'));
  const trace::Directory& trace = run.Read();
  ASSERT_EQ(trace.processes().size(), 1u);
  const trace::ProcessImage& process = trace.processes()[0];
  EXPECT_EQ(LossOf(process, "unreadable_file"), 1u);
  size_t enters = 0;
  for (size_t i = 0; i < process.trace->threads().size(); i++) {
    enters += CountKind(ReadItems(*process.trace, i), trace::kOperationEnter);
  }
  EXPECT_EQ(enters, 200u);
}

INSTANTIATE_TEST_SUITE_P(Ways, RuntimeDrainDamage,
                         testing::Values("removed", "cut short", "overwritten"));

TEST(RuntimeDrain, APageThatWasCutShortIsAProblem) {
  KilledRun run;
  fs::resize_file(run.rings() + "/" + run.image() + ".process", 0);
  const trace::Directory& trace = run.Read();
  ASSERT_EQ(trace.problems().size(), 1u);
  EXPECT_NE(trace.problems()[0].what.find("it was cut short"), std::string::npos);
}

TEST(RuntimeDrain, PagesThatAreGoneReadAsZerosUnderAGuard) {
  KilledRun run;
  const std::string ring = run.rings() + "/" + run.image() + ".1.ring";
  trace::RingView view;
  ASSERT_EQ(view.Open(ring.c_str(), /*number=*/1, /*writable=*/true), 0);
  const uint64_t before = base::PagesReplaced();
  fs::resize_file(ring, 0);
  {
    const base::PageGuard guard;
    EXPECT_EQ(view.tail(), 0u);
    view.MoveTail(5);
  }
  EXPECT_EQ(base::PagesReplaced(), before + 1);
  trace::RingRecord record;
  EXPECT_DEATH(view.Read(300, &record), "") << "another page, and no guard";
}

// Header fields are small and sit at the front, so half of the damage goes there.
void Damage(std::string* bytes, std::mt19937* random) {
  const auto number = [&](size_t below) {
    return std::uniform_int_distribution<size_t>(0, below - 1)(*random);
  };
  const uint64_t values[] = {0, 1, ~0ull, 1ull << 63, 4097, number(1u << 20)};
  for (size_t i = 0; i <= number(8); i++) {
    const size_t at = number(2) == 0 ? number(256) : number(bytes->size() - 8);
    const uint64_t value = values[number(6)];
    memcpy(bytes->data() + at, &value, number(2) == 0 ? 8 : 1);
  }
}

TEST(RuntimeDrain, SurvivesAnythingInRingsAndPages) {
  KilledRun run;
  std::vector<std::string> intact;
  for (const std::string& path : run.files()) intact.push_back(ReadFile(path));
  const unsigned seed = std::random_device()();
  std::mt19937 random(seed);
  for (int i = 0; i < 300; i++) {
    SCOPED_TRACE("round " + std::to_string(i) + " of seed " + std::to_string(seed));
    for (size_t file = 0; file < intact.size(); file++) {
      std::string bytes = intact[file];
      if (random() % 2 == 0) Damage(&bytes, &random);
      if (random() % 16 == 0) bytes.resize(random() % bytes.size());
      WriteFile(run.files()[file], bytes);
    }
    const auto mode = i % 2 == 0 ? trace::DrainMode::kConsume : trace::DrainMode::kSalvage;
    EXPECT_LT(DrainAll(run, mode), 64u << 20);
  }
}

}  // namespace
}  // namespace rlscope::test
