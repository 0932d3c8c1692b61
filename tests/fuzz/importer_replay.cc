// Files of other tools that are damaged, or made to do damage: each is read and written as far as
// it can be, or refused by one sentence. With sanitizers what is read beyond its end shows.
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <algorithm>
#include <iterator>
#include <random>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "importers/byte_source.h"
#include "importers/chrome.h"
#include "importers/imported_rows.h"
#include "importers/kineto.h"
#include "importers/spill_file.h"
#include "importers/trace_file.h"
#include "importers/xprof.h"

namespace {

using rlscope::importers::ByteSource;
using rlscope::importers::ChromeScan;
using rlscope::importers::FormatError;
using rlscope::importers::ImportedRows;
using rlscope::importers::Interval;
using rlscope::importers::KinetoScan;
using rlscope::importers::ProblemOf;
using rlscope::importers::RowOrder;
using rlscope::importers::SpillFile;
using rlscope::importers::TraceFile;
using rlscope::importers::XprofScan;

// Pieces of random length: tokens lie across their ends.
class Pieces : public ByteSource {
 public:
  Pieces(std::string_view text, uint32_t seed) : text_(text), random_(seed) {}
  size_t Read(char* into, size_t size) override {
    const size_t some = std::min({size, text_.size(), size_t{1} + random_() % 97});
    memcpy(into, text_.data(), some);
    text_.remove_prefix(some);
    return some;
  }

 private:
  std::string_view text_;
  std::minstd_rand random_;
};

// So many times one text, without the memory for it.
class Repeated : public ByteSource {
 public:
  Repeated(std::string begin, std::string middle, uint64_t times, std::string end)
      : begin_(std::move(begin)), middle_(std::move(middle)), end_(std::move(end)), left_(times) {}
  size_t Read(char* into, size_t size) override {
    size_t done = Take(&begin_, into, size);
    while (begin_.empty() && left_ > 0 && size - done >= middle_.size()) {
      memcpy(into + done, middle_.data(), middle_.size());
      done += middle_.size();
      --left_;
    }
    if (begin_.empty() && left_ == 0) done += Take(&end_, into + done, size - done);
    return done;
  }

 private:
  static size_t Take(std::string* from, char* into, size_t size) {
    const size_t some = std::min(size, from->size());
    memcpy(into, from->data(), some);
    from->erase(0, some);
    return some;
  }

  std::string begin_, middle_, end_;
  uint64_t left_;
};

constexpr char kGoodKineto[] =
    R"JSON({"schemaVersion": 1, "baseTimeNanoseconds": 1719853884000000000,
"distributedInfo": {"backend": "nccl", "rank": 3, "world_size": 8}, "host_name": "box",
"deviceProperties": [{"id": 0, "name": "NVIDIA A100"}], "traceEvents": [
{"ph": "M", "name": "process_name", "pid": 7, "tid": 0, "args": {"name": "python3.10"}},
{"ph": "M", "name": "thread_name", "pid": 7, "tid": 7, "args": {"name": "main \u00e9\ud83d\ude00"}},
{"ph": "X", "cat": "user_annotation", "name": "ProfilerStep#5", "pid": 7, "tid": 7, "ts": 10.125,
 "dur": 100},
{"ph": "X", "cat": "user_annotation", "name": "forward", "pid": 7, "tid": 7, "ts": 11, "dur": 50.5},
{"ph": "X", "cat": "cpu_op", "name": "aten::mm", "pid": 7, "tid": 7, "ts": 12, "dur": 20,
 "args": {"External id": 2, "Input Dims": [[2, 3], []], "x": NaN, "y": -Infinity, "z": null}},
{"ph": "X", "cat": "python_function", "name": "a.py(1): f", "pid": 7, "tid": 7, "ts": 12.5,
 "dur": 9},
{"ph": "X", "cat": "cpu_op", "name": "aten::empty", "pid": 7, "tid": 7, "ts": 13, "dur": 2.5e0},
{"ph": "X", "cat": "cuda_runtime", "name": "cudaLaunchKernel", "pid": 7, "tid": 7, "ts": 16,
 "dur": 3, "args": {"correlation": 9}},
{"ph": "X", "cat": "kernel", "name": "gemm<float>", "pid": 0, "tid": 20, "ts": 21, "dur": 7,
 "args": {"device": 0, "context": 1, "stream": 20, "correlation": 9}},
{"ph": "X", "cat": "gpu_memcpy", "name": "Memcpy HtoD (Pinned -> Device)", "pid": 0, "tid": 20,
 "ts": 30, "dur": 1, "args": {"device": 0, "context": 1, "stream": 20, "bytes": 512}},
{"ph": "X", "cat": "cuda_sync", "name": "Stream Sync", "pid": 0, "tid": -1, "ts": 31, "dur": 1,
 "args": {"cuda_sync_kind": "Stream Sync", "stream": -1, "correlation": 10, "device": 0}},
{"ph": "X", "cat": "cpu_op", "name": "aten::mm", "pid": 8, "tid": 8, "ts": 12, "dur": 20},
{"ph": "X", "cat": "cuda_runtime", "name": "cudaLaunchKernel", "pid": 8, "tid": 8, "ts": 16,
 "dur": 3, "args": {"correlation": 9}},
{"ph": "X", "cat": "kernel", "name": "gemm<half>", "pid": 1, "tid": 20, "ts": 22, "dur": 7,
 "args": {"device": 1, "context": 1, "stream": 20, "correlation": 9}},
{"ph": "s", "id": 9, "pid": 7, "tid": 7, "ts": 16, "cat": "ac2g", "name": "ac2g"}]})JSON";

