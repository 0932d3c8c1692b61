#include "trace/directory/ring_folder.h"

#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/regular_file.h"
#include "trace/layout/shared_pages.h"

namespace rlscope::trace {
namespace {

enum class Folder { kOurs, kForeign, kGone };

// Whether the name of a folder of rings is one that MakeFolder() of control_page.cc gives:
// rlscope-<uid>-<pid>-<ns>. Its user.
bool IsRingFolderName(const std::string& path, uid_t* user) {
  unsigned long long numbers[3];
  const std::string name = path.substr(path.rfind('/') + 1);
  const char* text = name.c_str();
  if (strncmp(text, "rlscope", 7) != 0) return false;
  text += 7;
  for (unsigned long long& number : numbers) {
    if (text[0] != '-' || !isdigit(static_cast<unsigned char>(text[1]))) return false;
    char* end;
    number = strtoull(text + 1, &end, 10);
    text = end;
  }
  *user = static_cast<uid_t>(numbers[0]);
  return *text == '\0';
}

// A folder of rings belongs to the reading user, or to the trace's.
Folder LookAtFolder(const std::string& path, const std::string& directory) {
  struct stat folder, trace;
  uid_t user;
  if (!IsRingFolderName(path, &user)) return Folder::kForeign;
  if (lstat(path.c_str(), &folder) != 0) return errno == ENOENT ? Folder::kGone : Folder::kForeign;
  const bool is_owned =
      folder.st_uid == user &&
      (user == geteuid() || (stat(directory.c_str(), &trace) == 0 && trace.st_uid == user));
  return S_ISDIR(folder.st_mode) && is_owned ? Folder::kOurs : Folder::kForeign;
}

}  // namespace

ControlPage ReadControl(const std::string& directory) {
  ControlPage page = {};
  uint64_t bytes;
  const std::string path = directory + "/rings/control";
  const int descriptor = base::OpenRegular(path.c_str(), O_RDONLY, &bytes);
  const bool is_read =
      descriptor >= 0 && base::ReadAndClose(descriptor, &page, sizeof page) == sizeof page;
  return is_read && page.magic == kControlMagic ? page : ControlPage{};
}

std::string FindRings(const std::string& directory, const ControlPage& control,
                      const std::string& logged, std::vector<Problem>* problems) {
  const std::string rings = directory + "/rings";
  std::string named(control.trace_rings, strnlen(control.trace_rings, sizeof control.trace_rings));
  if (!logged.empty()) named = logged;
  if (named.empty()) return rings;
  const Folder folder = LookAtFolder(named, directory);
  if (folder == Folder::kOurs) return named;
  if (folder == Folder::kForeign) {
    problems->push_back(
        {named, 0, 0,
         "rlscope does not read " + named + ": it is not the ring folder of this trace"});
  } else if (control.drainer_pid != 0) {  // that drainer did not come to the end, and remove it
    problems->push_back({named, 0, 0, "the rings are lost: nothing is left of " + named});
  }
  return rings;
}

}  // namespace rlscope::trace
