// A thread's records stay in order whatever rings it goes through, and whenever the drainer learns
// of them.
#include <fcntl.h>
#include <sys/mman.h>

#include <atomic>
#include <fstream>
#include <thread>

#include "runtime_run.h"
#include "trace/drain/drain.h"
#include "trace/format/frame.h"
#include "trace/write/sink.h"

namespace rlscope::test {
namespace {

// A mapped counter by which the test leads the traced process from step to step.
struct Steps {
  std::atomic<int> allowed;
  std::atomic<int> done;

  static Steps* Map(const std::string& path) {
    const int descriptor = open(path.c_str(), O_RDWR | O_CREAT, 0600);
    EXPECT_EQ(ftruncate(descriptor, sizeof(Steps)), 0);
    void* address = mmap(nullptr, sizeof(Steps), PROT_READ | PROT_WRITE, MAP_SHARED, descriptor, 0);
    close(descriptor);
    return static_cast<Steps*>(address);
  }
  // The traced process: waits until it may do `step`, and says that it did.
  template <typename Work>
  void Do(int step, Work work) {
    while (allowed < step) usleep(100);
    work();
    done = step;
  }
  // The test: lets the process do `step`.
  void Allow(int step) {
    allowed = step;
    while (done < step) usleep(100);
  }
};

// Two slots each: more than a first ring of 4,096 takes.
constexpr uint64_t kGrows = 2100;

void RecordNumbers(uint64_t first, uint64_t count) {
  for (uint64_t i = 0; i < count; i++) rlscope_record_value(trace::kProgressDone, 0, first + i);
}

// The last thread begins in ring 4, which is new, and goes on in ring 2, which was used before.
PROGRAM(grow_into_an_older_ring) {
  Steps* steps = Steps::Map(arguments[0]);
  const uint32_t x = Intern("x");
  const auto wait_for_ever = [] {
    for (;;) pause();
  };
  steps->Do(1, [] { std::thread([] { RecordNumbers(0, kGrows); }).join(); });  // rings 1 and 2
  std::atomic<bool> end_second{false};
  std::thread first, second, third;
  const auto record_once = [&](std::thread* thread, bool stays) {
    std::atomic<bool> recorded{false};
    *thread = std::thread([&recorded, &end_second, x, stays, wait_for_ever] {
      Repeat(x, 1);
      recorded = true;
      if (stays) wait_for_ever();
      while (!end_second) usleep(100);
    });
    while (!recorded) usleep(100);
  };
  steps->Do(2, [&] {
    record_once(&first, /*stays=*/true);    // ring 1
    record_once(&second, /*stays=*/false);  // ring 2
    record_once(&third, /*stays=*/true);    // ring 3
    end_second = true;
    second.join();
  });
  std::thread([steps] {
    steps->Do(3, [] { RecordNumbers(0, 10); });       // ring 4: nothing else is free
    steps->Do(4, [] { RecordNumbers(10, kGrows); });  // ring 2 is free meanwhile
    for (;;) pause();
  }).join();
  return 0;
}

// Keeps what it is given, and reports every CpuChunk before it does.
class WatchedSink : public trace::Sink {
 public:
  explicit WatchedSink(std::function<void(int chunk)> watch)
      : Sink(&WatchedSink::AppendTo), watch_(std::move(watch)) {}
  const std::string& data() const { return data_; }

 private:
  static int AppendTo(Sink* base, struct iovec* pieces, int count) {
    auto* sink = static_cast<WatchedSink*>(base);
    const auto* header = static_cast<const trace::FrameHeader*>(pieces[0].iov_base);
    if (header->type == static_cast<uint16_t>(trace::FrameType::kCpu))
      sink->watch_(++sink->chunks_);
    for (int i = 0; i < count; i++) {
      sink->data_.append(static_cast<const char*>(pieces[i].iov_base), pieces[i].iov_len);
    }
    return 0;
  }