constexpr char kGoodChrome[] = R"JSON([
{"ph": "M", "name": "process_name", "pid": 7, "tid": 0, "args": {"name": "trainer"}},
{"ph": "M", "name": "thread_name", "pid": 7, "tid": 7, "args": {"name": "main"}},
{"ph": "B", "name": "step", "cat": "loop", "pid": 7, "tid": 7, "ts": 10.125},
{"ph": "X", "name": "act", "pid": 7, "tid": 7, "ts": 11, "dur": 50.5, "args": {"x": [1, {}]}},
{"ph": "B", "name": "inner", "pid": 7, "tid": 7, "ts": 11},
{"ph": "E", "pid": 7, "tid": 7, "ts": 12},
{"ph": "E", "pid": 7, "tid": 7, "ts": 90},
{"ph": "b", "name": "request", "cat": "http", "id": "0x1", "pid": "node", "tid": 3, "ts": 1},
{"ph": "b", "name": "request", "cat": "http", "id2": {"local": "0x2"}, "pid": "node", "ts": 2},
{"ph": "n", "name": "note", "cat": "http", "id": "0x1", "pid": "node", "ts": 3},
{"ph": "e", "name": "request", "cat": "http", "id": "0x1", "pid": "node", "ts": 4},
{"ph": "S", "name": "old", "cat": "ipc", "id": 5, "pid": 8, "ts": 4},
{"ph": "F", "name": "old", "cat": "ipc", "id": 5, "pid": 8, "ts": 9},
{"ph": "C", "name": "memory", "pid": 7, "ts": 5, "args": {"bytes": 1}},
{"ph": "i", "name": "mark", "pid": 7, "tid": 7, "ts": 6, "s": "g"}])JSON";

