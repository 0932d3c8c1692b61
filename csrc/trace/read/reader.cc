#include "trace/read/reader.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/regular_file.h"
#include "trace/read/frame_reader.h"
#include "trace/read/interval_decoder.h"

namespace rlscope::trace {

using base::Status;

// Fills a TraceFile from its bytes.
class FileIndexer {
 public:
  explicit FileIndexer(TraceFile* file) : file_(file) {}

  Status Index();

 private:
  void Add(const FrameView& frame);
  bool AddPayload(const FrameView& frame);
  bool AddCpu(const FrameView& frame);
  bool AddCuda(const FrameView& frame);
  bool AddGpu(const FrameView& frame);
  void AddProblem(uint64_t offset, uint64_t bytes, const char* what);
  void GuessProcess();

  TraceFile* file_;
  uint64_t frames_ = 0;
  uint16_t other_version_ = 0;  // of a frame that was left out
};

void FileIndexer::AddProblem(uint64_t offset, uint64_t bytes, const char* what) {
  file_->problems_.push_back({file_->path_, offset, bytes, what});
}

bool FileIndexer::AddCpu(const FrameView& frame) {
  CpuHeader header;
  if (!ParseCpuHeader(frame.payload.data, frame.payload.size, &header)) return false;
  file_->cpu_.push_back({frame.payload.data, static_cast<uint32_t>(frame.payload.size),
                         header.thread, header.ring, header.count, header.events, header.operations,
                         header.automatic, header.first_slot, header.slots, header.base_ticks,
                         header.last_ticks, 0});
  return true;
}

bool FileIndexer::AddCuda(const FrameView& frame) {
  CudaCallHeader header;
  if (!ParseCudaCallHeader(frame.payload.data, frame.payload.size, &header)) return false;
  file_->cuda_.push_back({frame.payload.data, static_cast<uint32_t>(frame.payload.size),
                          header.thread, header.ring, header.count, header.first_slot, header.slots,
                          header.base_ticks, header.last_ticks});
  return true;
}

bool FileIndexer::AddGpu(const FrameView& frame) {
  GpuHeader header;
  if (!ParseGpuHeader(frame.payload.data, frame.payload.size, &header)) return false;
  file_->gpu_.push_back({frame.payload.data, static_cast<uint32_t>(frame.payload.size),
                         header.device, header.context, header.stream, header.count,
                         header.min_start_ns, header.max_end_ns, header.ring, header.first_slot,
                         header.slots});
  return true;
}

bool FileIndexer::AddPayload(const FrameView& frame) {
  switch (frame.type) {
    case FrameType::kProcess:
      file_->has_process_ = true;
      return ParseProcess(frame.payload, &file_->process_);
    case FrameType::kNames:
      return ParseNames(frame.payload, &file_->names_);
    case FrameType::kThreads:
      return ParseThreads(frame.payload, &file_->threads_);
    case FrameType::kClock:
      return ParseClock(frame.payload, &file_->clock_pairs_);
    case FrameType::kCpu:
      return AddCpu(frame);
    case FrameType::kCudaCall:
      return AddCuda(frame);
    case FrameType::kGpu:
      return AddGpu(frame);
    case FrameType::kMetadata:
      return ParseMetadata(frame.payload, &file_->metadata_);
    case FrameType::kEnd:
      file_->has_end_ = true;
      return ParseEnd(frame.payload, &file_->end_);
    case FrameType::kRolledUp:
      file_->rolled_up_.emplace_back();
      return ParseRolledUp(frame.payload, &file_->rolled_up_.back());
    case FrameType::kClosed:
      file_->is_closed_ = true;
      return true;
    case FrameType::kStates:
      file_->states_.push_back(frame.payload);
      return true;
    case FrameType::kStacks:
      file_->stacks_.push_back(frame.payload);
      return true;
    case FrameType::kUnknown:
      break;
  }
  return true;  // a type of a later minor version: nothing to do with it
}

void FileIndexer::Add(const FrameView& frame) {
  const uint64_t bytes = sizeof(FrameHeader) + frame.payload.size;
  if (frame.version != kFormatVersion) {
    other_version_ = frame.version;
    AddProblem(frame.offset, bytes, "frame of another format version");
    return;
  }
  ++frames_;
  if (!AddPayload(frame)) AddProblem(frame.offset, bytes, "frame that is not a valid message");
}

// Without a ProcessChunk the clock is unknown: pairs tell ticks from nanoseconds.
void FileIndexer::GuessProcess() {
  AddProblem(0, 0, "no intact process frame, so rlscope guessed the clock");
  for (const base::ClockPair& pair : file_->clock_pairs_) {
    if (pair.ticks != static_cast<uint64_t>(pair.ns)) file_->process_.clock = base::ClockKind::kTsc;
  }
}

Status FileIndexer::Index() {
  const char* path = file_->path_.c_str();
  if (file_->size_ == 0) return Status::Error(0, "%s is empty", path);
  FrameReader reader(file_->data_, file_->size_);
  FrameView frame;
  while (reader.Next(&frame)) Add(frame);
  if (frames_ == 0 && other_version_ != 0) {
    return Status::Error(0, "%s has trace format version %u; this rlscope reads version %u", path,
                         other_version_, kFormatVersion);
  }
  if (frames_ == 0) return Status::Error(0, "%s is not a trace file: no intact frame in it", path);
  for (const Damage& damage : reader.damages()) {
    AddProblem(damage.offset, damage.bytes, damage.at_end ? "cut off or damaged" : "damaged");
  }
  if (!file_->has_process_) GuessProcess();
  return Status();
}

namespace {

// Maps a whole regular file for reading. An empty file gives a null mapping.
Status MapFile(const std::string& path, void** mapping, uint64_t* size) {
  const int descriptor = base::OpenRegular(path.c_str(), O_RDONLY, size);
  if (descriptor < 0) {
    return Status::Error(errno, "cannot read %s: %s", path.c_str(), base::DescribeOpenError(errno));
  }
  Status result;
  *mapping = nullptr;
  if (*size > 0) {
    *mapping = mmap(nullptr, *size, PROT_READ, MAP_PRIVATE, descriptor, 0);
    if (*mapping == MAP_FAILED) {
      *mapping = nullptr;
      result = Status::Error(errno, "cannot map %s: %s", path.c_str(), strerror(errno));
    }
  }
  close(descriptor);
  return result;
}

}  // namespace

Status TraceFile::Open(const std::string& path, std::unique_ptr<TraceFile>* file) {
  std::unique_ptr<TraceFile> opened(new TraceFile());
  opened->path_ = path;
  Status status = MapFile(path, &opened->mapping_, &opened->size_);
  if (!status.ok()) return status;
  opened->data_ = static_cast<const uint8_t*>(opened->mapping_);
  status = FileIndexer(opened.get()).Index();
  if (status.ok()) *file = std::move(opened);
  return status;
}

Status TraceFile::FromBytes(std::vector<uint8_t> bytes, const std::string& label,
                            std::unique_ptr<TraceFile>* file) {
  std::unique_ptr<TraceFile> opened(new TraceFile());
  opened->path_ = label;
  opened->owned_ = std::move(bytes);
  opened->data_ = opened->owned_.data();
  opened->size_ = opened->owned_.size();
  Status status = FileIndexer(opened.get()).Index();
  if (status.ok()) *file = std::move(opened);
  return status;
}

TraceFile::~TraceFile() {
  if (mapping_ != nullptr) munmap(mapping_, size_);
}

}  // namespace rlscope::trace
