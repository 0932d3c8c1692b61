/* A CUPTI client that keeps what CUPTI gives, byte for byte, apart from the recorder: the driver
 * loads it by CUDA_INJECTION64_PATH. It writes into WITNESS_FOLDER:
 *
 *   records.txt   a line of JSON; then each activity record, a line: its bytes in hexadecimal and,
 *                 of a kernel, its name, to which those bytes hold a pointer
 *   calls.txt     domain, callback id, site, correlation, context, thread, CLOCK_MONOTONIC ns, name
 *   clocks.txt    CLOCK_MONOTONIC, CLOCK_REALTIME, cuptiGetTimestamp(), time stamp counter
 *
 * WITNESS_LEVEL   node: kernels of graphs, else launches of graphs
 * WITNESS_CUPTI   folders to look for CUPTI in, joined by colons
 *
 * The simulated CUPTI plays a records.txt (SIMCUPTI_REPLAY). Offsets are those of NVIDIA's headers,
 * written down here once more: the recorder's own are what is checked. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

enum { COPY = 1, SET = 2, KERNEL = 10, OVERHEAD = 17, PEER_COPY = 22, SYNC = 38, GRAPH = 51 };
enum { DRIVER = 1, RUNTIME = 2, RESOURCE = 3, MODULE_UNLOAD_STARTING = 14 };
enum { KERNEL_NAME = 104, BUFFER_BYTES = 1 << 18, MOST_CALLS = 200000 };

static FILE *records, *calls, *clocks;
static void* cupti;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static long calls_written;

static uint64_t now_ns(clockid_t clock) {
  struct timespec time;
  clock_gettime(clock, &time);
  return (uint64_t)time.tv_sec * 1000000000u + (uint64_t)time.tv_nsec;
}
static uint64_t monotonic_ns(void) { return now_ns(CLOCK_MONOTONIC); }

static uint64_t ticks(void) {
#ifdef __x86_64__
  return __builtin_ia32_rdtsc();
#else
  return 0;
#endif
}

static void* function(const char* name) { return dlsym(cupti, name); }

static void write_clocks(void) {
  int (*get_timestamp)(uint64_t*) = function("cuptiGetTimestamp");
  uint64_t of_cupti = 0;
  const uint64_t before = monotonic_ns();
  if (get_timestamp != NULL) get_timestamp(&of_cupti);
  fprintf(clocks, "%lu %lu %lu %lu\n", before, now_ns(CLOCK_REALTIME), of_cupti, ticks());
}

static void on_call(void* user, uint32_t domain, uint32_t id, const uint8_t* data) {
  (void)user;
  if (domain != DRIVER && domain != RUNTIME) return;
  const uint64_t when = monotonic_ns();
  uint32_t site, context, correlation;
  const char* name;
  memcpy(&site, data, 4);
  memcpy(&name, data + 8, 8);
  memcpy(&context, data + 48, 4);
  memcpy(&correlation, data + 64, 4);
  pthread_mutex_lock(&lock);
  if (calls_written++ < MOST_CALLS)
    fprintf(calls, "%u %u %u %u %u %ld %lu %s\n", domain, id, site, correlation, context,
            syscall(SYS_gettid), when, name);
  pthread_mutex_unlock(&lock);
}

static void give(uint8_t** buffer, size_t* size, size_t* most) {
  *size = BUFFER_BYTES;
  *buffer = aligned_alloc(64, BUFFER_BYTES);
  *most = 0;
}

static void write_record(const uint8_t* record, size_t size) {
  uint32_t kind;
  for (size_t i = 0; i < size; i++) fprintf(records, "%02x", record[i]);
  memcpy(&kind, record, 4);
  if (kind == KERNEL) {
    const char* name;
    memcpy(&name, record + KERNEL_NAME, 8);
    fprintf(records, " %s", name);
  }
  fputc('\n', records);
}

/* The step from one record to the next is its size. */
static void take(void* context, uint32_t stream, uint8_t* buffer, size_t size, size_t valid) {
  (void)context, (void)stream, (void)size;
  int (*next)(uint8_t*, size_t, uint8_t**) = function("cuptiActivityGetNextRecord");
  uint8_t *record = NULL, *last = NULL;
  pthread_mutex_lock(&lock);
  while (valid != 0 && next(buffer, valid, &record) == 0) {
    if (last != NULL) write_record(last, (size_t)(record - last));
    last = record;
  }
  if (last != NULL) write_record(last, (size_t)(buffer + valid - last));
  fflush(records);
  fflush(calls);
  pthread_mutex_unlock(&lock);
  free(buffer);
}

