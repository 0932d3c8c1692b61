// Sweep of a synthetic RL training loop: three threads and three GPU streams, against a textbook
// priority-queue sweep of the same events in the same run, from memory and from a trace file.
// Prints JSON; sweep.py builds and runs it.
//
//   sweep EVENTS REPEATS FOLDER     FOLDER: where the trace file may lie, and where the events go
//                                   as raw columns, for sweep_peers.py
//   sweep FILE END_NS               sweeps that trace file, everything on, and prints its memory
#include "analysis/sweep.h"

#include <fcntl.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <map>
#include <memory>
#include <random>
#include <string>
#include <thread>
#include <vector>

#include "../cpp/sweep_process.h"
#include "analysis/trace_source.h"
#include "textbook_sweep.h"
#include "trace/chunks.h"
#include "trace/encoder.h"
#include "trace/process_trace.h"
#include "trace/sink.h"

namespace rlscope::benchmarks {
namespace {

using analysis::CpuColumns;
using analysis::IntervalColumns;

constexpr int64_t kStartNs = 1000000000000;
constexpr uint32_t kPid = 100;
const char* const kOperations[] = {"rollout", "inference", "simulation", "store",    "update",
                                   "forward", "loss",      "backward",   "optimizer"};

double CpuSeconds() {
  struct timespec now;
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return now.tv_sec + now.tv_nsec * 1e-9;
}

// One pass of the loop after the other, until there are enough events. 41 % framework calls, 25 %
// CUDA calls, 25 % GPU work, 6 % simulator calls, 3 % operations; gaps and lengths log-normal.
class Generator {
 public:
  explicit Generator(size_t events) {
    streams_.resize(9);  // 3 threads, their CUDA calls, 3 GPU streams
    int64_t now = kStartNs;
    for (size_t at = 0; count_ < events; ++at) now = at % 2 == 0 ? Rollout(now) : Update(now);
    end_ns_ = now + 1000000;
    for (Stream& stream : streams_) {
      for (int64_t end : stream.end_ns) end_ns_ = std::max(end_ns_, end);
    }
  }

  const std::vector<Stream>& streams() const { return streams_; }
  size_t events() const { return count_; }
  int64_t end_ns() const { return end_ns_; }

 private:
  int64_t Draw(double median_ns) {
    return 1 + static_cast<int64_t>(std::lognormal_distribution<>(log(median_ns), 0.6)(random_));
  }

  size_t Begin(int stream, int64_t now, Layer layer, uint16_t operation = 0) {
    Stream* to = &streams_[stream];
    to->start_ns.push_back(now);
    to->end_ns.push_back(now);
    to->layer.push_back(static_cast<uint8_t>(layer));
    to->operation.push_back(operation);
    ++count_;
    return to->start_ns.size() - 1;
  }

  int64_t Operation(int64_t now, uint16_t operation, int calls, int thread, Layer layer) {
    const size_t event = Begin(0, now, kOperation, operation);
    now = Calls(now + Draw(2000), calls, thread, layer);
    streams_[0].end_ns[event] = now;
    return now + Draw(1000);
  }

  // Native calls, of which some launch GPU work.
  int64_t Calls(int64_t now, int calls, int thread, Layer layer) {
    for (int i = 0; i < calls; ++i) {
      const size_t call = Begin(thread, now, layer);
      now += Draw(1500);
      for (int launches = static_cast<int>(random_() % 5); launches > 2 && layer == kFramework;
           --launches) {
        now = Launch(now, thread);
      }
      streams_[thread].end_ns[call] = now;
      now += Draw(1200);
    }
    return now;
  }

  int64_t Launch(int64_t now, int thread) {
    const size_t call = Begin(3 + thread, now, kCudaApi);
    const int64_t end = now + Draw(2500);
    streams_[3 + thread].end_ns[call] = end;
    Stream* gpu = &streams_[6 + random_() % 3];
    const int64_t free_ns = gpu->end_ns.empty() ? 0 : gpu->end_ns.back();
    const size_t work =
        Begin(static_cast<int>(gpu - streams_.data()), std::max(end, free_ns), kGpu);
    gpu->end_ns[work] = gpu->start_ns[work] + Draw(3000);
    return end + Draw(400);
  }

  int64_t Rollout(int64_t now) {
    const size_t event = Begin(0, now, kOperation, 1);
    for (int step = 0; step < 64; ++step) {
      now = Operation(now, 2, 12, 0, kFramework);
      now = Operation(now, 3, 10, 0, kSimulator);
      now = Operation(now, 4, 2, 0, kFramework);
    }
    streams_[0].end_ns[event] = now;
    return now + Draw(1000);
  }

