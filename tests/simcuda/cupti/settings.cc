#include "cupti/settings.h"

#include <dlfcn.h>
#include <time.h>

#include <cstdio>
#include <cstdlib>

namespace simcuda {
namespace {

[[noreturn]] void Refuse(const char* name, const char* value, const char* expected) {
  fprintf(stderr, "simcuda: %s=%s: expected %s\n", name, value, expected);
  _Exit(1);
}

int Number(const char* name) {
  const char* value = getenv(name);
  if (value == nullptr || *value == '\0') return 0;
  char* end = nullptr;
  long number = strtol(value, &end, 10);
  if (*end != '\0' || number < 0) Refuse(name, value, "a number");
  return static_cast<int>(number);
}

TimestampCallback ReadTimestampCallback() {
  const char* value = getenv("SIMCUPTI_TIMESTAMP_CALLBACK");
  if (value == nullptr || *value == '\0' || strcmp(value, "accept") == 0)
    return TimestampCallback::kAccept;
  if (strcmp(value, "refuse") == 0) return TimestampCallback::kRefuse;
  if (strcmp(value, "ignore") == 0) return TimestampCallback::kIgnore;
  Refuse("SIMCUPTI_TIMESTAMP_CALLBACK", value, "accept, refuse or ignore");
}

bool RefusesConnection() {
  const char* value = getenv("SIMCUPTI_CONNECTION");
  if (value == nullptr || *value == '\0' || strcmp(value, "accept") == 0) return false;
  if (strcmp(value, "refuse") == 0) return true;
  Refuse("SIMCUPTI_CONNECTION", value, "accept or refuse");
}

const CuptiVersion& ReadVersion() {
  const char* wanted = getenv("SIMCUPTI_VERSION");
  const CuptiVersion& version = FindCuptiVersion(wanted, "13.0");
  if (wanted != nullptr && strncmp(version.release, wanted, strlen(wanted)) != 0) {
    Refuse("SIMCUPTI_VERSION", wanted, "a release from 11.7 to 13.5, or 14.0");
  }
  return version;
}

Settings Read() {
  return {&ReadVersion(),
          Number("SIMCUPTI_SUBSCRIBE_STATUS"),
          Number("SIMCUPTI_ENABLE_STATUS"),
          ReadTimestampCallback(),
          Number("SIMCUPTI_RAW_TIMESTAMPS") != 0,
          static_cast<uint32_t>(Number("SIMCUPTI_DROP_EVERY")),
          RefusesConnection(),
          Number("SIMCUPTI_CALLBACK_NS"),
          Number("SIMCUPTI_ACTIVITY_NS"),
          Number("SIMCUPTI_ATTACHED_NS"),
          Number("SIMCUPTI_RECORDED_NS"),
          Number("SIMCUPTI_ATTACH_NS"),
          Number("SIMCUPTI_FINALIZE_NS"),
          Number("SIMCUPTI_RESTART_CORRELATIONS") != 0};
}

}  // namespace

const Settings& GetSettings() {
  static const Settings& settings = *new Settings(Read());
  return settings;
}

void Spin(int ns) {
  if (ns == 0) return;
  const auto now = [] {
    timespec time;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
    return time.tv_sec * int64_t{1000000000} + time.tv_nsec;
  };
  for (const int64_t end = now() + ns; now() < end;) continue;
}

Core* FindCore() {
  static Core* const core = []() -> Core* {
    void* driver = dlopen("libcuda.so.1", RTLD_NOW);
    if (driver == nullptr) return nullptr;
    auto get_core = reinterpret_cast<Core* (*)()>(dlsym(driver, "simcuda_core"));
    return get_core == nullptr ? nullptr : get_core();
  }();
  return core;
}

}  // namespace simcuda
