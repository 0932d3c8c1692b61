/* A client of CUPTI that does as little as a recorder can, set in whichever way is to be measured.
 * A library for cupti_client.py, which says what is set: each function does one step and returns
 * CUPTI's answer. Own declarations, of 11.7 to 13.5; the program has the handle of CUPTI.
 *
 * A callback keeps a time at its enter, and writes a record of 32 bytes into memory at its exit.
 * Buffers that CUPTI gives back wait in a list. Whoever flushes reads them: the program, or a
 * thread that flushes again and again. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <pthread.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>

#define VISIBLE __attribute__((visibility("default")))

enum { ENTER = 0, EXIT = 1 };
enum { DRIVER = 1, RUNTIME = 2 };
enum { KERNEL = 3, CONCURRENT_KERNEL = 10, OVERHEAD = 17 };
enum { MISSING = -1, HEADER_BYTES = 64, RECORDS = 1 << 14 };

typedef struct {
  uint32_t site;
  uint32_t padding0;
  const char* function_name;
  const void* parameters;
  const int* return_value;
  const char* symbol_name;
  void* context;
  uint32_t context_id;
  uint32_t padding1;
  uint64_t* correlation_data;
  uint32_t correlation_id;
} CallbackData;

typedef struct {
  uint64_t begin, duration;
  uint32_t id, correlation;
  uint64_t context;
} Record;

typedef struct Buffer {
  struct Buffer* next;
  size_t bytes, valid; /* bytes: of the whole mapping */
} Buffer;

static struct {
  int (*subscribe)(void**, void*, void*);
  int (*unsubscribe)(void*);
  int (*enable_callback)(uint32_t, void*, uint32_t, uint32_t);
  int (*enable_domain)(uint32_t, void*, uint32_t);
  int (*register_buffers)(void*, void*);
  int (*register_timestamp)(uint64_t (*)(void));
  int (*enable)(uint32_t);
  int (*disable)(uint32_t);
  int (*flush)(uint32_t);
  int (*flush_period)(uint32_t);
  int (*next_record)(uint8_t*, size_t, uint8_t**);
  int (*count_dropped)(void*, uint32_t, size_t*);
  int (*set_attribute)(uint32_t, size_t*, void*);
  int (*latency)(uint8_t);
  int (*finalize)(void);
} cupti;

static void* subscriber;
static int finalizes_at_exit; /* of the next call that has a callback */
static int finalized = MISSING;
static __thread Record records[RECORDS];
static __thread uint32_t next_free;

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER; /* of the lists and of the settings */
static Buffer *unused, *full;
static size_t buffer_bytes = 512 << 10;
static int reuses_buffers = 1;

static struct {
  uint64_t calls, callbacks, kernels, others, dropped, buffers;
} counted;

static uint64_t monotonic_ns(void) {
  struct timespec time;
  clock_gettime(CLOCK_MONOTONIC, &time);
  return (uint64_t)time.tv_sec * 1000000000u + (uint64_t)time.tv_nsec;
}

static uint64_t ticks(void) {
#ifdef __x86_64__
  return __builtin_ia32_rdtsc();
#else
  return monotonic_ns();
#endif
}

/* ---- callbacks ------------------------------------------------------------------------------- */

static void finalize_here(void) {
  if (!__atomic_exchange_n(&finalizes_at_exit, 0, __ATOMIC_ACQ_REL)) return;
  cupti.flush(1);
  finalized = cupti.finalize();
}

static void on_call(void* user, uint32_t domain, uint32_t id, const CallbackData* data) {
  (void)user;
  if (domain != DRIVER && domain != RUNTIME) return;
  __atomic_fetch_add(&counted.callbacks, 1, __ATOMIC_RELAXED);
  if (data->site == ENTER) {
    *data->correlation_data = ticks();
    return;
  }
  Record* record = &records[next_free++ % RECORDS];
  record->begin = *data->correlation_data;
  record->duration = ticks() - record->begin;
  record->id = id | domain << 16;
  record->correlation = data->correlation_id;
  record->context = data->context_id;
  __atomic_fetch_add(&counted.calls, 1, __ATOMIC_RELAXED);
  if (__builtin_expect(finalizes_at_exit, 0)) finalize_here();
}

/* ---- buffers --------------------------------------------------------------------------------- */

static Buffer* take_unused(void) {
  pthread_mutex_lock(&lock);
  Buffer* buffer = unused;
  if (buffer != NULL) unused = buffer->next;
  pthread_mutex_unlock(&lock);
  return buffer;
}

