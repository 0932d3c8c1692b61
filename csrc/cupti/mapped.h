// Libraries that this process has mapped, and the version of the driver among them.
#ifndef RLSCOPE_CUPTI_MAPPED_H_
#define RLSCOPE_CUPTI_MAPPED_H_

#include <dlfcn.h>
#include <link.h>
#include <stddef.h>

// Weak: before glibc 2.34 they are in libdl, which every program that has CUDA has loaded.
extern "C" {
void* dlopen(const char*, int) __attribute__((weak));
void* dlsym(void*, const char*) __attribute__((weak));
int dl_iterate_phdr(int (*)(struct dl_phdr_info*, size_t, void*), void*) __attribute__((weak));
}

namespace rlscope::cupti {

struct Mapped {
  const char* part;  // of the path
  char path[512];
};

// Finds the first library whose path has this part.
bool FindMapped(const char* part, Mapped* mapped);

// A function of a loaded library; false: it has none of this name.
template <typename Function>
bool Find(void* library, const char* name, Function* function) {
  *function = reinterpret_cast<Function>(dlsym(library, name));
  return *function != nullptr;
}

// The number that ends a library's name: 13 of libcupti.so.13 and 11 of libcudart.so.11.0; 0: it
// has none.
int MajorOf(const char* path);

// The CUDA that the driver is for, 13000 of 13.0; 0: no driver is mapped, or it does not say.
int DriverVersion();

}  // namespace rlscope::cupti

#endif  // RLSCOPE_CUPTI_MAPPED_H_
