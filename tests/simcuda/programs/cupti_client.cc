// A CUPTI client of the tests' own, an injection library: writes what CUPTI gives it as JSON lines
// to CLIENT_OUTPUT.
//
//   CLIENT_KINDS      activity kinds to enable, "10,1,2"
//   CLIENT_CALLBACKS  domains to enable callbacks for, "1,2,3"
//   CLIENT_CLOCK      monotonic: registers a timestamp callback on CLOCK_MONOTONIC
//   CLIENT_DISABLE    1: disables the kinds before the last flush
//   CLIENT_EXTERNAL   an external correlation id pushed at the start
//   CLIENT_BUFFER     bytes of a buffer (default 65536)
//   CLIENT_V2_FIRST   1: calls cuptiSubscribe_v2 before cuptiSubscribe
//
// Offsets are those of NVIDIA's headers, written down here apart from the simulated CUPTI's.
#include <dlfcn.h>
#include <fcntl.h>
#include <pthread.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include <cstdarg>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <initializer_list>

namespace {

int output = -1;
void* cupti = nullptr;
void* subscriber = nullptr;

void Write(const char* format, ...) __attribute__((format(printf, 1, 2)));
void Write(const char* format, ...) {
  char line[4096];
  va_list arguments;
  va_start(arguments, format);
  int size = vsnprintf(line, sizeof(line), format, arguments);
  va_end(arguments);
  if (write(output, line, static_cast<size_t>(size)) != size) abort();
}

template <class... Arguments>
int Call(const char* name, Arguments... arguments) {
  auto function = reinterpret_cast<int (*)(Arguments...)>(dlsym(cupti, name));
  int status = function == nullptr ? -1 : function(arguments...);
  Write("{\"event\":\"status\",\"function\":\"%s\",\"status\":%d}\n", name, status);
  return status;
}

const char* Setting(const char* name, const char* fallback) {
  const char* value = getenv(name);
  return value == nullptr ? fallback : value;
}

uint64_t Monotonic() {
  timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return static_cast<uint64_t>(now.tv_sec) * 1'000'000'000 + static_cast<uint64_t>(now.tv_nsec);
}

template <class T>
unsigned long long At(const void* record, size_t offset) {
  T value;
  memcpy(&value, static_cast<const char*>(record) + offset, sizeof(value));
  return value;
}

#define U8(offset) At<uint8_t>(record, offset)
#define U16(offset) At<uint16_t>(record, offset)
#define U32(offset) At<uint32_t>(record, offset)
#define U64(offset) At<uint64_t>(record, offset)

void OnApi(uint32_t domain, uint32_t cbid, const void* record) {
  const char* symbol = reinterpret_cast<const char*>(U64(32));
  Write(
      "{\"event\":\"callback\",\"domain\":%u,\"cbid\":%u,\"site\":%llu,\"name\":\"%s\",\"symbol\":"
      "\"%s\","
      "\"context\":%llu,\"correlation\":%llu,\"now_ns\":%llu,\"tid\":%ld,\"status\":%d}\n",
      domain, cbid, U32(0), reinterpret_cast<const char*>(U64(8)), symbol == nullptr ? "" : symbol,
      U32(48), U32(64), static_cast<unsigned long long>(Monotonic()), syscall(SYS_gettid),
      U64(24) == 0 ? 0 : *reinterpret_cast<int*>(U64(24)));
}

void OnCallback(void*, uint32_t domain, uint32_t cbid, const void* data) {
  if (domain <= 2) return OnApi(domain, cbid, data);
  Write("{\"event\":\"resource\",\"domain\":%u,\"cbid\":%u}\n", domain, cbid);
}

void WriteKernel(const char* record) {
  Write(
      "{\"event\":\"record\",\"kind\":%llu,\"start\":%llu,\"end\":%llu,\"device\":%llu,\"context\":"
      "%llu,"
      "\"stream\":%llu,\"grid\":[%llu,%llu,%llu],\"block\":[%llu,%llu,%llu],\"static_shared_"
      "bytes\":%llu,"
      "\"dynamic_shared_bytes\":%llu,\"registers\":%llu,\"correlation\":%llu,\"name\":\"%s\","
      "\"node\":%llu,"
      "\"graph\":%llu}\n",
      U32(0), U64(16), U64(24), U32(40), U32(44), U32(48), U32(52), U32(56), U32(60), U32(64),
      U32(68), U32(72), U32(76), U32(80), U16(6), U32(92), reinterpret_cast<const char*>(U64(104)),
      U64(144), U32(156));
}

void WriteMemcpy(const char* record) {
  Write(
      "{\"event\":\"record\",\"kind\":1,\"direction\":%llu,\"source\":%llu,\"destination\":%llu,"
      "\"flags\":%llu,"
      "\"bytes\":%llu,\"start\":%llu,\"end\":%llu,\"device\":%llu,\"context\":%llu,\"stream\":%llu,"
      "\"correlation\":%llu,\"node\":%llu,\"graph\":%llu}\n",
      U8(4), U8(5), U8(6), U8(7), U64(8), U64(16), U64(24), U32(32), U32(36), U32(40), U32(44),
      U64(64), U32(72));
}

void WritePeerMemcpy(const char* record) {
  Write(
      "{\"event\":\"record\",\"kind\":22,\"direction\":%llu,\"bytes\":%llu,\"start\":%llu,\"end\":%"
      "llu,"
      "\"device\":%llu,\"context\":%llu,\"stream\":%llu,\"source_device\":%llu,\"destination_"
      "device\":%llu,"
      "\"correlation\":%llu}\n",
      U8(4), U64(8), U64(16), U64(24), U32(32), U32(36), U32(40), U32(44), U32(52), U32(60));
}

void WriteMemset(const char* record) {
  Write(
      "{\"event\":\"record\",\"kind\":2,\"value\":%llu,\"bytes\":%llu,\"start\":%llu,\"end\":%llu,"
      "\"device\":%llu,"
      "\"context\":%llu,\"stream\":%llu,\"correlation\":%llu,\"memory\":%llu,\"node\":%llu,"
      "\"graph\":%llu}\n",
      U32(4), U64(8), U64(16), U64(24), U32(32), U32(36), U32(40), U32(44), U16(50), U64(64),
      U32(72));
}

void WriteSync(const char* record) {
  Write(
      "{\"event\":\"record\",\"kind\":38,\"sync\":%llu,\"start\":%llu,\"end\":%llu,\"correlation\":"
      "%llu,"
      "\"context\":%llu,\"stream\":%llu,\"cuda_event\":%llu}\n",
      U32(4), U64(8), U64(16), U32(24), U32(28), U32(32), U32(36));
}

void WriteApi(const char* record) {
  Write(
      "{\"event\":\"record\",\"kind\":%llu,\"cbid\":%llu,\"start\":%llu,\"end\":%llu,\"pid\":%llu,"
      "\"tid\":%llu,"
      "\"correlation\":%llu,\"status\":%llu}\n",
      U32(0), U32(4), U64(8), U64(16), U32(24), U32(28), U32(32), U32(36));
}

void WriteGraph(const char* record) {
  Write(
      "{\"event\":\"record\",\"kind\":51,\"correlation\":%llu,\"start\":%llu,\"end\":%llu,"
      "\"device\":%llu,"
      "\"graph\":%llu,\"context\":%llu,\"stream\":%llu}\n",
      U32(4), U64(8), U64(16), U32(24), U32(28), U32(32), U32(36));
}

void WriteOverhead(const char* record) {
  Write(
      "{\"event\":\"record\",\"kind\":17,\"overhead\":%llu,\"object\":%llu,\"start\":%llu,\"end\":%"
      "llu}\n",
      U32(4), U32(8), U64(24), U64(32));
}

void WriteExternal(const char* record) {
  Write(
      "{\"event\":\"record\",\"kind\":39,\"external_kind\":%llu,\"external_id\":%llu,"
      "\"correlation\":%llu}\n",
      U32(4), U64(8), U32(16));
}

void WriteRecord(const char* record) {
  switch (U32(0)) {
    case 1:
      return WriteMemcpy(record);
    case 2:
      return WriteMemset(record);
    case 3:
    case 10:
      return WriteKernel(record);
    case 4:
    case 5:
      return WriteApi(record);
    case 17:
      return WriteOverhead(record);
    case 22:
      return WritePeerMemcpy(record);
    case 38:
      return WriteSync(record);
    case 39:
      return WriteExternal(record);
    case 51:
      return WriteGraph(record);
    default:
      Write("{\"event\":\"record\",\"kind\":%llu}\n", U32(0));
  }
}

void OnRequested(uint8_t** buffer, size_t* bytes, size_t* max_records) {
  *bytes = strtoul(Setting("CLIENT_BUFFER", "65536"), nullptr, 10);
  *buffer = static_cast<uint8_t*>(aligned_alloc(8, *bytes));
  *max_records = 0;
  Write("{\"event\":\"requested\",\"tid\":%ld}\n", syscall(SYS_gettid));
}

// The step from one record to the next is the size of its kind in this release.
void OnCompleted(void*, uint32_t, uint8_t* buffer, size_t, size_t valid) {
  auto next = reinterpret_cast<int (*)(uint8_t*, size_t, uint8_t**)>(
      dlsym(cupti, "cuptiActivityGetNextRecord"));
  uint8_t* record = nullptr;
  uint8_t* last = nullptr;
  while (next(buffer, valid, &record) == 0) {
    if (last != nullptr)
      Write("{\"event\":\"step\",\"kind\":%u,\"bytes\":%td}\n", *last, record - last);
    WriteRecord(reinterpret_cast<const char*>(record));
    last = record;
  }
  if (last != nullptr)
    Write("{\"event\":\"step\",\"kind\":%u,\"bytes\":%td}\n", *last, buffer + valid - last);
  free(buffer);
}

// Calls `function` for every number of a list like "10,1,2".
template <class Function>
void ForEach(const char* list, Function function) {
  for (const char* next = list; *next != '\0';) {
    char* end = nullptr;
    function(static_cast<uint32_t>(strtoul(next, &end, 10)));
    next = *end == ',' ? end + 1 : end;
  }
}

void Finish() {
  if (*Setting("CLIENT_DISABLE", "") != '\0') {
    ForEach(Setting("CLIENT_KINDS", ""), [](uint32_t kind) { Call("cuptiActivityDisable", kind); });
  }
  Call("cuptiActivityFlushAll", 1u);
  size_t dropped = 0;
  Call("cuptiActivityGetNumDroppedRecords", static_cast<void*>(nullptr), 0u, &dropped);
  Write("{\"event\":\"dropped\",\"records\":%zu}\n", dropped);
}

void Begin() {
  uint32_t version = 0;
  Call("cuptiGetVersion", &version);
  Write("{\"event\":\"version\",\"number\":%u}\n", version);
  Call("cuptiSetThreadIdType", 1u);
  void* other = nullptr;
  if (*Setting("CLIENT_V2_FIRST", "") != '\0') {
    Call("cuptiSubscribe_v2", &other, OnCallback, static_cast<void*>(nullptr),
         static_cast<void*>(nullptr));
  }
  Call("cuptiSubscribe", &subscriber, OnCallback, static_cast<void*>(nullptr));
  if (*Setting("CLIENT_CLOCK", "") != '\0')
    Call("cuptiActivityRegisterTimestampCallback", Monotonic);
  Call("cuptiActivityRegisterCallbacks", OnRequested, OnCompleted);
  ForEach(Setting("CLIENT_KINDS", ""), [](uint32_t kind) { Call("cuptiActivityEnable", kind); });
  ForEach(Setting("CLIENT_CALLBACKS", ""),
          [](uint32_t domain) { Call("cuptiEnableDomain", 1u, subscriber, domain); });
  const char* external = Setting("CLIENT_EXTERNAL", "");
  if (*external != '\0') {
    Call("cuptiActivityPushExternalCorrelationId", 3u,
         static_cast<uint64_t>(strtoull(external, nullptr, 10)));
  }
}

}  // namespace

extern "C" __attribute__((visibility("default"))) int InitializeInjection() {
  output =
      open(Setting("CLIENT_OUTPUT", "/dev/null"), O_CREAT | O_WRONLY | O_APPEND | O_CLOEXEC, 0644);
  Write("{\"event\":\"injected\",\"tid\":%ld}\n", syscall(SYS_gettid));
  for (const char* name : {"libcupti.so.13", "libcupti.so.12"}) {
    if (cupti == nullptr) cupti = dlopen(name, RTLD_NOW);
  }
  if (cupti == nullptr) return 1;
  Begin();
  atexit(Finish);
  usleep(20'000);  // long enough for another thread to slip through cuInit, were that possible
  Write("{\"event\":\"ready\",\"now_ns\":%llu}\n", static_cast<unsigned long long>(Monotonic()));
  return 1;
}