constexpr char kGoodXprof[] = R"JSON({"displayTimeUnit": "ns", "traceEvents": [
{"ph": "M", "pid": 701, "name": "process_name", "args": {"name": "/host:CPU"}},
{"ph": "M", "pid": 701, "tid": 5, "name": "thread_name", "args": {"name": "python"}},
{"ph": "M", "pid": 1, "name": "process_name", "args": {"name": "/device:GPU:0 H100"}},
{"ph": "M", "pid": 1, "tid": 2, "name": "thread_name", "args": {"name": "Stream #14(Compute)"}},
{"ph": "X", "pid": 701, "tid": 5, "ts": 1.5, "dur": 90, "name": "train", "args": {"step_num": "5"}},
{"ph": "X", "pid": 701, "tid": 5, "ts": 2, "dur": 50, "name": "act"},
{"ph": "X", "pid": 701, "tid": 5, "ts": 3.000001, "dur": 40, "name": "PjitFunction(f)"},
{"ph": "X", "pid": 701, "tid": 5, "ts": 4, "dur": 9, "name": "$pjit.py:250 miss"},
{"ph": "X", "pid": 701, "tid": 5, "ts": 4, "dur": 1, "name": "$builtins len"},
{"ph": "X", "pid": 701, "tid": 5, "ts": 20, "dur": 2, "name": "cuLaunchKernel",
 "args": {"correlation_id": "3"}},
{"ph": "X", "pid": 1, "tid": 2, "ts": 25, "dur": 2, "name": "gemm", "args": {"correlation_id": 3}},
{"ph": "X", "pid": 1, "tid": 2, "ts": 28, "dur": 1, "name": "MemcpyH2D", "args": {
 "memcpy_details": "kind_src:pinned kind_dst:device size:512 dest:0 async:1"}}, {}]})JSON";

// Writes what was read, and forgets it.
void Write(const ImportedRows& rows, int64_t shift_ns) {
  char path[] = "/tmp/rlscope-importer.XXXXXX";
  const int descriptor = mkstemp(path);
  if (descriptor < 0) abort();
  close(descriptor);
  unlink(path);
  rlscope::trace::ProcessFields process{};
  process.tool_version = process.host = process.boot_id = "";
  process.os_pid = rows.os_pid;
  process.began_ns = rows.empty() ? 1 : rows.first_ns();
  process.clock = rlscope::base::ClockKind::kMonotonic;
  {
    TraceFile file(path, process);
    rows.WriteTo(&file, shift_ns);
    file.End({}, {});
    file.Close();
  }
  unlink(path);
}

void Write(const KinetoScan& scan) {
  for (size_t process = 0; process < scan.processes(); ++process) {
    Write(scan.rows(process), scan.facts().base_ns);
  }
}
void Write(const XprofScan& scan) { Write(scan.rows(), 0); }
void Write(const ChromeScan& scan) {
  for (size_t process = 0; process < scan.processes(); ++process) Write(scan.rows(process), 0);
}

// Reads it, writes what was read. What it was refused for, else nothing.
template <class Scan, class... Arguments>
std::string Import(ByteSource* source, const Arguments&... arguments) {
  SpillFile spill;
  Scan scan(&spill, arguments...);
  try {
    scan.Read(source);
  } catch (const FormatError& error) {
    return error.what();
  }
  Write(scan);
  return "";
}

std::string ImportKineto(ByteSource* source) { return Import<KinetoScan>(source); }
std::string ImportChrome(ByteSource* source) { return Import<ChromeScan>(source); }
std::string ImportXprof(ByteSource* source) {
  return Import<XprofScan>(source, std::vector<std::string>{"act"});
}

// Every importer, a file of its kind, and whether one that is cut between two rows is one, too.
struct Kind {
  const char* name;
  std::string (*import)(ByteSource* source);
  const char* good;
  bool may_be_cut;
};
constexpr Kind kKinds[] = {
    {"kineto", &ImportKineto, kGoodKineto, false},
    {"chrome", &ImportChrome, kGoodChrome, true},
    {"xprof", &ImportXprof, kGoodXprof, false},
};

void Expect(bool holds, const char* what) {
  if (holds) return;
  fprintf(stderr, "importer_replay: %s\n", what);
  exit(1);
}

std::string ImportText(std::string_view text, uint32_t seed = 1,
                       std::string (*import)(ByteSource*) = &ImportKineto) {
  Pieces pieces(text, seed);
  return import(&pieces);
}

bool Refused(const std::string& reason, std::string_view part) {
  return reason.find(part) != std::string::npos && reason.find('\n') == std::string::npos;
}

