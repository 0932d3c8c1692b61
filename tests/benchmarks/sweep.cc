// Sweep of a made-up RL training loop, against a textbook priority-queue sweep of the same events
// in the same run, from memory and from a trace file. Prints JSON; sweep.py builds and runs it.
//
//   sweep EVENTS ROUNDS FOLDER        FOLDER: where the trace file may lie, and where the events go
//                                     as raw columns, for sweep_peers.py
//   sweep SMALL LARGE ROUNDS FOLDER   two sizes by turns
//   sweep FILE END_NS                 sweeps that trace file, everything on, and prints its memory
#include "analysis/sweep/sweep.h"

#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <map>
#include <memory>
#include <string>
#include <thread>
#include <unordered_map>
#include <utility>
#include <vector>

#include "analysis/sweep/trace_source.h"
#include "textbook_sweep.h"
#include "trace/read/process_trace.h"
#include "training_file.h"
#include "training_input.h"
#include "training_loop.h"

namespace rlscope::benchmarks {
namespace {

double CpuSeconds() {
  struct timespec now;
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return now.tv_sec + now.tv_nsec * 1e-9;
}

constexpr analysis::SweepOptions kProcessView = {false, false, 0, true, false};
constexpr analysis::SweepOptions kEverything = {true, true, 2000, true, false};
// As the relations need it: records by row, too.
constexpr analysis::SweepOptions kWithRecords = {true, true, 2000, true, true};

int64_t SweepFile(const std::string& path, int64_t end_ns, const analysis::SweepOptions& options) {
  std::unique_ptr<trace::ProcessTrace> process;
  const base::Status status = trace::OpenProcessFile(path, &process);
  if (!status.ok()) Check(1, status.message());
  const int64_t unknown = analysis::ProcessInput::kUnknownTime;
  const auto input = analysis::MakeInput(*process, kStartNs, end_ns, unknown, unknown);
  return static_cast<int64_t>(analysis::Sweep(input, options)->keys);
}

// Both sweeps must find the same times, per operation, layer and GPU state.
void CheckSame(const std::unordered_map<uint32_t, int64_t>& textbook,
               const analysis::SweepResult& result) {
  std::map<std::pair<std::string, uint32_t>, int64_t> expected, found;
  for (const auto& [key, ns] : textbook) {
    const char* name = key >> 4 == 0 ? "(none)" : kOperations[(key >> 4) - 1];
    expected[{name, key & 15}] += ns;
  }
  for (const analysis::BreakdownRow& row : result.process.rows().slots()) {
    if (row.key == 0) continue;
    const uint32_t path = analysis::PathOfRow(row.row());
    const uint32_t state = analysis::LayerOfRow(row.row()) << 1 | analysis::IsBusyRow(row.row());
    found[{result.paths.name(path), state}] += row.duration_ns;
  }
  // The textbook stops at the last boundary, the sweep at the end of the process.
  int64_t difference_ns = 0;
  for (const auto& [key, ns] : found) difference_ns += std::abs(ns - expected[key]);
  if (difference_ns > 2000000) Check(1, "the two sweeps differ");
}

int64_t AnonymousKib() {
  FILE* file = fopen("/proc/self/status", "r");
  Check(file == nullptr, "/proc/self/status");
  char line[256];
  long long kib = 0;
  while (fgets(line, sizeof line, file) != nullptr) sscanf(line, "RssAnon: %lld", &kib);
  fclose(file);
  return kib;
}

// Memory beside the mapped file, looked at every millisecond in a process that does nothing else.
int MeasureMemory(const std::string& path, int64_t end_ns) {
  std::atomic<bool> done{false};
  int64_t most_kib = 0;
  std::thread sampler([&] {
    while (!done) {
      most_kib = std::max(most_kib, AnonymousKib());
      usleep(1000);
    }
  });
  SweepFile(path, end_ns, kWithRecords);
  done = true;
  sampler.join();
  printf("{\"anonymous_kib\": %lld}\n", static_cast<long long>(most_kib));
  return 0;
}

// One training loop in memory and in a file, and the CPU seconds of everything run over it.
class Measured {
 public:
  Measured(size_t events, const std::string& path)
      : path_(path), made_(events), process_(MakeProcess(made_, MakeNames())) {
    FileWriter(path).Write(made_, MakeNames());
  }