static void finish(void) {
  int (*flush)(uint32_t) = function("cuptiActivityFlushAll");
  size_t dropped = 0;
  int (*count)(void*, uint32_t, size_t*) = function("cuptiActivityGetNumDroppedRecords");
  flush(1);
  if (count != NULL) count(NULL, 0, &dropped);
  write_clocks();
  fprintf(clocks, "dropped %zu\n", dropped);
  fclose(records), fclose(calls), fclose(clocks);
}

static FILE* open_in(const char* folder, const char* name) {
  char path[4096];
  snprintf(path, sizeof path, "%s/%s", folder, name);
  return fopen(path, "w");
}

/* The one that the process has already is found by its soname. */
static void* open_cupti(void) {
  const char* names[] = {"libcupti.so.13", "libcupti.so.12"};
  char folders[8192], path[8192];
  void* found = NULL;
  for (int i = 0; i < 2 && found == NULL; i++) {
    found = dlopen(names[i], RTLD_NOW);
    snprintf(folders, sizeof folders, "%s", getenv("WITNESS_CUPTI") ? getenv("WITNESS_CUPTI") : "");
    char* rest = folders;
    for (char* folder; found == NULL && (folder = strsep(&rest, ":")) != NULL;) {
      snprintf(path, sizeof path, "%.4000s/%s", folder, names[i]);
      found = dlopen(path, RTLD_NOW);
    }
  }
  return found;
}

__attribute__((visibility("default"))) int InitializeInjection(void) {
  const char* folder = getenv("WITNESS_FOLDER");
  if (folder == NULL || (cupti = open_cupti()) == NULL) return 1;
  records = open_in(folder, "records.txt");
  calls = open_in(folder, "calls.txt");
  clocks = open_in(folder, "clocks.txt");
  if (records == NULL || calls == NULL || clocks == NULL) return 1;
  unsetenv("CUDA_INJECTION64_PATH"); /* of its children: they would write into the same files */
  int (*version)(uint32_t*) = function("cuptiGetVersion");
  int (*subscribe)(void**, void*, void*) = function("cuptiSubscribe");
  int (*timestamp)(uint64_t (*)(void)) = function("cuptiActivityRegisterTimestampCallback");
  int (*buffers)(void*, void*) = function("cuptiActivityRegisterCallbacks");
  int (*enable)(uint32_t) = function("cuptiActivityEnable");
  int (*domain)(uint32_t, void*, uint32_t) = function("cuptiEnableDomain");
  const int by_node = getenv("WITNESS_LEVEL") != NULL && !strcmp(getenv("WITNESS_LEVEL"), "node");
  const uint32_t kinds[] = {COPY, SET, KERNEL, OVERHEAD, PEER_COPY, SYNC, GRAPH};
  void* subscriber = NULL;
  uint32_t number = 0;
  version(&number);
  const int subscribed = subscribe(&subscriber, (void*)&on_call, NULL);
  const int own_clock = timestamp == NULL ? -1 : timestamp(&monotonic_ns);
  fprintf(records, "{\"cupti\": %u, \"subscribe\": %d, \"own_clock\": %d}\n", number, subscribed,
          own_clock);
  buffers((void*)&give, (void*)&take);
  for (size_t i = 0; i < sizeof kinds / sizeof *kinds - (by_node ? 1 : 0); i++) enable(kinds[i]);
  if (subscribed == 0) domain(1, subscriber, DRIVER), domain(1, subscriber, RUNTIME);
  write_clocks();
  atexit(finish);
  return 1;
}