void ReplayHostile() {
  const std::string row = R"({"traceEvents": [{"ph": "X", "cat": "cpu_op", "pid": 1, "tid": 1, )";
  for (const Kind& kind : kKinds) {
    Expect(ImportText(kind.good, 1, kind.import).empty(), "a good file is refused");
  }
  Expect(Refused(ImportText(""), "ends too early"), "an empty file");
  Expect(Refused(ImportText("[]"), "not an object"), "an array");
  Expect(Refused(ImportText("{}"), "no traceEvents"), "no rows");
  Expect(Refused(ImportText("{} {}"), "more text"), "two values");
  Expect(Refused(ImportText(R"({"traceEvents": 3})"), "not an array"), "a number for rows");
  Expect(Refused(ImportText(R"({"baseTimeNanoseconds": 1e30, "traceEvents": []})"),
                 "not a possible time"),
         "a time beyond all");
  for (const char* number : {"1e999", "-1e999", "NaN", "Infinity", "9223372036854775807", "1e-999",
                             "0.0000000000000000000000001", "-0", "1e18", "\"1\"", "[1]", "{}"}) {
    const std::string text = row + "\"name\": \"a\", \"ts\": " + number + ", \"dur\": " + number +
                             R"(, "args": {"correlation": )" + number + "}}]}";
    Expect(ImportText(text).empty(), number);
  }
  for (const char* name : {R"(\ud800)", R"(\udc00\ud800)", R"(\ud800\ud800\udc00)", R"(\u0000)",
                           R"(\ud800\n)", "\xff\xfe", R"(\")"}) {
    Expect(ImportText(row + "\"name\": \"" + name + R"(", "ts": 1, "dur": 2}]})").empty(), name);
  }
  Expect(Refused(ImportText(row + R"("name": "\u12g4"}]})"), "hexadecimal"), "no digits");
  Expect(ImportText(R"({"traceEvents": [{"ph": "X", "ph": "M", "args": 1, "args": {}}, 1, []]})")
             .empty(),
         "keys that are there twice");
}

// Texts that are hostile in any kind of file: each is read, or refused by one sentence.
void ReplayHostileRows() {
  const char* const values[] = {"1e999",
                                "-1e999",
                                "NaN",
                                "-Infinity",
                                "9223372036854775807",
                                "-9223372036854775808",
                                "1e18",
                                "-0",
                                "\"\"",
                                "[[]]",
                                "{}",
                                "null",
                                "0.0000000000000000001",
                                "4294967296",
                                R"("\ud800\udc00\ud800")"};
  const char* const keys[] = {"ph", "cat", "name", "pid", "tid", "ts", "dur", "id", "id2", "args"};
  for (const Kind& kind : kKinds) {
    for (const char* key : keys) {
      for (const char* value : values) {
        std::string text = kind.good;
        // The last one counts: every row has this value, and once more behind the row's own keys.
        const std::string twice = std::string("\"") + key + "\": " + value + ", ";
        for (size_t at = text.find("{\"ph\""); at != std::string::npos;
             at = text.find("{\"ph\"", at + twice.size() + 1)) {
          text.insert(at + 1, twice);
        }
        const std::string reason = ImportText(text, 3, kind.import);
        Expect(reason.find('\n') == std::string::npos, "a reason of two lines");
      }
    }
  }
}

// A file has hundreds of megabytes, of which an importer keeps nothing.
void ReplayLong(uint64_t most_megabytes) {
  const std::string kilobyte(1000, 'a');
  for (const Kind& kind : kKinds) {
    // The reader of strings and numbers is one for all.
    const uint64_t megabytes = &kind == kKinds ? most_megabytes : most_megabytes / 10;
    const auto import = [&](std::string begin, std::string middle, uint64_t times,
                            std::string end) {
      Repeated text(std::move(begin), std::move(middle), times, std::move(end));
      return kind.import(&text);
    };
    const std::string row = R"({"traceEvents": [{"ph": "X", "cat": "cpu_op", "dur": 1, )";
    Expect(import(row + R"("ts": 1, "name": ")", kilobyte, 1000 * megabytes, "\"}]}").empty(),
           "a long name");
    Expect(import(row + R"("ts": 1)", std::string(1000, '0'), 1000 * megabytes, "}]}").empty(),
           "a long number");
    Expect(import("{", std::string(1000, ' '), 1000 * megabytes, R"("traceEvents": []})").empty(),
           "much space");
    const std::string deep = import(R"({"traceEvents": )", "[", 1'000'000 * megabytes, "");
    Expect(Refused(deep, "nested too deeply"), "arrays inside of arrays");
    const std::string skipped = import(R"({"x": )", "{\"a\":", 100'000 * megabytes, "");
    Expect(Refused(skipped, "nested too deeply"), "objects inside of objects");
  }
  // As many open slices as there are rows.
  Repeated open("[", R"({"ph":"B","pid":1,"tid":1,"ts":1,"name":"a"},)", 2000 * most_megabytes, "");
  Expect(ImportChrome(&open).empty(), "slices without an end");
}