  // The backward pass runs on two threads of the framework, which have no operations.
  int64_t Update(int64_t now) {
    const size_t event = Begin(0, now, kOperation, 5);
    for (int batch = 0; batch < 16; ++batch) {
      now = Operation(now, 6, 40, 0, kFramework);
      now = Operation(now, 7, 10, 0, kFramework);
      const size_t backward = Begin(0, now, kOperation, 8);
      const int64_t first = Calls(now + 500, 40, 1, kFramework);
      const int64_t second = Calls(now + 700, 20, 2, kFramework);
      now = std::max(first, second) + Draw(1000);
      streams_[0].end_ns[backward] = now;
      now = Operation(now + Draw(500), 9, 20, 0, kFramework);
    }
    streams_[0].end_ns[event] = now;
    return now + Draw(1000);
  }

  std::mt19937_64 random_{7};
  std::vector<Stream> streams_;
  size_t count_ = 0;
  int64_t end_ns_ = 0;
};

// Items of a thread: calls contain nothing but CUDA calls, which are a stream of their own.
CpuColumns MakeItems(const Stream& stream, uint32_t simulator, uint32_t framework, bool phases) {
  CpuColumns items;
  std::vector<size_t> open;
  const auto close_until = [&](int64_t now) {
    while (!open.empty() && stream.end_ns[open.back()] <= now) {
      items.Add({stream.end_ns[open.back()], trace::kOperationExit, stream.operation[open.back()]});
      open.pop_back();
    }
  };
  for (size_t i = 0; i < stream.start_ns.size(); ++i) {
    close_until(stream.start_ns[i]);
    if (stream.layer[i] != kOperation) {
      const uint32_t id = stream.layer[i] == kSimulator ? simulator : framework;
      items.Add({stream.start_ns[i], trace::kCall, id, stream.end_ns[i]});
      continue;
    }
    if (phases && open.empty()) {
      items.Add({stream.start_ns[i], trace::kPhase, framework + 1 + stream.operation[i] / 5});
      items.Add({stream.start_ns[i], trace::kIteration, 0});
    }
    items.Add({stream.start_ns[i], trace::kOperationEnter, stream.operation[i]});
    open.push_back(i);
  }
  close_until(INT64_MAX);
  return items;
}

IntervalColumns MakeIntervals(const Stream& stream) {
  IntervalColumns columns;
  columns.start_ns = stream.start_ns;
  columns.end_ns = stream.end_ns;
  columns.kind.assign(stream.start_ns.size(), static_cast<uint32_t>(trace::GpuKind::kKernel));
  return columns;
}

struct Names {
  std::vector<trace::Name> all;
  uint32_t simulator;
  uint32_t framework;
};

Names MakeNames() {
  Names names;
  const auto add = [&](trace::NameKind kind, trace::Layer layer, const char* text) {
    const uint32_t id = static_cast<uint32_t>(names.all.size() + 1);
    names.all.push_back({id, static_cast<uint32_t>(kind), static_cast<uint32_t>(layer), text});
    return id;
  };
  for (const char* text : kOperations) {
    add(trace::NameKind::kOperation, trace::Layer::kNone, text);
  }
  names.simulator = add(trace::NameKind::kFunction, trace::Layer::kSimulator, "env:step");
  names.framework = add(trace::NameKind::kFunction, trace::Layer::kFramework, "torch:call");
  add(trace::NameKind::kPhase, trace::Layer::kNone, "data_collection");
  add(trace::NameKind::kPhase, trace::Layer::kNone, "training");
  return names;
}

std::unique_ptr<analysis::MemoryProcess> MakeProcess(const Generator& made, const Names& names) {
  auto process = std::make_unique<analysis::MemoryProcess>(kStartNs, made.end_ns());
  process->input()->names = names.all;
  for (int i = 0; i < 3; ++i) {
    process->AddThread(MakeItems(made.streams()[i], names.simulator, names.framework, i == 0),
                       MakeIntervals(made.streams()[3 + i]));
  }
  for (int i = 6; i < 9; ++i) process->AddGpuStream(MakeIntervals(made.streams()[i]));
  return process;
}

// ---- as a file ----------------------------------------------------------------------------------

void Check(int error, const char* what) {
  if (error == 0) return;
  fprintf(stderr, "%s: error %d\n", what, error);
  exit(1);
}

class FileWriter {
 public:
  explicit FileWriter(const std::string& path)
      : buffer_(std::make_unique<trace::ChunkBuffer>()),
        encoder_(std::make_unique<trace::CpuEncoder>()) {
    descriptor_ = open(path.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_APPEND, 0600);
    Check(descriptor_ < 0, path.c_str());
    sink_.SetDescriptor(descriptor_);
  }
  ~FileWriter() { close(descriptor_); }

