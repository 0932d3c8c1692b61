#include "native_calls/imported_functions.h"

#include <elf.h>
#include <link.h>

#include <string_view>
#include <unordered_map>

#include "native_calls/patch.h"

namespace rlscope::native_calls {
namespace {

#if defined(__aarch64__)
constexpr uint32_t kSlot = R_AARCH64_JUMP_SLOT;
constexpr uint32_t kData = R_AARCH64_GLOB_DAT;
#else
constexpr uint32_t kSlot = R_X86_64_JUMP_SLOT;
constexpr uint32_t kData = R_X86_64_GLOB_DAT;
#endif

struct Relocations {
  const ElfW(Rela) * first = nullptr;
  size_t count = 0;
};

// The dynamic section's entries, as addresses.
struct Dynamic {
  Relocations calls;  // of the procedure linkage table
  Relocations data;   // all others, relative ones (which name nothing) left out
  const ElfW(Sym) * symbols = nullptr;
  const char* strings = nullptr;
  const uint32_t* hash = nullptr;  // DT_GNU_HASH
};

// glibc relocates the dynamic section in place, musl does not.
template <typename T>
const T* At(uintptr_t base, ElfW(Addr) address) {
  return reinterpret_cast<const T*>(address < base ? base + address : address);
}

Dynamic Parse(const WatchedRange& library) {
  Dynamic dynamic;
  size_t relative = 0;
  for (auto* entry = static_cast<const ElfW(Dyn)*>(library.dynamic); entry->d_tag != DT_NULL;
       entry++) {
    const auto address = entry->d_un.d_ptr;
    const auto number = static_cast<size_t>(entry->d_un.d_val);
    switch (entry->d_tag) {
      case DT_JMPREL:
        dynamic.calls.first = At<ElfW(Rela)>(library.base, address);
        break;
      case DT_PLTRELSZ:
        dynamic.calls.count = number / sizeof(ElfW(Rela));
        break;
      case DT_RELA:
        dynamic.data.first = At<ElfW(Rela)>(library.base, address);
        break;
      case DT_RELASZ:
        dynamic.data.count = number / sizeof(ElfW(Rela));
        break;
      case DT_RELACOUNT:
        relative = number;
        break;
      case DT_SYMTAB:
        dynamic.symbols = At<ElfW(Sym)>(library.base, address);
        break;
      case DT_STRTAB:
        dynamic.strings = At<char>(library.base, address);
        break;
      case DT_GNU_HASH:
        dynamic.hash = At<uint32_t>(library.base, address);
        break;
      default:
        break;
    }
  }
  // The linker sorts relative relocations to the front: of libtorch_cpu's 300,000, all but 5,000.
  if (dynamic.data.first != nullptr && relative <= dynamic.data.count) {
    dynamic.data.first += relative;
    dynamic.data.count -= relative;
  }
  return dynamic;
}

using Wanted = std::unordered_map<std::string_view, void*>;

// Imported symbols come before those in the hash table; libraries that import nothing wanted are
// found by them alone.
bool ImportsAny(const Dynamic& dynamic, const Wanted& wanted) {
  const uint32_t first_hashed = dynamic.hash == nullptr ? 0 : dynamic.hash[1];
  if (first_hashed <= 1) return true;  // an empty table has no count
  for (uint32_t i = 1; i < first_hashed; i++) {
    if (wanted.count(dynamic.strings + dynamic.symbols[i].st_name) != 0) return true;
  }
  return false;
}

size_t HookEach(const WatchedRange& library, const Dynamic& dynamic, const Relocations& relocations,
                const Wanted& wanted) {
  size_t hooked = 0;
  for (size_t i = 0; i < relocations.count; i++) {
    const auto& relocation = relocations.first[i];
    const auto type = static_cast<uint32_t>(ELF64_R_TYPE(relocation.r_info));
    if (type != kSlot && type != kData) continue;
    const auto& symbol = dynamic.symbols[ELF64_R_SYM(relocation.r_info)];
    const auto found = wanted.find(dynamic.strings + symbol.st_name);
    if (found == wanted.end()) continue;
    auto** location = reinterpret_cast<void**>(library.base + relocation.r_offset);
    if (ReplacePointer(location, found->second, nullptr) != Patched::kRefused) ++hooked;
  }
  return hooked;
}

}  // namespace

size_t HookImports(const WatchedRange& library, const std::vector<ImportHook>& hooks) {
  if (library.dynamic == nullptr) return 0;
  const Dynamic dynamic = Parse(library);
  if (dynamic.symbols == nullptr || dynamic.strings == nullptr) return 0;
  Wanted wanted;
  for (const ImportHook& hook : hooks) wanted.emplace(hook.name, hook.function);
  if (!ImportsAny(dynamic, wanted)) return 0;
  return HookEach(library, dynamic, dynamic.calls, wanted) +
         HookEach(library, dynamic, dynamic.data, wanted);
}

}  // namespace rlscope::native_calls
