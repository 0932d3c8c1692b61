#include "importers/trace_file.h"

#include <errno.h>
#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <stdexcept>
#include <system_error>

namespace rlscope::importers {

TraceFile::TraceFile(const std::string& path, const trace::ProcessFields& process)
    : path_(path),
      buffer_(std::make_unique<trace::ChunkBuffer>()),
      encoder_(std::make_unique<trace::CpuEncoder>()) {
  descriptor_ = open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_APPEND | O_CLOEXEC, 0600);
  if (descriptor_ < 0) Check(errno);
  sink_.SetDescriptor(descriptor_);
  Check(trace::WriteProcess(&sink_, buffer_.get(), process));
}

TraceFile::~TraceFile() {
  if (descriptor_ >= 0) close(descriptor_);
}

void TraceFile::Close() {
  if (descriptor_ < 0) return;
  const int error = close(descriptor_) == 0 ? 0 : errno;
  descriptor_ = -1;
  Check(error);
}

void TraceFile::Check(int error) {
  if (error != 0) throw std::system_error(error, std::generic_category(), path_);
}

void TraceFile::CheckOpen() const {
  if (descriptor_ < 0) throw std::logic_error("the trace file is closed: " + path_);
}

// ---- small chunks -------------------------------------------------------------------------------

void TraceFile::AddClockPairs(const std::vector<base::ClockPair>& pairs) {
  CheckOpen();
  Check(trace::WriteClock(&sink_, buffer_.get(), pairs.data(), pairs.size()));
}

uint32_t TraceFile::AddName(trace::NameKind kind, const std::string& text, trace::Layer layer) {
  CheckOpen();
  const trace::NameFields fields = {++names_, kind, layer, {text.data(), text.size()}};
  Check(trace::WriteNames(&sink_, buffer_.get(), &fields, 1));
  return names_;
}

void TraceFile::AddThread(const trace::ThreadFields& thread) {
  CheckOpen();
  Check(trace::WriteThreads(&sink_, buffer_.get(), &thread, 1));
}

void TraceFile::AddMetadata(const trace::ProcessNames& names,
                            const std::vector<trace::MetadataFields>& entries) {
  CheckOpen();
  Check(trace::WriteMetadata(&sink_, buffer_.get(), names, entries.data(), entries.size()));
}

void TraceFile::CloseForNext() {
  CheckOpen();
  Check(trace::WriteClosed(&sink_));
}

uint64_t TraceFile::clamped() const {
  uint64_t clamped = clamped_;
  for (const auto& [thread, stream] : streams_) clamped += stream->stream.clamped;
  return clamped;
}

void TraceFile::End(const trace::EndFields& end, std::vector<trace::LossFields> losses) {
  CheckOpen();
  if (clamped() > 0) losses.push_back({"clamped", clamped()});
  Check(trace::WriteEnd(&sink_, buffer_.get(), end, losses.data(), losses.size()));
}

// ---- items --------------------------------------------------------------------------------------

TraceFile::Stream* TraceFile::FindStream(uint32_t thread) {
  std::unique_ptr<Stream>& stream = streams_[thread];
  if (stream == nullptr) {
    stream = std::make_unique<Stream>();
    stream->stream.Reset(thread);
  }
  return stream.get();
}

void TraceFile::EndThread(uint32_t thread) {
  const auto found = streams_.find(thread);
  if (found == streams_.end()) return;
  clamped_ += found->second->stream.clamped;
  streams_.erase(found);
}

void TraceFile::BeginChunk() {
  encoder_->Begin(&current_->stream, /*ring=*/2 * current_->stream.thread, current_->slots,
                  &changes_);
}

void TraceFile::BeginItems(uint32_t thread) {
  CheckOpen();
  current_ = FindStream(thread);
  BeginChunk();
}

void TraceFile::EndItems() {
  current_ = nullptr;
  Check(encoder_->Finish(&sink_));
}

void TraceFile::AddOpenWait(uint32_t thread, uint64_t ticks, uint32_t id) {
  BeginItems(thread);
  encoder_->AddAhead({ticks, 0, trace::MakeWord(trace::kCallBegin, id, 1)});
  EndItems();
}

