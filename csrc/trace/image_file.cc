#include "trace/image_file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <unistd.h>

#include "base/proc.h"

namespace rlscope::trace {
namespace {

constexpr int kMaxFiles = 100000;  // of one pid and start time: one for each exec or drainer
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
  for (int n = 0; n < kMaxFiles; n++) {
    const int length = snprintf(path_, sizeof path_, "%s/trace/%s.%u.%llu.%d.rls", directory_, host,
                                image.pid, static_cast<unsigned long long>(image.start_time), n);
    if (length < 0 || static_cast<size_t>(length) >= sizeof path_) break;
    const int descriptor = open(path_, kAppend | O_CREAT | O_EXCL, 0600);
    if (descriptor >= 0 || errno != EEXIST) return descriptor;
  }
  return -1;
}

bool ImageFile::OpenDescriptor() {
  if (sink_.descriptor() >= 0) return true;
  const int descriptor = path_[0] == '\0' ? CreateFile() : open(path_, kAppend);
  if (descriptor < 0) {
    path_[0] = '\0';
    return false;
  }
  sink_.SetDescriptor(descriptor);
  return true;
}

void ImageFile::CloseDescriptor() {
  if (sink_.descriptor() >= 0) close(sink_.descriptor());
  sink_.SetDescriptor(-1);
}

bool ImageFile::Drain(bool final) { return OpenDescriptor() && image_.Drain(&sink_, final); }

bool ImageFile::End(const ImageEnd& end) {
  if (!Drain(/*final=*/true) || !image_.WriteEnd(&sink_, end)) return false;
  image_.RemoveFiles();
  return true;
}

}  // namespace rlscope::trace
