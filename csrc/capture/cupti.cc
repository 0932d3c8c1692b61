#include "capture/cupti.h"

#include <dlfcn.h>
#include <link.h>
#include <string.h>

#include "base/env.h"
#include "runtime/text.h"

// Weak: before glibc 2.34 they are in libdl, which every program that has CUDA has loaded.
extern "C" {
void* dlopen(const char*, int) __attribute__((weak));
void* dlsym(void*, const char*) __attribute__((weak));
int dl_iterate_phdr(int (*)(struct dl_phdr_info*, size_t, void*), void*) __attribute__((weak));
}

namespace rlscope::capture {
namespace {

constexpr int kNewest = 13;
constexpr int kOldest = 11;

Cupti cupti;

// ---- libraries that are mapped ------------------------------------------------------------------

struct Mapped {
  const char* part;  // of the path
  char path[512];
};

int MatchPath(struct dl_phdr_info* info, size_t, void* argument) {
  auto* mapped = static_cast<Mapped*>(argument);
  if (info->dlpi_name == nullptr || strstr(info->dlpi_name, mapped->part) == nullptr) return 0;
  const size_t length = strnlen(info->dlpi_name, sizeof mapped->path);
  if (length == sizeof mapped->path) return 0;
  memcpy(mapped->path, info->dlpi_name, length + 1);
  return 1;
}

bool FindMapped(const char* part, Mapped* mapped) {
  mapped->part = part;
  mapped->path[0] = '\0';
  return dl_iterate_phdr(&MatchPath, mapped) != 0;
}

template <typename Function>
bool Find(void* library, const char* name, Function* function) {
  *function = reinterpret_cast<Function>(dlsym(library, name));
  return *function != nullptr;
}

// ---- candidates ---------------------------------------------------------------------------------

void* Open(const char* path, int flags) {
  void* library = dlopen(path, flags | RTLD_LOCAL);
  if (library != nullptr) runtime::Text(cupti.path).Add(path);
  return library;
}

// The soname of a CUDA major: only CUDA 11 numbers the minor too.
const char* SonameOf(int major) {
  return major == 13 ? "libcupti.so.13" : major == 12 ? "libcupti.so.12" : "libcupti.so.11.8";
}

void* OpenIn(const char* folder, size_t length, const char* below, int major) {
  char path[512];
  if (length == 0 || length > sizeof path - 64) return nullptr;
  char copy[sizeof path];
  memcpy(copy, folder, length);
  copy[length] = '\0';
  runtime::Text(path).Add(copy).Add(below).Add("/").Add(SonameOf(major));
  return Open(path, RTLD_NOW);
}

// The CUDA major of the process, by its runtime library; 0: not known.
int MajorOf(const char* cudart) {
  const char* version = strstr(cudart, "libcudart.so.");
  if (version == nullptr) return 0;
  version += strlen("libcudart.so.");
  int major = 0;
  while (*version >= '0' && *version <= '9') major = major * 10 + (*version++ - '0');
  return major;
}

// In a toolkit both lie in one folder; the wheels have .../cuda_runtime/lib and .../cuda_cupti/lib.
void* OpenBeside(const char* cudart, int major) {
  const char* name = strrchr(cudart, '/');
  if (name == nullptr) return nullptr;
  const auto folder = static_cast<size_t>(name - cudart);
  if (void* library = OpenIn(cudart, folder, "", major)) return library;
  const char* wheel = strstr(cudart, "/cuda_runtime/");
  if (wheel == nullptr) return nullptr;
  return OpenIn(cudart, static_cast<size_t>(wheel - cudart), "/cuda_cupti/lib", major);
}

struct Majors {
  int newest;
  int oldest;
};

// Folders of a list, each tried with every major that may be meant.
void* OpenInFolders(const char* list, Majors majors) {
  for (const char* begin = list; begin != nullptr && *begin != '\0';) {
    const char* end = strchr(begin, ':');
    const size_t length = end == nullptr ? strlen(begin) : static_cast<size_t>(end - begin);
    for (int major = majors.newest; major >= majors.oldest; major--) {
      if (void* library = OpenIn(begin, length, "", major)) return library;
    }
    begin = end == nullptr ? nullptr : end + 1;
  }
  return nullptr;
}

void* OpenInToolkit(const char* toolkit, Majors majors) {
  if (toolkit == nullptr || *toolkit == '\0') return nullptr;
  static const char* const kFolders[] = {"/lib64", "/lib", "/extras/CUPTI/lib64"};
  char folders[2048];
  runtime::Text text(folders);
  for (const char* folder : kFolders) text.Add(toolkit).Add(folder).Add(":");
  return OpenInFolders(folders, majors);
}

void* OpenBySoname(Majors majors) {
  for (int major = majors.newest; major >= majors.oldest; major--) {
    if (void* library = Open(SonameOf(major), RTLD_NOW)) return library;
  }
  return nullptr;
}

// The newest major that the driver, which is mapped, knows: it refuses a newer CUPTI.
int MajorOfDriver() {
  Mapped mapped;
  if (!FindMapped("/libcuda.so", &mapped)) return kNewest;
  void* driver = dlopen(mapped.path, RTLD_NOW | RTLD_NOLOAD);
  if (driver == nullptr) return kNewest;
  int (*get_version)(int*) = nullptr;
  int version = 0;
  if (!Find(driver, "cuDriverGetVersion", &get_version) || get_version(&version) != 0) {
    return kNewest;
  }
  const int major = version / 1000;
  return major < kNewest ? major : kNewest;
}

void* OpenAny() {
  Mapped mapped;
  // The one that the framework is linked with is the one that works beside it.
  if (FindMapped("/libcupti.so", &mapped)) {
    if (void* library = Open(mapped.path, RTLD_NOW | RTLD_NOLOAD)) return library;
  }
  Majors majors = {0, 0};
  if (FindMapped("/libcudart.so.", &mapped)) {
    majors.newest = majors.oldest = MajorOf(mapped.path);
    if (majors.newest != 0) {
      if (majors.newest < kOldest || kNewest < majors.newest) return nullptr;
      if (void* library = OpenBeside(mapped.path, majors.newest)) return library;
    }
  }
  if (majors.newest == 0) majors = {MajorOfDriver(), kOldest};  // linked statically, or not at all
  if (void* library = OpenInFolders(base::GetEnv("RLSCOPE_CUPTI"), majors)) return library;
  if (void* library = OpenBySoname(majors)) return library;
  static const char* const kToolkits[] = {"/usr/local/cuda", "/usr/local/cuda-13",
                                          "/usr/local/cuda-12", "/usr/local/cuda-11"};
  if (void* library = OpenInToolkit(base::GetEnv("CUDA_HOME"), majors)) return library;
  for (const char* toolkit : kToolkits) {
    if (void* library = OpenInToolkit(toolkit, majors)) return library;
  }
  return nullptr;
}

// ---- entry points -------------------------------------------------------------------------------

bool FindAll(void* library) {
  Find(library, "cuptiActivityRegisterTimestampCallback", &cupti.register_timestamp);
  Find(library, "cuptiActivityGetNumDroppedRecords", &cupti.count_dropped);
  Find(library, "cuptiSubscribe_v2", &cupti.subscribe_by_name);
  return Find(library, "cuptiGetVersion", &cupti.get_version) &&
         Find(library, "cuptiSubscribe", &cupti.subscribe) &&
         Find(library, "cuptiUnsubscribe", &cupti.unsubscribe) &&
         Find(library, "cuptiEnableCallback", &cupti.enable_callback) &&
         Find(library, "cuptiEnableDomain", &cupti.enable_domain) &&
         Find(library, "cuptiActivityRegisterCallbacks", &cupti.register_buffers) &&
         Find(library, "cuptiActivityEnable", &cupti.enable_activity) &&
         Find(library, "cuptiActivityDisable", &cupti.disable_activity) &&
         Find(library, "cuptiActivityFlushAll", &cupti.flush) &&
         Find(library, "cuptiActivityGetNextRecord", &cupti.next_record);
}

}  // namespace

bool IsCudaLoaded() {
  Mapped mapped;
  return dl_iterate_phdr != nullptr && FindMapped("/libcuda.so", &mapped);
}

const Cupti* LoadCupti() {
  if (dlopen == nullptr || dlsym == nullptr || dl_iterate_phdr == nullptr) return nullptr;
  cupti = Cupti();
  void* library = OpenAny();
  if (library == nullptr || !FindAll(library)) return nullptr;
  cupti.get_version(&cupti.version);
  return &cupti;
}

}  // namespace rlscope::capture