void ReplayDamage(uint32_t count) {
  std::minstd_rand random(20);
  for (const Kind& kind : kKinds) {
    const std::string good = kind.good;
    for (uint32_t i = 0; i < count; ++i) {
      std::string text = good;
      if (i % 2 == 0) text.resize(random() % text.size());
      for (uint32_t flips = i % 2 == 0 ? 0 : 1 + random() % 4; flips > 0; --flips) {
        text[random() % text.size()] = static_cast<char>(random() % 256);
      }
      const std::string reason = ImportText(text, i + 1, kind.import);
      Expect(reason.find('\n') == std::string::npos, "a reason of two lines");
      if (i % 2 == 0 && !kind.may_be_cut) {
        Expect(!reason.empty(), "a file without its end is taken");
      }
    }
  }
}

// Rows of an importer that is written in Python: any numbers, in any order.
void ReplayRows(uint32_t count) {
  std::minstd_rand random(21);
  for (uint32_t i = 0; i < count; ++i) {
    SpillFile spill;
    ImportedRows rows(&spill, i % 2 == 0 ? RowOrder::kAsInFile : RowOrder::kLongestFirst,
                      {64 * sizeof(rlscope::importers::ThreadRow), 4096});
    const auto time = [&]() -> int64_t {
      const uint32_t kind = random() % 16;
      const int64_t limit = int64_t{1} << 61;
      if (kind == 0) return random() % 2 == 0 ? limit - 1 : 1 - limit;
      if (kind == 1) return random() % 2 == 0 ? INT64_MAX : INT64_MIN;
      return random() % 50;
    };
    for (uint32_t row = random() % 300; row > 0; --row) {
      const Interval interval = {time(), time()};
      if (ProblemOf(interval) != nullptr) continue;
      const auto below = [&](uint32_t end) { return static_cast<uint32_t>(random() % end); };
      const uint32_t thread = *rows.FindThread(std::to_string(below(3)));
      const std::string text(random() % 40, 'n');
      const uint32_t name = rows.FindName(rlscope::trace::NameKind::kFunction,
                                          rlscope::trace::Layer::kFramework, text);
      switch (random() % 6) {
        case 0:
          rows.AddOperation(thread, name, interval);
          break;
        case 1:
          rows.AddCall(thread, name, interval);
          break;
        case 2:
          rows.AddCudaCall(thread, name, interval, random() % 9);
          break;
        case 3:
          rows.AddPython(thread, interval);
          break;
        case 4:
          rows.AddIteration(thread, interval.start_ns, interval.end_ns);
          break;
        default:
          rows.AddGpu(*rows.FindStream({below(2), 0, below(2)}),
                      {rlscope::trace::GpuKind::kKernel, name, 1, 2, 3, 4}, interval);
      }
    }
    rows.Finish();
    Write(rows, 0);
  }
}

}  // namespace

int main(int count, char** arguments) {
  const uint32_t damages = count > 1 ? static_cast<uint32_t>(atoi(arguments[1])) : 1000;
  ReplayHostile();
  ReplayHostileRows();
  ReplayLong(damages > 1000 ? 1000 : 20);
  ReplayDamage(damages);
  ReplayRows(damages);
  return 0;
}