void TraceFile::AddStates(int64_t time_ns, const std::vector<uint32_t>& awake,
                          const std::vector<trace::ThreadStack>& stacks) {
  CheckOpen();
  const uint32_t end = static_cast<uint32_t>(std::min(awake.size(), trace::kMostAwake));
  const uint32_t stack_end = static_cast<uint32_t>(std::min(stacks.size(), trace::kMostStacks));
  const uint32_t* const stack_ends = stacks.empty() ? nullptr : &stack_end;
  Check(trace::WriteStates(&sink_, buffer_.get(),
                           {&time_ns, &end, awake.data(), 1, stack_ends, stacks.data()}));
}

void TraceFile::AddStacks(const std::vector<trace::FunctionFields>& functions,
                          const std::vector<trace::NodeFields>& nodes) {
  CheckOpen();
  Check(trace::WriteStacks(&sink_, buffer_.get(),
                           {functions_ + 1, functions.data(), functions.size(), nodes_ + 1,
                            nodes.data(), nodes.size()}));
  functions_ += static_cast<uint32_t>(functions.size());
  nodes_ += static_cast<uint32_t>(nodes.size());
}

void TraceFile::AddCallSites(const std::vector<trace::FunctionFields>& functions,
                             std::vector<trace::NodeFields> nodes) {
  CheckOpen();
  for (trace::NodeFields& node : nodes) {
    if (node.parent != 0) node.parent += trace::kFirstSite;
    node.function += trace::kFirstSite;
  }
  constexpr uint32_t kFirst = trace::kFirstSite + 1;
  Check(trace::WriteStacks(
      &sink_, buffer_.get(),
      {kFirst, functions.data(), functions.size(), kFirst, nodes.data(), nodes.size()}));
}

void TraceFile::AddItem(uint64_t ticks, uint32_t kind, uint32_t id, uint64_t duration,
                        uint64_t value) {
  const auto word = [](uint32_t slot_kind, uint32_t slot_id) {
    return trace::MakeWord(slot_kind, slot_id, 1);
  };
  if (kind == trace::kCall && duration > UINT32_MAX) {
    AddSlot({ticks, 0, word(trace::kCallBegin, id)}, 0);
    AddSlot({ticks + duration, 0, word(trace::kCallEnd, 0)}, 0);
  } else {
    AddSlot({ticks, static_cast<uint32_t>(duration), word(kind, id)}, value);
  }
}

void TraceFile::AddSlot(const trace::Slot& slot, uint64_t value) {
  if (encoder_->Full()) {
    Check(encoder_->Finish(&sink_));
    BeginChunk();
  }
  const trace::Slot second = {value, 0, trace::MakeWord(trace::kContinued, 0, 1)};
  const bool has_two = trace::HasTwoSlots(trace::KindOf(slot.word));
  encoder_->Add(slot, has_two ? &second : nullptr);
  current_->slots += has_two ? 2 : 1;
}

// ---- intervals ----------------------------------------------------------------------------------

void TraceFile::AddCudaCalls(uint32_t thread, const trace::CudaCall* calls, size_t count) {
  CheckOpen();
  Stream* stream = FindStream(thread);
  for (size_t at = 0; at < count; at += trace::kChunkIntervals) {
    const size_t some = std::min(count - at, trace::kChunkIntervals);
    Check(trace::WriteCudaCalls(&sink_, buffer_.get(), thread, 2 * thread + 1, stream->cuda_slots,
                                2 * some, calls + at, some, &stream->stream.clamped));
    stream->cuda_slots += 2 * some;
  }
}

void TraceFile::AddGpu(const trace::GpuOrigin& origin, const trace::GpuInterval* intervals,
                       size_t count) {
  CheckOpen();
  for (size_t at = 0; at < count; at += kMostGpu) {
    const size_t some = std::min(count - at, kMostGpu);
    Check(trace::WriteGpu(&sink_, buffer_.get(), origin, intervals + at, some));
  }
}

}  // namespace rlscope::importers
