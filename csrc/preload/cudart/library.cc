#include "preload/cudart/library.h"

#include <dlfcn.h>
#include <string.h>

#include "runtime/rlscope.h"
#include "trace/layout/shared_pages.h"

extern "C" {
void* dlopen(const char*, int) __attribute__((weak));
void* dlsym(void*, const char*) __attribute__((weak));
}

namespace rlscope::cudart {
namespace {

constexpr const char* kSonames[] = {"libcudart.so.13", "libcudart.so.12", "libcudart.so.11.0"};

// A framework's libraries are often its own affair: RTLD_NEXT does not see them.
void* FindInLoaded(const char* name) {
  for (const char* soname : kSonames) {
    void* library = dlopen(soname, RTLD_LAZY | RTLD_NOLOAD);
    if (library == nullptr) continue;
    if (void* entry = dlsym(library, name)) return entry;
  }
  return nullptr;
}

// Notes the part that the trace cannot have. Once: in a fork child of a process that used it CUDA
// does not work.
void TellLimits() {
  static uint32_t told = 0;
  if (__atomic_exchange_n(&told, 1, __ATOMIC_RELAXED) != 0) return;
  static constexpr char kNote[] =
      "{\"problem\": \"--cuda=interpose records only calls of the CUDA runtime library: no GPU "
      "work, and no launches by cuBLAS, cuDNN, NCCL, Triton or JAX\", \"missing\": \"work\"}";
  rlscope_add_metadata("cuda", 4, kNote, sizeof kNote - 1);
  rlscope_count_loss(trace::kCudaInterposed, 1);
}

}  // namespace

void* Find(Function* function, const char* name) {
  void* entry = __atomic_load_n(&function->entry, __ATOMIC_ACQUIRE);
  if (__builtin_expect(entry != nullptr, 1)) return entry;
  if (dlopen == nullptr || dlsym == nullptr) return nullptr;
  entry = dlsym(RTLD_NEXT, name);
  if (entry == nullptr) entry = FindInLoaded(name);
  if (entry == nullptr) return nullptr;
  __atomic_store_n(&function->entry, entry, __ATOMIC_RELEASE);
  TellLimits();
  return entry;
}

uint32_t NameOf(Function* function, const char* name) {
  uint32_t id = __atomic_load_n(&function->name, __ATOMIC_RELAXED);
  if (__builtin_expect(id != 0, 1)) return id;
  id = rlscope_intern_name(static_cast<uint32_t>(trace::EntryKind::kCudaCallName), 0, name,
                           strlen(name));
  __atomic_store_n(&function->name, id, __ATOMIC_RELAXED);
  return id;
}

}  // namespace rlscope::cudart