  const TrainingLoop& made() const { return made_; }

  void RunTextbook() {
    Time("textbook", [this] { TextbookSweep(made_.streams()).Run(); });
  }
  void RunSweeps() {
    Time("process_view", [this] { Sweep(*process_->input(), kProcessView); });
    Time("everything", [this] { Sweep(*process_->input(), kEverything); });
    Time("with_records", [this] { Sweep(*process_->input(), kWithRecords); });
    Time("file_process_view", [this] { SweepFile(path_, made_.end_ns(), kProcessView); });
    Time("file_everything", [this] { SweepFile(path_, made_.end_ns(), kEverything); });
    Time("file_with_records", [this] { SweepFile(path_, made_.end_ns(), kWithRecords); });
  }
  std::unique_ptr<analysis::SweepResult> Result() {
    return Sweep(*process_->input(), kProcessView);
  }

  // Members of a JSON object, the seconds in the order of the rounds.
  void Print() const {
    printf("\"events\": %zu, \"end_ns\": %lld, \"seconds\": {", made_.events(),
           static_cast<long long>(made_.end_ns()));
    const char* comma = "";
    for (const auto& [what, all] : seconds_) {
      printf("%s\"%s\": [", comma, what.c_str());
      for (size_t i = 0; i < all.size(); ++i) printf(i == 0 ? "%.6f" : ", %.6f", all[i]);
      printf("]");
      comma = ", ";
    }
    printf("}");
  }

 private:
  template <class Function>
  void Time(const char* what, Function function) {
    const double begin = CpuSeconds();
    function();
    seconds_[what].push_back(CpuSeconds() - begin);
  }

  const std::string path_;
  const TrainingLoop made_;
  const std::unique_ptr<analysis::MemoryProcess> process_;
  std::map<std::string, std::vector<double>> seconds_;
};

void PrintStates(const std::unordered_map<uint32_t, int64_t>& states) {
  printf("\"states\": {");
  const char* comma = "";
  for (const auto& [state, ns] : states) {
    if (ns == 0) continue;
    printf("%s\"%u\": %lld", comma, state, static_cast<long long>(ns));
    comma = ", ";
  }
  printf("}");
}

int CompareToTextbook(size_t events, int rounds, const std::string& folder) {
  Measured measured(events, folder + "/sweep_benchmark.rls");
  const auto textbook = TextbookSweep(measured.made().streams()).Run();
  CheckSame(textbook, *measured.Result());
  WriteColumns(folder, measured.made().streams());
  for (int i = 0; i < rounds; ++i) {
    measured.RunTextbook();
    measured.RunSweeps();
  }
  printf("{");
  measured.Print();
  printf(", ");
  PrintStates(textbook);
  printf("}\n");
  return 0;
}

int CompareSizes(size_t small_events, size_t large_events, int rounds, const std::string& folder) {
  Measured small(small_events, folder + "/sweep_small.rls");
  Measured large(large_events, folder + "/sweep_large.rls");
  for (int i = 0; i < rounds; ++i) {
    small.RunSweeps();
    large.RunSweeps();
  }
  printf("{\"small\": {");
  small.Print();
  printf("}, \"large\": {");
  large.Print();
  printf("}}\n");
  return 0;
}

}  // namespace
}  // namespace rlscope::benchmarks

int main(int argc, char** argv) {
  using namespace rlscope::benchmarks;
  const auto number = [argv](int at) { return strtoull(argv[at], nullptr, 10); };
  const int rounds = argc > 2 ? atoi(argv[argc - 2]) : 0;
  if (argc == 3) return MeasureMemory(argv[1], static_cast<int64_t>(number(2)));
  if (argc == 4) return CompareToTextbook(number(1), rounds, argv[3]);
  if (argc == 5) return CompareSizes(number(1), number(2), rounds, argv[4]);
  fprintf(
      stderr,
      "usage: sweep FILE END_NS | sweep EVENTS ROUNDS FOLDER | sweep SMALL LARGE ROUNDS FOLDER\n");
  return 2;
}
