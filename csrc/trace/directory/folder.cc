#include "trace/directory/folder.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <unistd.h>

#include <algorithm>

namespace rlscope::trace {

int ListFolder(const std::string& folder, const std::string& suffix,
               std::vector<std::string>* names) {
  const int descriptor = open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
  DIR* stream = descriptor < 0 ? nullptr : fdopendir(descriptor);
  if (stream == nullptr) {
    const int error = errno == ELOOP ? ENOTDIR : errno;
    if (descriptor >= 0) close(descriptor);
    return error;
  }
  while (const dirent* entry = readdir(stream)) {
    const std::string name = entry->d_name;
    if (name.size() > suffix.size() &&
        name.compare(name.size() - suffix.size(), suffix.size(), suffix) == 0) {
      names->push_back(name);
    }
  }
  closedir(stream);
  std::sort(names->begin(), names->end());
  return 0;
}

}  // namespace rlscope::trace
