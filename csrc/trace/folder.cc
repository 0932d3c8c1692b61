#include "trace/folder.h"

#include <dirent.h>
#include <errno.h>

#include <algorithm>

namespace rlscope::trace {

int ListFolder(const std::string& folder, const std::string& suffix,
               std::vector<std::string>* names) {
  DIR* stream = opendir(folder.c_str());
  if (stream == nullptr) return errno;
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
