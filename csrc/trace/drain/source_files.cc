#include "trace/drain/source_files.h"

#include <string.h>

#include "trace/drain/spin_guard.h"
#include "trace/drain/text_hash.h"

namespace rlscope::trace {

void SourceFiles::Add(Text file) {
  uint32_t* const is_known = known_.Find({HashText(file), static_cast<uint32_t>(file.size), 0});
  if (is_known == nullptr || *is_known != 0 || memchr(file.data, 0, file.size) != nullptr) return;
  *is_known = 1;
  const SpinGuard guard(&lock_);
  const uint32_t before = names_.count();
  const bool added = names_.Add(file.data, static_cast<uint32_t>(file.size)) && names_.Add(char{0});
  if (!added) names_.Truncate(before);
}

size_t SourceFiles::Take(char* names, size_t bytes) {
  const SpinGuard guard(&lock_);
  uint32_t taken = names_.count() < bytes ? names_.count() : static_cast<uint32_t>(bytes);
  while (taken > 0 && names_[taken - 1] != 0) taken--;
  if (taken == 0) return 0;
  memcpy(names, names_.begin(), taken);
  memmove(names_.begin(), names_.begin() + taken, names_.count() - taken);
  names_.Truncate(names_.count() - taken);
  return taken;
}

}  // namespace rlscope::trace