static Buffer* map_new(void) {
  const int protection = PROT_READ | PROT_WRITE, flags = MAP_PRIVATE | MAP_ANONYMOUS;
  Buffer* buffer = mmap(NULL, buffer_bytes, protection, flags, -1, 0);
  if (buffer == MAP_FAILED) return NULL;
  buffer->bytes = buffer_bytes;
  return buffer;
}

static void give(uint8_t** data, size_t* size, size_t* most) {
  Buffer* buffer = take_unused();
  if (buffer == NULL) buffer = map_new();
  *data = buffer == NULL ? NULL : (uint8_t*)buffer + HEADER_BYTES;
  *size = buffer == NULL ? 0 : buffer->bytes - HEADER_BYTES;
  *most = 0;
  __atomic_fetch_add(&counted.buffers, 1, __ATOMIC_RELAXED);
}

static void take(void* context, uint32_t stream, uint8_t* data, size_t size, size_t valid) {
  (void)context, (void)stream, (void)size;
  if (data == NULL) return;
  Buffer* buffer = (Buffer*)(data - HEADER_BYTES);
  buffer->valid = valid;
  pthread_mutex_lock(&lock);
  buffer->next = full;
  full = buffer;
  pthread_mutex_unlock(&lock);
}

static void count_records(Buffer* buffer) {
  uint8_t *data = (uint8_t*)buffer + HEADER_BYTES, *record = NULL;
  uint64_t kernels = 0, others = 0;
  while (buffer->valid != 0 && cupti.next_record(data, buffer->valid, &record) == 0) {
    uint32_t kind;
    memcpy(&kind, record, sizeof kind);
    kernels += kind == KERNEL || kind == CONCURRENT_KERNEL;
    others += kind != KERNEL && kind != CONCURRENT_KERNEL && kind != OVERHEAD;
  }
  __atomic_fetch_add(&counted.kernels, kernels, __ATOMIC_RELAXED);
  __atomic_fetch_add(&counted.others, others, __ATOMIC_RELAXED);
}

static void put_away(Buffer* buffer) {
  if (!reuses_buffers || buffer->bytes != buffer_bytes) {
    munmap(buffer, buffer->bytes);
    return;
  }
  pthread_mutex_lock(&lock);
  buffer->next = unused;
  unused = buffer;
  pthread_mutex_unlock(&lock);
}

static void read_full(void) {
  pthread_mutex_lock(&lock);
  Buffer* buffer = full;
  full = NULL;
  pthread_mutex_unlock(&lock);
  while (buffer != NULL) {
    Buffer* next = buffer->next;
    count_records(buffer);
    put_away(buffer);
    buffer = next;
  }
  size_t dropped = 0;
  if (cupti.count_dropped != NULL && cupti.count_dropped(NULL, 0, &dropped) == 0)
    __atomic_fetch_add(&counted.dropped, dropped, __ATOMIC_RELAXED);
}

/* ---- the thread that flushes -------------------------------------------------------------------
 */

static pthread_t flusher;
static pthread_mutex_t flusher_lock = PTHREAD_MUTEX_INITIALIZER; /* held, but for its waiting */
static pthread_cond_t flusher_wakes = PTHREAD_COND_INITIALIZER;
static uint64_t period_ns; /* 0: there is none */

static struct timespec after(uint64_t ns) {
  struct timespec time;
  clock_gettime(CLOCK_REALTIME, &time);
  ns += (uint64_t)time.tv_nsec;
  time.tv_sec += (time_t)(ns / 1000000000u);
  time.tv_nsec = (long)(ns % 1000000000u);
  return time;
}

static void* flush_again_and_again(void* unused_argument) {
  (void)unused_argument;
  pthread_mutex_lock(&flusher_lock);
  while (period_ns != 0) {
    const struct timespec end = after(period_ns);
    if (pthread_cond_timedwait(&flusher_wakes, &flusher_lock, &end) == 0) continue;
    cupti.flush(0);
    read_full();
  }
  pthread_mutex_unlock(&flusher_lock);
  return NULL;
}

static void end_flusher(void) {
  if (period_ns == 0) return;
  pthread_mutex_lock(&flusher_lock);
  period_ns = 0;
  pthread_cond_signal(&flusher_wakes);
  pthread_mutex_unlock(&flusher_lock);
  pthread_join(flusher, NULL);
}

/* ---- what the program calls
 * ---------------------------------------------------------------------- */

