// Files of other tools that are damaged, or made to do damage: each is read and written as far as
// it can be, or refused by one sentence. With sanitizers what is read beyond its end shows.
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <algorithm>
#include <random>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "importers/byte_source.h"
#include "importers/kineto.h"
#include "importers/spill_file.h"
#include "importers/trace_file.h"

namespace {

using rlscope::importers::ByteSource;
using rlscope::importers::FormatError;
using rlscope::importers::KinetoScan;
using rlscope::importers::SpillFile;
using rlscope::importers::TraceFile;

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

constexpr char kGood[] = R"JSON({"schemaVersion": 1, "baseTimeNanoseconds": 1719853884000000000,
"distributedInfo": {"backend": "nccl", "rank": 3, "world_size": 8}, "host_name": "box",
"deviceProperties": [{"id": 0, "name": "NVIDIA A100"}], "traceEvents": [
{"ph": "M", "name": "process_name", "pid": 7, "tid": 0, "args": {"name": "python3.10"}},
{"ph": "M", "name": "thread_name", "pid": 7, "tid": 7, "args": {"name": "main \u00e9\ud83d\ude00"}},
{"ph": "X", "cat": "user_annotation", "name": "ProfilerStep#5", "pid": 7, "tid": 7, "ts": 10.125,
 "dur": 100},
{"ph": "X", "cat": "user_annotation", "name": "forward", "pid": 7, "tid": 7, "ts": 11, "dur": 50.5},
{"ph": "X", "cat": "cpu_op", "name": "aten::mm", "pid": 7, "tid": 7, "ts": 12, "dur": 20,
 "args": {"External id": 2, "Input Dims": [[2, 3], []], "x": NaN, "y": -Infinity, "z": null}},
{"ph": "X", "cat": "cpu_op", "name": "aten::empty", "pid": 7, "tid": 7, "ts": 13, "dur": 2.5e0},
{"ph": "X", "cat": "cuda_runtime", "name": "cudaLaunchKernel", "pid": 7, "tid": 7, "ts": 16,
 "dur": 3, "args": {"correlation": 9}},
{"ph": "X", "cat": "kernel", "name": "gemm<float>", "pid": 0, "tid": 20, "ts": 21, "dur": 7,
 "args": {"device": 0, "context": 1, "stream": 20, "correlation": 9}},
{"ph": "X", "cat": "gpu_memcpy", "name": "Memcpy HtoD (Pinned -> Device)", "pid": 0, "tid": 20,
 "ts": 30, "dur": 1, "args": {"device": 0, "context": 1, "stream": 20, "bytes": 512}},
{"ph": "X", "cat": "cuda_sync", "name": "Stream Sync", "pid": 0, "tid": -1, "ts": 31, "dur": 1,
 "args": {"cuda_sync_kind": "Stream Sync", "stream": -1, "correlation": 10, "device": 0}},
{"ph": "s", "id": 9, "pid": 7, "tid": 7, "ts": 16, "cat": "ac2g", "name": "ac2g"}]})JSON";

// Reads it, writes what was read. What it was refused for, else nothing.
std::string Import(ByteSource* source) {
  SpillFile spill;
  KinetoScan scan(&spill);
  try {
    scan.Read(source);
  } catch (const FormatError& error) {
    return error.what();
  }
  char path[] = "/tmp/rlscope-importer.XXXXXX";
  const int descriptor = mkstemp(path);
  if (descriptor < 0) abort();
  close(descriptor);
  unlink(path);
  rlscope::trace::ProcessFields process{};
  process.tool_version = process.host = process.boot_id = "";
  process.os_pid = scan.os_pid();
  process.began_ns = scan.empty() ? 1 : scan.first_ns();
  process.clock = rlscope::base::ClockKind::kMonotonic;
  {
    TraceFile file(path, process);
    scan.WriteTo(&file, scan.facts().base_ns);
    file.End({}, {});
    file.Close();
  }
  unlink(path);
  return "";
}

void Expect(bool holds, const char* what) {
  if (holds) return;
  fprintf(stderr, "importer_replay: %s\n", what);
  exit(1);
}

std::string ImportText(std::string_view text, uint32_t seed = 1) {
  Pieces pieces(text, seed);
  return Import(&pieces);
}

bool Refused(const std::string& reason, std::string_view part) {
  return reason.find(part) != std::string::npos && reason.find('\n') == std::string::npos;
}

void ReplayHostile() {
  const std::string row = R"({"traceEvents": [{"ph": "X", "cat": "cpu_op", "pid": 1, "tid": 1, )";
  Expect(ImportText(kGood).empty(), "the good file is refused");
  Expect(Refused(ImportText(""), "ends in the middle"), "an empty file");
  Expect(Refused(ImportText("[]"), "not an object"), "an array");
  Expect(Refused(ImportText("{}"), "no traceEvents"), "no rows");
  Expect(Refused(ImportText("{} {}"), "more behind"), "two values");
  Expect(Refused(ImportText(R"({"traceEvents": 3})"), "no array"), "a number for rows");
  Expect(Refused(ImportText(R"({"baseTimeNanoseconds": 1e30, "traceEvents": []})"), "no time"),
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

// Of hundreds of megabytes: nothing is kept of them.
void ReplayLong(uint64_t megabytes) {
  const std::string megabyte(1000, 'a');
  Repeated name(R"({"traceEvents": [{"ph": "X", "cat": "cpu_op", "ts": 1, "dur": 1, "name": ")",
                megabyte, 1000 * megabytes, "\"}]}");
  Expect(Import(&name).empty(), "a long name");
  Repeated number(R"({"traceEvents": [{"ph": "X", "cat": "cpu_op", "dur": 1, "ts": 1)",
                  std::string(1000, '0'), 1000 * megabytes, "}]}");
  Expect(Import(&number).empty(), "a long number");
  Repeated space("{", std::string(1000, ' '), 1000 * megabytes, R"("traceEvents": []})");
  Expect(Import(&space).empty(), "much space");
  Repeated deep(R"({"traceEvents": )", "[", 1'000'000 * megabytes, "");
  Expect(Refused(Import(&deep), "nested too deeply"), "arrays inside of arrays");
  Repeated skipped(R"({"x": )", "{\"a\":", 100'000 * megabytes, "");
  Expect(Refused(Import(&skipped), "nested too deeply"), "objects inside of objects");
}

void ReplayDamage(uint32_t count) {
  const std::string good = kGood;
  std::minstd_rand random(20);
  for (uint32_t i = 0; i < count; ++i) {
    std::string text = good;
    if (i % 2 == 0) text.resize(random() % text.size());
    for (uint32_t flips = i % 2 == 0 ? 0 : 1 + random() % 4; flips > 0; --flips) {
      text[random() % text.size()] = static_cast<char>(random() % 256);
    }
    const std::string reason = ImportText(text, i + 1);
    Expect(reason.find('\n') == std::string::npos, "a reason of two lines");
    if (i % 2 == 0) Expect(!reason.empty(), "a file without its end is taken");
  }
}

}  // namespace

int main(int count, char** arguments) {
  const uint32_t damages = count > 1 ? static_cast<uint32_t>(atoi(arguments[1])) : 1000;
  ReplayHostile();
  ReplayLong(damages > 1000 ? 1000 : 20);
  ReplayDamage(damages);
  return 0;
}
