#include "trace/directory/rolled_up_file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include <algorithm>
#include <memory>
#include <vector>

#include "base/wire.h"
#include "trace/read/stack_tree.h"
#include "trace/write/chunks.h"
#include "trace/write/frame_writer.h"

namespace rlscope::trace {
namespace {

constexpr int kCreate = O_WRONLY | O_CREAT | O_TRUNC | O_APPEND | O_NOFOLLOW | O_CLOEXEC;

Text ToText(const std::string& text) { return {text.data(), text.size()}; }

// Calls `take(number, place, count)` for the first of all entries whose numbers follow each other.
template <class Entries, class Take>
void ForEachRun(const Entries& entries, Take take) {
  size_t first = 0;
  for (size_t i = 0; i < entries.size(); ++i) {
    const bool goes_on = i + 1 < entries.size() && entries[i + 1].first == entries[i].first + 1;
    if (goes_on) continue;
    take(entries[first].first, first, i + 1 - first);
    first = i + 1;
  }
}

// Writes chunks until the first error.
class ChunkWriter {
 public:
  ChunkWriter(const ProcessTrace& process, Sink* sink)
      : process_(process), sink_(sink), buffer_(std::make_unique<ChunkBuffer>()) {}

  int error() const { return error_; }

  void WriteProcess() {
    const ProcessInfo& info = process_.info();
    Keep(trace::WriteProcess(sink_, buffer_.get(),
                             {info.tool_version.c_str(), info.host.c_str(), info.boot_id.c_str(),
                              info.os_pid, info.start_time, info.began_ns, info.clock, info.tick_hz,
                              info.main_thread, info.tick_shift}));
  }

  // Those from the last but one before `first_ticks` on: on these lines the rest lies.
  void WriteClock(uint64_t first_ticks) {
    std::vector<base::ClockPair> pairs;
    for (const auto& file : process_.files()) {
      pairs.insert(pairs.end(), file->clock_pairs().begin(), file->clock_pairs().end());
    }
    const auto is_before = [](const base::ClockPair& one, const base::ClockPair& other) {
      return one.ticks < other.ticks;
    };
    std::sort(pairs.begin(), pairs.end(), is_before);
    const size_t before = static_cast<size_t>(
        std::lower_bound(pairs.begin(), pairs.end(), base::ClockPair{first_ticks, 0}, is_before) -
        pairs.begin());
    const size_t first = before < 2 ? 0 : before - 2;
    Keep(trace::WriteClock(sink_, buffer_.get(), pairs.data() + first, pairs.size() - first));
  }

  void WriteNames() {
    std::vector<NameFields> fields;
    for (const Name& name : process_.names()) {
      fields.push_back({name.id, static_cast<NameKind>(name.kind), static_cast<Layer>(name.layer),
                        ToText(name.text)});
    }
    Keep(trace::WriteNames(sink_, buffer_.get(), fields.data(), fields.size()));
  }

  void WriteStacks() {
    const StackTree tree(process_.stacks());
    std::vector<FunctionFields> functions;
    for (const auto& [number, function] : tree.functions()) {
      functions.push_back({ToText(function.file), ToText(function.name), function.line});
    }
    std::vector<NodeFields> nodes;
    for (const auto& [number, node] : tree.nodes()) {
      nodes.push_back({node.parent, node.function, node.line});
    }
    ForEachRun(tree.functions(), [&](uint32_t number, size_t first, size_t count) {
      Keep(trace::WriteStacks(sink_, buffer_.get(), {number, &functions[first], count, 0, {}, 0}));
    });
    ForEachRun(tree.nodes(), [&](uint32_t number, size_t first, size_t count) {
      Keep(trace::WriteStacks(sink_, buffer_.get(), {0, {}, 0, number, &nodes[first], count}));
    });
  }