VISIBLE int client_open(void* library) {
  struct {
    void* place;
    const char* name;
  } functions[] = {
      {&cupti.subscribe, "cuptiSubscribe"},
      {&cupti.unsubscribe, "cuptiUnsubscribe"},
      {&cupti.enable_callback, "cuptiEnableCallback"},
      {&cupti.enable_domain, "cuptiEnableDomain"},
      {&cupti.register_buffers, "cuptiActivityRegisterCallbacks"},
      {&cupti.register_timestamp, "cuptiActivityRegisterTimestampCallback"},
      {&cupti.enable, "cuptiActivityEnable"},
      {&cupti.disable, "cuptiActivityDisable"},
      {&cupti.flush, "cuptiActivityFlushAll"},
      {&cupti.flush_period, "cuptiActivityFlushPeriod"},
      {&cupti.next_record, "cuptiActivityGetNextRecord"},
      {&cupti.count_dropped, "cuptiActivityGetNumDroppedRecords"},
      {&cupti.set_attribute, "cuptiActivitySetAttribute"},
      {&cupti.latency, "cuptiActivityEnableLatencyTimestamps"},
      {&cupti.finalize, "cuptiFinalize"},
  };
  for (size_t i = 0; i < sizeof functions / sizeof *functions; i++) {
    void* found = dlsym(library, functions[i].name);
    if (found == NULL) return MISSING;
    memcpy(functions[i].place, &found, sizeof found);
  }
  return 0;
}

VISIBLE int client_subscribe(void) { return cupti.subscribe(&subscriber, (void*)&on_call, NULL); }

VISIBLE int client_unsubscribe(void) {
  void* given = subscriber;
  subscriber = NULL;
  return given == NULL ? 0 : cupti.unsubscribe(given);
}

VISIBLE int client_watch(uint32_t domain, uint32_t id, uint32_t on) {
  return cupti.enable_callback(on, subscriber, domain, id);
}

VISIBLE int client_watch_all(uint32_t domain, uint32_t on) {
  return cupti.enable_domain(on, subscriber, domain);
}

/* CUPTI's buffers have so many bytes from now on, each a mapping of its own unless it is reused. */
VISIBLE int client_use_buffers(size_t bytes, int reuses) {
  buffer_bytes = bytes;
  reuses_buffers = reuses;
  cupti.register_timestamp(&monotonic_ns);
  return cupti.register_buffers((void*)&give, (void*)&take);
}

VISIBLE int client_record(uint32_t kind, uint32_t on) {
  return on ? cupti.enable(kind) : cupti.disable(kind);
}

VISIBLE int client_set(uint32_t attribute, uint64_t value, size_t bytes) {
  return cupti.set_attribute(attribute, &bytes, &value);
}

VISIBLE int client_time_latency(uint32_t on) { return cupti.latency((uint8_t)on); }

VISIBLE int client_flush(uint32_t forced) {
  pthread_mutex_lock(&flusher_lock);
  const int status = cupti.flush(forced);
  read_full();
  pthread_mutex_unlock(&flusher_lock);
  return status;
}

/* By a thread of ours; 0: by none. */
VISIBLE int client_flush_every(uint64_t ns) {
  end_flusher();
  period_ns = ns;
  return ns == 0 ? 0 : pthread_create(&flusher, NULL, &flush_again_and_again, NULL);
}

/* By a thread of CUPTI's, which gives back full buffers only; 0: as CUPTI has it. */
VISIBLE int client_let_flush_every(uint32_t milliseconds) {
  return cupti.flush_period(milliseconds);
}

/* Outside of any call. */
VISIBLE int client_finalize(void) {
  subscriber = NULL;
  return cupti.finalize();
}

/* At the exit of the next call that has a callback. */
VISIBLE void client_finalize_at_exit(void) {
  finalized = MISSING;
  __atomic_store_n(&finalizes_at_exit, 1, __ATOMIC_RELEASE);
}

/* What cuptiFinalize() answered there; -1: it was not called. */
VISIBLE int client_finalized(void) {
  subscriber = NULL;
  return finalized;
}

/* Since the last time: calls, callbacks, kernels, other records, dropped ones, buffers. */
VISIBLE void client_count(uint64_t* counts) {
  uint64_t* each = (uint64_t*)&counted;
  for (size_t i = 0; i < sizeof counted / sizeof *each; i++)
    counts[i] = __atomic_exchange_n(&each[i], 0, __ATOMIC_RELAXED);
}
