// A training loop as a trace file, and as raw columns for sweep_peers.py.
#ifndef RLSCOPE_TESTS_BENCHMARKS_TRAINING_FILE_H_
#define RLSCOPE_TESTS_BENCHMARKS_TRAINING_FILE_H_

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include <algorithm>
#include <memory>
#include <string>
#include <vector>

#include "trace/write/chunks.h"
#include "trace/write/encoder.h"
#include "trace/write/sink.h"
#include "training_input.h"

namespace rlscope::benchmarks {

constexpr uint32_t kPid = 100;

inline void Check(int error, const char* what) {
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

  void Write(const TrainingLoop& made, const Names& names) {
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

  void WriteItems(uint32_t thread, const analysis::CpuColumns& items) {
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
      Check(trace::WriteGpu(&sink_, buffer_.get(), {0, 1, number}, work.data(), work.size()),
            "gpu");
    }
  }

  int descriptor_;
  trace::FileSink sink_;
  std::unique_ptr<trace::ChunkBuffer> buffer_;
  std::unique_ptr<trace::CpuEncoder> encoder_;
};

// Eight bits a layer; above them what the operation adds to its parent's number (sweep_peers.py).
inline int64_t WeightOf(const Stream& stream, size_t event) {
  if (stream.layer[event] != kOperation)
    return int64_t{1} << 8 * (stream.layer[event] - kSimulator);
  const int64_t operation = stream.operation[event];
  const int64_t parent = operation > 5 ? 5 : operation > 1 && operation < 5 ? 1 : 0;
  return (operation - parent) << 40;
}

inline void WriteColumn(const std::string& path, const std::vector<Stream>& streams,
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

inline void WriteColumns(const std::string& folder, const std::vector<Stream>& streams) {
  WriteColumn(folder + "/start_ns", streams,
              [](const Stream& stream, size_t event) { return stream.start_ns[event]; });
  WriteColumn(folder + "/end_ns", streams,
              [](const Stream& stream, size_t event) { return stream.end_ns[event]; });
  WriteColumn(folder + "/weight", streams, WeightOf);
}

}  // namespace rlscope::benchmarks

#endif  // RLSCOPE_TESTS_BENCHMARKS_TRAINING_FILE_H_