  void Write(const Generator& made, const Names& names) {
    WriteHeader(names);
    for (uint32_t i = 0; i < 3; ++i) {
      WriteItems(i + 1, MakeItems(made.streams()[i], names.simulator, names.framework, i == 0));
      WriteCudaCalls(i + 1, made.streams()[3 + i]);
    }
    for (uint32_t i = 6; i < 9; ++i) WriteGpu(i, made.streams()[i]);
  }

 private:
  void WriteHeader(const Names& names) {
    trace::ProcessFields fields{};
    fields.tool_version = fields.host = fields.boot_id = "";
    fields.os_pid = fields.main_thread = kPid;
    fields.began_ns = kStartNs;
    fields.clock = base::ClockKind::kMonotonic;
    fields.tick_hz = 1000000000;
    Check(WriteProcess(&sink_, buffer_.get(), fields), "process");
    for (const trace::Name& name : names.all) {
      const trace::NameFields one = {name.id,
                                     static_cast<trace::NameKind>(name.kind),
                                     static_cast<trace::Layer>(name.layer),
                                     {name.text.data(), name.text.size()}};
      Check(WriteNames(&sink_, buffer_.get(), &one, 1), "name");
    }
    for (uint32_t i = 0; i < 3; ++i) {
      const trace::ThreadFields thread = {i + 1, kPid + i, true, {"", 0}};
      Check(WriteThreads(&sink_, buffer_.get(), &thread, 1), "thread");
    }
  }

  void WriteItems(uint32_t thread, const CpuColumns& items) {
    trace::ThreadStream stream;
    stream.Reset(thread);
    size_t calls = 0;
    encoder_->Begin(&stream, 2 * thread, 0);
    for (size_t i = 0; i < items.what.size(); ++i) {
      if (encoder_->Full()) {
        Check(encoder_->Finish(&sink_), "items");
        encoder_->Begin(&stream, 2 * thread, i);
      }
      const uint32_t kind = trace::WhatKind(items.what[i]);
      const int64_t length =
          kind == trace::kCall ? items.call_end_ns[calls++] - items.time_ns[i] : 0;
      encoder_->Add({static_cast<uint64_t>(items.time_ns[i]), static_cast<uint32_t>(length),
                     trace::MakeWord(kind, trace::WhatId(items.what[i]), 1)},
                    nullptr);
    }
    Check(encoder_->Finish(&sink_), "items");
  }

  void WriteCudaCalls(uint32_t thread, const Stream& stream) {
    for (size_t at = 0; at < stream.start_ns.size(); at += trace::kChunkIntervals) {
      const size_t end = std::min(stream.start_ns.size(), at + trace::kChunkIntervals);
      std::vector<trace::CudaCall> calls;
      for (size_t i = at; i < end; ++i) {
        calls.push_back({static_cast<uint64_t>(stream.start_ns[i]),
                         static_cast<uint64_t>(stream.end_ns[i] - stream.start_ns[i]), 1,
                         static_cast<int64_t>(i), 0, 0});
      }
      Check(trace::WriteCudaCalls(&sink_, buffer_.get(), thread, 2 * thread + 1, 2 * at,
                                  2 * calls.size(), calls.data(), calls.size()),
            "cuda calls");
    }
  }

  void WriteGpu(uint32_t number, const Stream& stream) {
    for (size_t at = 0; at < stream.start_ns.size(); at += trace::kChunkIntervals) {
      const size_t end = std::min(stream.start_ns.size(), at + trace::kChunkIntervals);
      std::vector<trace::GpuInterval> work;
      for (size_t i = at; i < end; ++i) {
        work.push_back({stream.start_ns[i], stream.end_ns[i] - stream.start_ns[i],
                        trace::GpuKind::kKernel, 1, static_cast<int64_t>(i), 0});
      }
      Check(trace::WriteGpu(&sink_, buffer_.get(), 0, 1, number, work.data(), work.size()), "gpu");
    }
  }

