#include "trace/read/reader.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <fstream>

#include "memory_trace.h"
#include "trace/read/cursor.h"
#include "trace/read/frame_reader.h"
#include "trace/write/interval_chunks.h"

namespace rlscope::trace {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

// One frame of every kind, and three chunks of one thread.
std::vector<uint8_t> EveryKind() {
  MemoryTrace trace;
  trace.Process(base::ClockKind::kTsc, 4242, 123, 2000000000)
      .Clock({{1000, 5000}, {3000, 6000}})
      .Name(7, "inference")
      .Name(8, "numpy:dot", NameKind::kFunction, Layer::kFramework)
      .Thread(1, 4242, "main");
  const std::string json = "{\"lr\": 0.1}";
  const MetadataFields metadata = {{"config", 6}, ToText(json)};
  const ProcessNames names = {{"trainer", 7}, {"train.py", 8}, {"3.11.7", 6}};
  EXPECT_EQ(0, WriteMetadata(trace.sink(), trace.buffer(), names, &metadata, 1));
  trace.Items(1, {{kThreadBegin, 1, 1000}, {kOperationEnter, 7, 1100}, {kCall, 8, 1200, 100}})
      .Items(1, {{kOperationExit, 7, 1400}})
      .Items(1, {{kOperationEnter, 7, 1500}, {kOperationExit, 7, 1600}});
  const CudaCall call = {1700, 50, 8, 99, 1, 2};
  EXPECT_EQ(0, WriteCudaCalls(trace.sink(), trace.buffer(), 1, 50, 0, 2, &call, 1));
  const GpuInterval interval = {6100, 40, GpuKind::kMemcpy, 8, 99, 4096};
  EXPECT_EQ(0, WriteGpu(trace.sink(), trace.buffer(), {0, 1, 2}, &interval, 1));
  const EndFields end = {7000, true, 5100, 6900, 3};
  const LossFields loss = {"ring_full", 12};
  EXPECT_EQ(0, WriteEnd(trace.sink(), trace.buffer(), end, &loss, 1));
  return trace.bytes();
}

base::Status Open(const std::vector<uint8_t>& bytes, std::unique_ptr<TraceFile>* file) {
  return TraceFile::FromBytes(bytes, "memory", file);
}

TEST(TraceFile, EveryFrameIsRead) {
  std::unique_ptr<TraceFile> file;
  ASSERT_TRUE(Open(EveryKind(), &file).ok());
  EXPECT_TRUE(file->problems().empty());
  EXPECT_EQ(file->process().os_pid, 4242u);
  EXPECT_EQ(file->process().host, "box");
  EXPECT_EQ(file->process().began_ns, 123);
  EXPECT_EQ(file->process().clock, base::ClockKind::kTsc);
  EXPECT_EQ(file->process().tick_hz, 2000000000u);
  EXPECT_EQ(file->process().main_thread, 4242u);
  ASSERT_EQ(file->clock_pairs().size(), 2u);
  EXPECT_EQ(file->clock_pairs()[1].ns, 6000);
  ASSERT_EQ(file->names().size(), 2u);
  EXPECT_EQ(file->names()[1].text, "numpy:dot");
  EXPECT_EQ(file->names()[1].layer, static_cast<uint32_t>(Layer::kFramework));
  ASSERT_EQ(file->threads().size(), 1u);
  EXPECT_EQ(file->threads()[0].name, "main");
  EXPECT_TRUE(file->threads()[0].is_python);
  EXPECT_EQ(file->metadata().entries[0].second, "{\"lr\": 0.1}");
  EXPECT_EQ(file->metadata().process_name, "trainer");
  EXPECT_EQ(file->metadata().python, "3.11.7");
  EXPECT_EQ(file->cpu().size(), 3u);
  ASSERT_NE(file->end(), nullptr);
  EXPECT_EQ(file->end()->end_ns, 7000);
  EXPECT_EQ(file->end()->python_begin_ns, 5100);
  EXPECT_EQ(file->end()->losses[0], (std::pair<std::string, uint64_t>{"ring_full", 12}));
  EXPECT_EQ(file->end()->forks, 3u);
}

TEST(TraceFile, IntervalsRoundTripInNanoseconds) {
  std::vector<std::unique_ptr<TraceFile>> files(1);
  ASSERT_TRUE(Open(EveryKind(), &files[0]).ok());
  const ProcessTrace trace(std::move(files));
  CudaCallCursor calls(trace, 0);
  const CudaCallBatch* call = calls.Next();
  ASSERT_NE(call, nullptr);
  EXPECT_EQ(call->start_ns[0], 5350);
  EXPECT_EQ(call->end_ns[0], 5375);
  EXPECT_EQ(call->correlation[0], 99);
  EXPECT_EQ(call->status[0], 1u);
  EXPECT_EQ(call->context[0], 2u);
  EXPECT_EQ(calls.Next(), nullptr);
  ASSERT_EQ(trace.gpu_streams().size(), 1u);
  GpuCursor gpu(trace, 0);
  const GpuBatch* batch = gpu.Next();
  ASSERT_NE(batch, nullptr);
  EXPECT_EQ(batch->start_ns[0], 6100);
  EXPECT_EQ(batch->end_ns[0], 6140);
  EXPECT_EQ(batch->kind[0], static_cast<uint32_t>(GpuKind::kMemcpy));
  EXPECT_EQ(batch->bytes[0], 4096u);
  EXPECT_EQ(gpu.Next(), nullptr);
  EXPECT_EQ(trace.CountEvents().Sum(), 5u) << "two operations, three calls and copies";
}

TEST(TraceFile, CudaCallsThatOverlapAreCutAndCounted) {
  MemoryTrace made;
  const CudaCall calls[] = {{100, 50, 8, 1, 0, 0},  // until 150
                            {120, 50, 8, 2, 0, 0},  // starts inside it
                            {130, 10, 8, 3, 0, 0},  // wholly inside it
                            {200, 5, 8, 4, 0, 0},
                            {UINT64_C(1) << 61, 7, 8, 5, 0, 0}};
  uint64_t clamped = 0;
  made.Process();
  EXPECT_EQ(0, WriteCudaCalls(made.sink(), made.buffer(), 1, 50, 0, 10, calls, 5, &clamped));
  EXPECT_EQ(clamped, 3u) << "two starts and one end";
  const auto trace = made.Trace();
  CudaCallCursor cursor(*trace, 0);
  const CudaCallBatch* batch = cursor.Next();
  ASSERT_NE(batch, nullptr);
  EXPECT_EQ(cursor.undecodable_chunks(), 0u);
  EXPECT_THAT(std::vector<int64_t>(batch->start_ns, batch->start_ns + 5),
              ElementsAre(100, 150, 170, 200, INT64_C(1) << 61));
  EXPECT_THAT(std::vector<int64_t>(batch->end_ns, batch->end_ns + 5),
              ElementsAre(150, 170, 170, 205, (INT64_C(1) << 61) + 7));
}

TEST(TraceFile, TruncatedAnywhereEveryWholeFrameIsRead) {
  const std::vector<uint8_t> bytes = EveryKind();
  size_t frames_before = 0;
  for (size_t size = 1; size <= bytes.size(); ++size) {
    const std::vector<uint8_t> cut(bytes.begin(), bytes.begin() + static_cast<long>(size));
    FrameReader reader(cut.data(), cut.size());
    FrameView frame;
    size_t frames = 0;
    while (reader.Next(&frame)) ++frames;
    EXPECT_GE(frames, frames_before);
    frames_before = frames;
    std::unique_ptr<TraceFile> file;
    EXPECT_EQ(Open(cut, &file).ok(), frames > 0) << size;
    if (file == nullptr) continue;
    EXPECT_EQ(file->problems().empty(), reader.damages().empty());
    EXPECT_TRUE(file->has_process());
  }
}

TEST(TraceFile, ABitFlipCostsOneFrameAndIsListed) {
  const std::vector<uint8_t> bytes = EveryKind();
  for (size_t bit = 0; bit < 8 * bytes.size(); bit += 5) {
    std::vector<uint8_t> flipped = bytes;
    flipped[bit / 8] ^= static_cast<uint8_t>(1 << bit % 8);
    std::unique_ptr<TraceFile> file;
    ASSERT_TRUE(Open(flipped, &file).ok());
    ASSERT_FALSE(file->problems().empty());
    const size_t lost = (3 - file->cpu().size()) + (1 - file->cuda().size()) +
                        (1 - file->gpu().size()) + (2 - file->names().size()) +
                        (1 - file->threads().size()) + (file->clock_pairs().empty() ? 1 : 0) +
                        (file->end() == nullptr ? 1 : 0) + (file->has_process() ? 0 : 1) +
                        (file->metadata().entries.empty() ? 1 : 0);
    EXPECT_EQ(lost, 1u) << "bit " << bit;
  }
}

TEST(TraceFile, BadFilesGiveOneSentence) {
  std::unique_ptr<TraceFile> file;
  EXPECT_THAT(Open({}, &file).message(), HasSubstr("is empty"));
  EXPECT_THAT(Open({'P', 'K', 3, 4}, &file).message(), HasSubstr("is not a trace file"));
  EXPECT_THAT(TraceFile::Open("/nonexistent.rls", &file).message(),
              HasSubstr("No such file or directory"));
  EXPECT_THAT(TraceFile::Open("/tmp", &file).message(), HasSubstr("is not a regular file"));
  EXPECT_EQ(file, nullptr);
}

TEST(TraceFile, AnotherVersionIsNamed) {
  std::vector<uint8_t> bytes = EveryKind();
  FrameHeader header;
  for (size_t at = 0; at < bytes.size(); at += sizeof header + header.length) {
    memcpy(&header, &bytes[at], sizeof header);
    header.version = kFormatVersion + 1;
    header.crc = FrameCrc(header, &bytes[at + sizeof header]);
    memcpy(&bytes[at], &header, sizeof header);
  }
  std::unique_ptr<TraceFile> file;
  EXPECT_THAT(Open(bytes, &file).message(), HasSubstr("version 3; this rlscope reads version 2"));
}

TEST(TraceFile, MapsAFileFromDisk) {
  char path[] = "/tmp/rlscope_reader_XXXXXX";
  close(mkstemp(path));
  const std::vector<uint8_t> bytes = EveryKind();
  std::ofstream(path).write(reinterpret_cast<const char*>(bytes.data()),
                            static_cast<long>(bytes.size()));
  std::unique_ptr<ProcessTrace> trace;
  ASSERT_TRUE(OpenProcessFile(path, &trace).ok());
  EXPECT_EQ(trace->file_bytes(), bytes.size());
  unlink(path);
  EXPECT_EQ(trace->threads()[0].cpu.size(), 3u);
}

TEST(TraceFile, TextThatIsNotUtf8IsMadeSo) {
  MemoryTrace trace;
  trace.Process().Name(1, "bad \xff name");
  EXPECT_EQ(trace.File()->names()[0].text, "bad ? name");
}

TEST(TraceFile, LongTextIsCutAtACharacter) {
  MemoryTrace trace;
  std::string text(32 * 1024 - 1, 'x');
  trace.Process().Name(1, text + "ü");
  EXPECT_EQ(trace.File()->names()[0].text, text);
}

}  // namespace
}  // namespace rlscope::trace
