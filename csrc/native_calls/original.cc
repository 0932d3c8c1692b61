#include "native_calls/original.h"

#include <mutex>
#include <unordered_map>

#include "native_calls/entries.h"
#include "native_calls/stub_pool.h"

namespace rlscope::native_calls {
namespace {

// Taken last, under whatever locks there are.
std::mutex replaced_mutex;

// Never destroyed: threads call through stubs while the process exits.
auto& replaced = *new std::unordered_map<void*, void*>;  // replacement -> its first original

}  // namespace

void* Original(void* pointer) {
  if (IsStub(pointer)) return reinterpret_cast<void*>(entries[IndexOf(pointer)].original);
  const std::lock_guard<std::mutex> guard(replaced_mutex);
  const auto found = replaced.find(pointer);
  return found == replaced.end() ? pointer : found->second;
}

void NoteReplaced(void* replacement, void* original) {
  const std::lock_guard<std::mutex> guard(replaced_mutex);
  replaced.emplace(replacement, original);
}

}  // namespace rlscope::native_calls
