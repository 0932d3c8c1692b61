#include "trace/drain/image_file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <unistd.h>

#include "base/proc.h"
#include "trace/drain/mapped_file.h"
#include "trace/write/chunks.h"

namespace rlscope::trace {
namespace {

constexpr int kMostFiles = 1000000;  // of one pid and start time
constexpr int kAppend = O_WRONLY | O_APPEND | O_CLOEXEC | O_NOFOLLOW;

}  // namespace

ImageFile::~ImageFile() { CloseDescriptor(); }

int ImageFile::Open(const char* directory, const char* rings, const char* name) {
  directory_ = directory;
  return image_.Open(rings, name, DrainMode::kConsume);
}

int ImageFile::CreateFile() {
  char host[256];
  base::ReadHostName(host, sizeof host);
  const ImageIdentity& image = image_.identity();
  for (int n = next_number_; n < kMostFiles; n++) {
    const int length = snprintf(path_, sizeof path_, "%s/trace/%s.%u.%llu.%d.rls", directory_, host,
                                image.pid, static_cast<unsigned long long>(image.start_time), n);
    if (length < 0 || static_cast<size_t>(length) >= sizeof path_) break;
    const int descriptor = open(path_, kAppend | O_CREAT | O_EXCL, 0600);
    if (descriptor >= 0) next_number_ = n + 1;
    if (descriptor >= 0 || errno != EEXIST) return descriptor;
  }
  errno = ENAMETOOLONG;
  return -1;
}

int ImageFile::OpenDescriptor() {
  if (sink_.descriptor() >= 0) return 0;
  const int descriptor = path_[0] == '\0' ? CreateFile() : open(path_, kAppend);
  if (descriptor < 0) {
    path_[0] = '\0';
    if (errno == ENOENT) sink_.Refuse(ENOENT);
    return errno;
  }
  sink_.SetDescriptor(descriptor);
  return 0;
}

void ImageFile::CloseDescriptor() {
  if (sink_.descriptor() >= 0) close(sink_.descriptor());
  sink_.SetDescriptor(-1);
}

// If the sink did not refuse, a lack of memory stopped the pass. A file without a frame is none: a
// reader would take it for a damaged one.
int ImageFile::Refusal() {
  if (sink_.bytes() == bytes_before_ && sink_.descriptor() >= 0) unlink(path_);
  return sink_.error() != 0 ? sink_.error() : ENOMEM;
}

int ImageFile::Drain(bool final) {
  if (sink_.error() != 0) return sink_.error();
  if (const int error = OpenDescriptor()) return error;
  return image_.Drain(&sink_, final) ? 0 : Refusal();
}

int ImageFile::BeginNext() {
  if (sink_.error() != 0) return sink_.error();
  if (const int error = OpenDescriptor()) return error;
  if (!image_.Drain(&sink_, DrainPass::kAll)) return Refusal();
  if (image_.stats().chunks == chunks_before_) return 0;
  if (WriteClosed(&sink_) != 0) return Refusal();
  CloseDescriptor();
  path_[0] = '\0';
  chunks_before_ = image_.stats().chunks;
  bytes_before_ = sink_.bytes();
  image_.BeginNextFile();
  return 0;
}

int ImageFile::End(const ImageEnd& end) {
  if (const int error = Drain(/*final=*/true)) return error;
  if (!image_.WriteEnd(&sink_, end)) return Refusal();
  image_.RemoveFiles();
  return 0;
}

void ImageFile::CheckRemoved() {
  if (IsRemoved(sink_.descriptor())) sink_.Refuse(ENOENT);
}

}  // namespace rlscope::trace
