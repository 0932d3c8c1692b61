// Listing a folder.
#ifndef RLSCOPE_TRACE_DIRECTORY_FOLDER_H_
#define RLSCOPE_TRACE_DIRECTORY_FOLDER_H_

#include <string>
#include <vector>

namespace rlscope::trace {

// Names in `folder` that end with `suffix`, sorted. 0 or an errno value: ENOTDIR for a symbolic
// link too, unless its path ends in "/.".
int ListFolder(const std::string& folder, const std::string& suffix,
               std::vector<std::string>* names);

}  // namespace rlscope::trace

#endif  // RLSCOPE_TRACE_DIRECTORY_FOLDER_H_
