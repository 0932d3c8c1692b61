#include "cupti/mapped.h"

#include <string.h>

namespace rlscope::cupti {
namespace {

int MatchPath(struct dl_phdr_info* info, size_t, void* argument) {
  auto* mapped = static_cast<Mapped*>(argument);
  if (info->dlpi_name == nullptr || strstr(info->dlpi_name, mapped->part) == nullptr) return 0;
  const size_t length = strnlen(info->dlpi_name, sizeof mapped->path);
  if (length == sizeof mapped->path) return 0;
  memcpy(mapped->path, info->dlpi_name, length + 1);
  return 1;
}

}  // namespace

bool FindMapped(const char* part, Mapped* mapped) {
  mapped->part = part;
  mapped->path[0] = '\0';
  return dl_iterate_phdr(&MatchPath, mapped) != 0;
}

int MajorOf(const char* path) {
  const char* folder_end = strrchr(path, '/');
  const char* version = strstr(folder_end == nullptr ? path : folder_end, ".so.");
  if (version == nullptr) return 0;
  version += strlen(".so.");
  int major = 0;
  while (*version >= '0' && *version <= '9') major = major * 10 + (*version++ - '0');
  return major;
}

int DriverVersion() {
  Mapped mapped;
  if (!FindMapped("/libcuda.so", &mapped)) return 0;
  void* driver = dlopen(mapped.path, RTLD_NOW | RTLD_NOLOAD);
  if (driver == nullptr) return 0;
  int (*get_version)(int*) = nullptr;
  int version = 0;
  if (!Find(driver, "cuDriverGetVersion", &get_version) || get_version(&version) != 0) return 0;
  return version;
}

}  // namespace rlscope::cupti
