#include "native_calls/page_access.h"

#include <link.h>
#include <stdint.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <vector>

namespace rlscope::native_calls {
namespace {

struct Range {
  uintptr_t begin;
  uintptr_t end;
  Access access;
};

// Sorted, of all libraries loaded; read again when the loader's counters move. Never destroyed:
// threads go on while the process exits.
std::vector<Range>& closed_ranges = *new std::vector<Range>;
uint64_t loads_seen = 0;
uint64_t unloads_seen = 0;

uintptr_t PageSize() {
  static const auto size = static_cast<uintptr_t>(sysconf(_SC_PAGESIZE));
  return size;
}
uintptr_t PageOf(uintptr_t address) { return address & ~(PageSize() - 1); }

void AddRanges(const dl_phdr_info& library) {
  for (int i = 0; i < library.dlpi_phnum; i++) {
    const ElfW(Phdr) & segment = library.dlpi_phdr[i];
    const uintptr_t begin = library.dlpi_addr + segment.p_vaddr;
    const uintptr_t end = begin + segment.p_memsz;
    if (segment.p_type == PT_LOAD && (segment.p_flags & PF_W) == 0) {
      const bool code = (segment.p_flags & PF_X) != 0;
      closed_ranges.push_back({begin, end, code ? Access::kText : Access::kReadOnly});
    } else if (segment.p_type == PT_GNU_RELRO) {
      // Rounded as the loader does it.
      closed_ranges.push_back({PageOf(begin), PageOf(end), Access::kReadOnly});
    }
  }
}

int VisitLibrary(dl_phdr_info* library, size_t, void*) {
  AddRanges(*library);
  return 0;
}

// Looks at the counters only: the first library shows them.
int VisitFirst(dl_phdr_info* library, size_t, void* changed) {
  *static_cast<bool*>(changed) =
      library->dlpi_adds != loads_seen || library->dlpi_subs != unloads_seen;
  loads_seen = library->dlpi_adds;
  unloads_seen = library->dlpi_subs;
  return 1;
}

void FollowLoader() {
  bool changed = false;
  dl_iterate_phdr(&VisitFirst, &changed);
  if (!changed) return;
  closed_ranges.clear();
  dl_iterate_phdr(&VisitLibrary, nullptr);
  std::sort(closed_ranges.begin(), closed_ranges.end(),
            [](const Range& a, const Range& b) { return a.begin < b.begin; });
}

bool Protect(const void* location, int protection) {
  void* page = reinterpret_cast<void*>(PageOf(reinterpret_cast<uintptr_t>(location)));
  return mprotect(page, PageSize(), protection) == 0;
}

bool Exchange(void** location, void* expected, void* value) {
  return __atomic_compare_exchange_n(location, &expected, value, false, __ATOMIC_RELEASE,
                                     __ATOMIC_RELAXED);
}

}  // namespace

Access AccessOf(const void* location) {
  FollowLoader();
  const auto address = reinterpret_cast<uintptr_t>(location);
  const auto after =
      std::upper_bound(closed_ranges.begin(), closed_ranges.end(), address,
                       [](uintptr_t value, const Range& range) { return value < range.begin; });
  // Ranges do not overlap: only the one that begins last can hold the address.
  const bool is_in_one = after != closed_ranges.begin() && address < (after - 1)->end;
  return is_in_one ? (after - 1)->access : Access::kWritable;
}

bool StorePointer(void** location, void* expected, void* value, Access access) {
  if (access == Access::kWritable) return Exchange(location, expected, value);
  if (access == Access::kText || !Protect(location, PROT_READ | PROT_WRITE)) return false;
  const bool stored = Exchange(location, expected, value);
  Protect(location, PROT_READ);
  return stored;
}

bool CanOpenPages() {
  const size_t size = PageSize();
  void* page = mmap(nullptr, size, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (page == MAP_FAILED) return false;
  const bool opened = mprotect(page, size, PROT_READ | PROT_WRITE) == 0;
  munmap(page, size);
  return opened;
}

}  // namespace rlscope::native_calls