  int descriptor_;
  trace::FileSink sink_;
  std::unique_ptr<trace::ChunkBuffer> buffer_;
  std::unique_ptr<trace::CpuEncoder> encoder_;
};

// ---- for the peers ------------------------------------------------------------------------------

// Eight bits a layer; above them what the operation adds to its parent's number (sweep_peers.py).
int64_t WeightOf(const Stream& stream, size_t event) {
  if (stream.layer[event] != kOperation) return int64_t{1} << 8 * (stream.layer[event] - 2);
  const int64_t operation = stream.operation[event];
  const int64_t parent = operation > 5 ? 5 : operation > 1 && operation < 5 ? 1 : 0;
  return (operation - parent) << 40;
}

void WriteColumn(const std::string& path, const std::vector<Stream>& streams,
                 int64_t (*value)(const Stream&, size_t)) {
  FILE* file = fopen(path.c_str(), "w");
  Check(file == nullptr, path.c_str());
  for (const Stream& stream : streams) {
    for (size_t event = 0; event < stream.start_ns.size(); ++event) {
      const int64_t number = value(stream, event);
      Check(fwrite(&number, sizeof number, 1, file) != 1, path.c_str());
    }
  }
  Check(fclose(file), path.c_str());
}

void WriteColumns(const std::string& folder, const std::vector<Stream>& streams) {
  WriteColumn(folder + "/start_ns", streams,
              [](const Stream& stream, size_t event) { return stream.start_ns[event]; });
  WriteColumn(folder + "/end_ns", streams,
              [](const Stream& stream, size_t event) { return stream.end_ns[event]; });
  WriteColumn(folder + "/weight", streams, WeightOf);
}

// ---- measuring ----------------------------------------------------------------------------------

constexpr analysis::SweepOptions kProcessView = {false, false, 0, true};
constexpr analysis::SweepOptions kEverything = {true, true, 2000, true};

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
  SweepFile(path, end_ns, kEverything);
  done = true;
  sampler.join();
  printf("{\"anonymous_kib\": %lld}\n", static_cast<long long>(most_kib));
  return 0;
}

int Main(size_t events, int repeats, const std::string& folder) {
  const Generator made(events);
  const Names names = MakeNames();
  const std::string path = folder + "/sweep_benchmark.rls";
  FileWriter(path).Write(made, names);
  const auto process = MakeProcess(made, names);
  const auto textbook = TextbookSweep(made.streams()).Run();
  CheckSame(textbook, *Sweep(*process->input(), kProcessView));
  WriteColumns(folder, made.streams());

  std::map<std::string, std::vector<double>> seconds;
  const auto measure = [&](const char* what, auto function) {
    const double begin = CpuSeconds();
    function();
    seconds[what].push_back(CpuSeconds() - begin);
  };
  for (int i = 0; i < repeats; ++i) {
    measure("textbook", [&] { TextbookSweep(made.streams()).Run(); });
    measure("process_view", [&] { Sweep(*process->input(), kProcessView); });
    measure("everything", [&] { Sweep(*process->input(), kEverything); });
    measure("file_process_view", [&] { SweepFile(path, made.end_ns(), kProcessView); });
    measure("file_everything", [&] { SweepFile(path, made.end_ns(), kEverything); });
  }
  printf("{\"events\": %zu, \"end_ns\": %lld", made.events(),
         static_cast<long long>(made.end_ns()));
  for (auto& [what, all] : seconds) {
    std::sort(all.begin(), all.end());
    printf(", \"%s_seconds\": %.6f", what.c_str(), all[all.size() / 2]);
  }
  printf(", \"states\": {");
  const char* comma = "";
  for (const auto& [state, ns] : textbook) {
    if (ns == 0) continue;
    printf("%s\"%u\": %lld", comma, state, static_cast<long long>(ns));
    comma = ", ";
  }
  printf("}}\n");
  return 0;
}

}  // namespace
}  // namespace rlscope::benchmarks

int main(int argc, char** argv) {
  if (argc == 3) {
    return rlscope::benchmarks::MeasureMemory(argv[1], strtoll(argv[2], nullptr, 10));
  }
  if (argc != 4) {
    fprintf(stderr, "usage: sweep EVENTS REPEATS FOLDER | sweep FILE END_NS\n");
    return 2;
  }
  return rlscope::benchmarks::Main(strtoull(argv[1], nullptr, 10), atoi(argv[2]), argv[3]);
}
