#include "native_calls/watched_code.h"

#include <dlfcn.h>
#include <fnmatch.h>
#include <limits.h>
#include <link.h>
#include <stdlib.h>
#include <string.h>

#include <algorithm>
#include <atomic>
#include <map>
#include <mutex>
#include <utility>

namespace rlscope::native_calls {
namespace {

struct Pattern {
  std::string glob;
  uint32_t layer;
};

// Sorted by address. Replaced as a whole and never freed: a lookup may still read the old one. The
// tables of a process that loads a few frameworks are some KiB together.
struct Table {
  uintptr_t begin = UINTPTR_MAX;
  uintptr_t end = 0;
  std::vector<WatchedRange*> ranges;
};

// A shared object as the dynamic linker lists it.
struct Loaded {
  uintptr_t base;
  std::string name;
  uintptr_t begin;
  uintptr_t end;
  const void* dynamic;
};

struct State {
  std::mutex mutex;
  std::vector<Pattern> patterns;
  // Real paths of objects that no pattern matched, by where they lie and what they are called.
  std::map<std::pair<uintptr_t, std::string>, std::string> unwatched;
  bool patterns_changed = false;
  unsigned long long added = 0;  // dlpi_adds when last looked
};

// Never destroyed: threads of a library may run until the process is gone.
State& TheState() {
  static State* const state = new State();
  return *state;
}

const Table empty_table;
std::atomic<const Table*> table{&empty_table};

struct Listing {
  unsigned long long added_before;
  unsigned long long added;
  std::vector<Loaded> loaded;
};

int ListObject(struct dl_phdr_info* info, size_t, void* argument) {
  auto* listing = static_cast<Listing*>(argument);
  listing->added = info->dlpi_adds;
  if (info->dlpi_adds == listing->added_before) return 1;
  if (info->dlpi_name == nullptr || info->dlpi_name[0] == '\0') return 0;
  Loaded loaded = {info->dlpi_addr, info->dlpi_name, UINTPTR_MAX, 0, nullptr};
  for (int i = 0; i < info->dlpi_phnum; i++) {
    const auto& segment = info->dlpi_phdr[i];
    const uintptr_t begin = info->dlpi_addr + segment.p_vaddr;
    if (segment.p_type == PT_DYNAMIC) loaded.dynamic = reinterpret_cast<const void*>(begin);
    if (segment.p_type != PT_LOAD) continue;
    loaded.begin = std::min(loaded.begin, begin);
    loaded.end = std::max(loaded.end, static_cast<uintptr_t>(begin + segment.p_memsz));
  }
  if (loaded.begin < loaded.end) listing->loaded.push_back(std::move(loaded));
  return 0;
}

const Pattern* Match(const std::vector<Pattern>& patterns, const std::string& path) {
  const auto found = std::find_if(patterns.rbegin(), patterns.rend(), [&](const Pattern& pattern) {
    return fnmatch(pattern.glob.c_str(), path.c_str(), 0) == 0;
  });
  return found == patterns.rend() ? nullptr : &*found;
}

std::string RealPath(const std::string& name) {
  char path[PATH_MAX];
  return realpath(name.c_str(), path) == nullptr ? name : std::string(path);
}

std::string AfterLast(const std::string& path, const char* folder) {
  const size_t at = path.rfind(folder);
  return at == std::string::npos ? std::string() : path.substr(at + strlen(folder));
}

// .../site-packages/torch/lib/libc10.so: torch; elsewhere the file's name without its endings.
std::string PackageOf(const std::string& path) {
  std::string rest = AfterLast(path, "/site-packages/");
  if (rest.empty()) rest = AfterLast(path, "/dist-packages/");
  if (rest.empty()) rest = AfterLast(path, "/");
  return rest.substr(0, rest.find_first_of("/."));
}

WatchedRange* Watch(const Loaded& loaded, const std::string& path, uint32_t layer) {
  // A reference that is never given up: the pointers we change in its memory must stay valid.
  if (dlopen(loaded.name.c_str(), RTLD_LAZY | RTLD_NOLOAD | RTLD_NODELETE) == nullptr) {
    return nullptr;
  }
  const bool is_numpy = path.find("/numpy/") != std::string::npos;
  return new WatchedRange{loaded.begin, loaded.end,     layer,    path, PackageOf(path),
                          loaded.base,  loaded.dynamic, is_numpy, false};
}

void Publish(const std::vector<WatchedRange*>& added) {
  auto* next = new Table(*table.load(std::memory_order_relaxed));
  next->ranges.insert(next->ranges.end(), added.begin(), added.end());
  std::sort(next->ranges.begin(), next->ranges.end(),
            [](const WatchedRange* a, const WatchedRange* b) { return a->begin < b->begin; });
  for (const WatchedRange* range : added) {
    next->begin = std::min(next->begin, range->begin);
    next->end = std::max(next->end, range->end);
  }
  table.store(next, std::memory_order_release);
}

// One object of the list: its range if it begins to be watched now.
WatchedRange* Consider(State* state, const Loaded& loaded) {
  if (FindWatched(reinterpret_cast<const void*>(loaded.begin)) != nullptr) return nullptr;
  const auto [known, is_new] =
      state->unwatched.emplace(std::make_pair(loaded.base, loaded.name), std::string());
  if (!is_new && !state->patterns_changed) return nullptr;
  if (is_new) known->second = RealPath(loaded.name);
  const Pattern* pattern = Match(state->patterns, known->second);
  if (pattern == nullptr) pattern = Match(state->patterns, loaded.name);
  return pattern == nullptr ? nullptr : Watch(loaded, known->second, pattern->layer);
}

}  // namespace

void WatchLibrary(const char* pattern, uint32_t layer) {
  State& state = TheState();
  std::lock_guard<std::mutex> guard(state.mutex);
  state.patterns.push_back({pattern, layer});
  state.patterns_changed = true;
}

std::vector<WatchedRange*> RefreshWatchedCode() {
  State& state = TheState();
  std::lock_guard<std::mutex> guard(state.mutex);
  std::vector<WatchedRange*> added;
  if (state.patterns.empty()) return added;
  Listing listing{state.patterns_changed ? 0 : state.added, 0, {}};
  dl_iterate_phdr(&ListObject, &listing);
  for (const Loaded& loaded : listing.loaded) {
    WatchedRange* range = Consider(&state, loaded);
    if (range != nullptr) added.push_back(range);
  }
  state.added = listing.added;
  state.patterns_changed = false;
  if (!added.empty()) Publish(added);
  return added;
}

WatchedRange* FindWatched(const void* address) {
  const Table* ranges = table.load(std::memory_order_acquire);
  const auto at = reinterpret_cast<uintptr_t>(address);
  if (at - ranges->begin >= ranges->end - ranges->begin) return nullptr;
  const auto after = std::upper_bound(
      ranges->ranges.begin(), ranges->ranges.end(), at,
      [](uintptr_t value, const WatchedRange* range) { return value < range->begin; });
  if (after == ranges->ranges.begin()) return nullptr;
  WatchedRange* range = *(after - 1);
  return at < range->end ? range : nullptr;
}

std::vector<WatchedRange*> WatchedLibraries() {
  return table.load(std::memory_order_acquire)->ranges;
}

}  // namespace rlscope::native_calls
