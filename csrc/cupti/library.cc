#include "cupti/library.h"

#include <string.h>

#include "base/env.h"
#include "cupti/mapped.h"
#include "runtime/text.h"

namespace rlscope::cupti {
namespace {

constexpr int kNewest = 13;
constexpr int kOldest = 11;

Cupti cupti;

// ---- candidates ---------------------------------------------------------------------------------

// The newest first. Only CUDA 11 numbers the minor, too.
constexpr const char* kSonames[] = {"libcupti.so.13", "libcupti.so.12", "libcupti.so.11.8",
                                    "libcupti.so.11.7"};

struct Majors {
  int newest;
  int oldest;
};

bool IsAmong(const char* soname, Majors majors) {
  const int major = MajorOf(soname);
  return majors.oldest <= major && major <= majors.newest;
}

void* Open(const char* path, int flags) {
  void* library = dlopen(path, flags | RTLD_LOCAL);
  if (library != nullptr) runtime::Text(cupti.path).Add(path);
  return library;
}

void* OpenIn(const char* folder, size_t length, const char* below, Majors majors) {
  char path[512];
  if (length == 0 || length > sizeof path - 64) return nullptr;
  char copy[sizeof path];
  memcpy(copy, folder, length);
  copy[length] = '\0';
  for (const char* soname : kSonames) {
    if (!IsAmong(soname, majors)) continue;
    runtime::Text(path).Add(copy).Add(below).Add("/").Add(soname);
    if (void* library = Open(path, RTLD_NOW)) return library;
  }
  return nullptr;
}

// In a toolkit both lie in one folder; the wheels have .../cuda_runtime/lib and .../cuda_cupti/lib.
void* OpenBeside(const char* cudart, Majors majors) {
  const char* name = strrchr(cudart, '/');
  if (name == nullptr) return nullptr;
  const auto folder = static_cast<size_t>(name - cudart);
  if (void* library = OpenIn(cudart, folder, "", majors)) return library;
  const char* wheel = strstr(cudart, "/cuda_runtime/");
  if (wheel == nullptr) return nullptr;
  return OpenIn(cudart, static_cast<size_t>(wheel - cudart), "/cuda_cupti/lib", majors);
}

void* OpenInFolders(const char* list, Majors majors) {
  for (const char* begin = list; begin != nullptr && *begin != '\0';) {
    const char* end = strchr(begin, ':');
    const size_t length = end == nullptr ? strlen(begin) : static_cast<size_t>(end - begin);
    if (void* library = OpenIn(begin, length, "", majors)) return library;
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
  for (const char* soname : kSonames) {
    if (!IsAmong(soname, majors)) continue;
    if (void* library = Open(soname, RTLD_NOW)) return library;
  }
  return nullptr;
}

// Those that the driver takes: it refuses a newer CUPTI.
Majors MajorsOfDriver() {
  const int major = DriverVersion() / 1000;
  return {major == 0 || major > kNewest ? kNewest : major, kOldest};
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
      if (void* library = OpenBeside(mapped.path, majors)) return library;
    }
  }
  if (majors.newest == 0) majors = MajorsOfDriver();  // linked statically, or not at all
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
  Find(library, "cuptiFinalize", &cupti.finalize);
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

// ---- what cannot be used ------------------------------------------------------------------------

// CUPTI 13.2 calls itself without end, in whichever function is called first, where it cannot
// connect to the driver; other releases answer that they cannot. It is known by what it exports.
constexpr int kDriverOfFailing = 13020;

bool FailsToRefuse(void* library) {
  return dlsym(library, "cuptiActivityEnable_v2") != nullptr &&
         dlsym(library, "cuptiActivityEnableDriverApi_v2") == nullptr;
}

// Toolkits call the file that a soname links to after the year: libcupti.so.2025.3.1.
constexpr int kLeastYear = 2000;

void CheckDriver(void* library, runtime::Text* problem) {
  const int driver = DriverVersion();
  const int major = MajorOf(cupti.path);
  if (driver != 0 && major > driver / 1000 && major < kLeastYear) {
    problem->Add("CUPTI ").Add(static_cast<uint64_t>(major)).Add(" is newer than the driver, ");
    problem->Add("which is for CUDA ").Add(static_cast<uint64_t>(driver / 1000));
  } else if (driver < kDriverOfFailing && FailsToRefuse(library)) {
    problem->Add("CUPTI 13.2 may end the program unless the driver is for CUDA 13.2 or newer");
  }
}

// Nothing of the library may have been called before.
void Check(void* library, runtime::Text* problem) {
  if (library == nullptr) {
    problem->Add("no CUPTI was found");
  } else if (!FindAll(library)) {
    problem->Add("the CUPTI that rlscope found lacks a function");
  } else {
    CheckDriver(library, problem);
  }
}

}  // namespace

bool IsCudaLoaded() {
  Mapped mapped;
  return dl_iterate_phdr != nullptr && FindMapped("/libcuda.so", &mapped);
}

const Cupti& LoadCupti() {
  cupti = Cupti();
  const bool can_load = dlopen != nullptr && dlsym != nullptr && dl_iterate_phdr != nullptr;
  runtime::Text problem(cupti.problem);
  Check(can_load ? OpenAny() : nullptr, &problem);
  if (cupti.problem[0] != '\0') return cupti;
  if (cupti.get_version(&cupti.version) != kCuptiSuccess) cupti.version = 0;
  return cupti;
}

}  // namespace rlscope::cupti