  void WriteThreads() {
    std::vector<ThreadFields> fields;
    for (const ThreadChunks& chunks : process_.threads()) {
      const Thread& thread = chunks.thread;
      for (const ThreadTimes& times : {thread.first_times, thread.last_times}) {
        fields.push_back(
            {thread.thread, thread.os_tid, thread.is_python, ToText(thread.name), times});
      }
    }
    Keep(trace::WriteThreads(sink_, buffer_.get(), fields.data(), fields.size()));
  }

  void WriteMetadata() {
    const Metadata& metadata = process_.metadata();
    std::vector<MetadataFields> fields;
    for (const auto& [key, value] : metadata.entries) {
      fields.push_back({ToText(key), ToText(value)});
    }
    const ProcessNames names = {ToText(metadata.process_name), ToText(metadata.program),
                                ToText(metadata.python)};
    Keep(trace::WriteMetadata(sink_, buffer_.get(), names, fields.data(), fields.size()));
  }

  void WriteEnd() {
    const EndInfo* const end = process_.end();
    if (end == nullptr) return;
    std::vector<LossFields> losses;
    for (const auto& [kind, count] : end->losses) losses.push_back({kind.c_str(), count});
    Keep(trace::WriteEnd(
        sink_, buffer_.get(),
        {end->end_ns, end->exited, end->python_begin_ns, end->python_end_ns, end->forks},
        losses.data(), losses.size()));
  }

  void WritePiece(const uint8_t* data, size_t size, bool last) {
    uint8_t head[3 * base::kMaxVarintBytes];
    uint8_t* end = base::PutVarintField(head, 1, piece_++);
    end = base::PutVarintField(end, 2, last);
    if (size > 0) end = base::PutLength(end, 3, size);
    struct iovec pieces[3] = {
        {nullptr, 0}, {head, static_cast<size_t>(end - head)}, {const_cast<uint8_t*>(data), size}};
    Keep(AppendFrame(sink_, FrameType::kRolledUp, pieces, 3));
  }

 private:
  void Keep(int error) {
    if (error_ == 0) error_ = error;
  }

  const ProcessTrace& process_;
  Sink* const sink_;
  const std::unique_ptr<ChunkBuffer> buffer_;
  uint64_t piece_ = 0;
  int error_ = 0;
};

}  // namespace

RolledUpFile::RolledUpFile(const std::string& folder, const ProcessTrace& process)
    : process_(process) {
  const ProcessInfo& info = process.info();
  path_ = folder + "/" + info.host + "." + std::to_string(info.os_pid) + "." +
          std::to_string(info.start_time) + "." + std::to_string(info.began_ns) + ".rls";
  unfinished_ = path_ + ".new";
}

RolledUpFile::~RolledUpFile() {
  if (descriptor_ < 0) return;
  close(descriptor_);
  unlink(unfinished_.c_str());
}

base::Status RolledUpFile::Error(int error) const {
  return base::Status::Error(error, "cannot write %s: %s", unfinished_.c_str(), strerror(error));
}

base::Status RolledUpFile::Write(uint64_t first_ticks, const std::function<void(Archive*)>& carry) {
  descriptor_ = open(unfinished_.c_str(), kCreate, 0600);
  if (descriptor_ < 0) return Error(errno);
  FileSink sink(descriptor_);
  ChunkWriter writer(process_, &sink);
  writer.WriteProcess();
  writer.WriteClock(first_ticks);
  writer.WriteNames();
  writer.WriteStacks();
  writer.WriteThreads();
  writer.WriteMetadata();
  Archive archive(
      [&](const uint8_t* data, size_t size) { writer.WritePiece(data, size, /*last=*/false); });
  carry(&archive);
  archive.Flush();
  writer.WritePiece(nullptr, 0, /*last=*/true);
  writer.WriteEnd();
  bytes_ = sink.bytes();
  return writer.error() == 0 ? base::Status() : Error(writer.error());
}

base::Status RolledUpFile::Publish() {
  if (fdatasync(descriptor_) != 0 || rename(unfinished_.c_str(), path_.c_str()) != 0) {
    return Error(errno);
  }
  close(descriptor_);
  descriptor_ = -1;
  return base::Status();
}

}  // namespace rlscope::trace