  std::function<void(int)> watch_;
  std::string data_;
  int chunks_ = 0;
};

// A run whose rings this test drains, when it wants to.
class HandDrainedRun : public TracedRun {
 public:
  HandDrainedRun() : TracedRun({}, /*drain=*/false) { control_ = ClaimToDrain(); }
  ~HandDrainedRun() {
    Kill();
    trace::ReleaseControl(control_);
  }

  void Begin(const std::string& program, const std::vector<std::string>& arguments) {
    pid_ = Spawn(program, arguments);
  }
  void Kill() {
    if (pid_ <= 0) return;
    kill(pid_, SIGKILL);
    EXPECT_EQ(TracedRun::Wait(pid_), -SIGKILL);
    pid_ = 0;
  }

  std::string rings() const { return directory() + "/rings"; }
  std::string Image() const {
    for (const auto& file : std::filesystem::directory_iterator(rings())) {
      if (file.path().extension() == ".process") return file.path().stem();
    }
    return "";
  }
  void Keep(const std::string& bytes) const {
    std::ofstream(directory() + "/trace/host.1.2.0.rls", std::ios::binary) << bytes;
  }

 private:
  trace::ControlPage* control_ = nullptr;
  pid_t pid_ = 0;
};

std::vector<uint64_t> NumbersOfLastThread(const trace::ProcessTrace& process) {
  std::vector<uint64_t> numbers;
  for (const Item& item : ReadItems(process, process.threads().size() - 1)) {
    if (item.kind == trace::kProgressDone) numbers.push_back(item.value);
  }
  return numbers;
}

// The drainer looks for new rings when a pass begins. In its pass, ring 4 appears while ring 1 is
// written; ring 2 is emptied and becomes free; the thread of ring 4 takes it while ring 3 is
// written. Then ring 2 has records that follow those of a ring the drainer has not seen.
TEST(RuntimeRingOrder, AnOlderRingWaitsForANewOneThatWasNotSeenYet) {
  HandDrainedRun run;
  Steps* steps = Steps::Map(run.directory() + "/steps");
  run.Begin("grow_into_an_older_ring", {run.directory() + "/steps"});
  steps->Allow(1);

  trace::DrainScratch* scratch = trace::NewDrainScratch();
  {
    trace::DrainImage image(scratch);
    int first_chunk = INT32_MAX;
    WatchedSink sink([&](int chunk) {
      if (chunk == first_chunk) steps->Allow(3);
      if (chunk == first_chunk + 2) steps->Allow(4);
    });
    ASSERT_EQ(image.Open(run.rings().c_str(), run.Image().c_str(), trace::DrainMode::kConsume), 0);
    ASSERT_TRUE(image.Drain(&sink, /*final=*/false));
    ASSERT_EQ(image.stats().rings, 2u);
    steps->Allow(2);
    first_chunk = static_cast<int>(image.stats().chunks) + 1;
    ASSERT_TRUE(image.Drain(&sink, /*final=*/true));
    ASSERT_EQ(steps->done, 4);
    run.Kill();
    ASSERT_TRUE(image.Drain(&sink, /*final=*/true));
    EXPECT_EQ(image.stats().rings, 4u);
    run.Keep(sink.data());
    image.RemoveFiles();
  }
  trace::FreeDrainScratch(scratch);
  munmap(steps, sizeof *steps);

  const trace::ProcessImage& process = run.ReadOne();
  ASSERT_EQ(process.trace->threads().size(), 5u);
  const std::vector<uint64_t> numbers = NumbersOfLastThread(*process.trace);
  ASSERT_EQ(numbers.size(), 10u + kGrows);
  for (uint64_t i = 0; i < numbers.size(); i++) ASSERT_EQ(numbers[i], i);
  EXPECT_EQ(LossOf(process, "clamped"), 0u);
}

}  // namespace
}  // namespace rlscope::test
