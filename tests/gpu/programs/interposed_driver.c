/* A library to preload: its functions stand in front of some of the driver's and time their calls,
 * as a callback of CUPTI does. It says what recording calls would cost without CUPTI.
 *
 * The driver's functions are found by name: the runtime library asks dlsym() for cuGetProcAddress,
 * and that for all others. So both are stood in front of, too. Timing is switched on and off. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <time.h>

#define VISIBLE __attribute__((visibility("default")))
#ifdef __x86_64__
#define GLIBC_OF_DLSYM "GLIBC_2.2.5"
#else
#define GLIBC_OF_DLSYM "GLIBC_2.17"
#endif

enum { RECORDS = 1 << 14, PER_THREAD_STREAM = 2 };

typedef struct {
  uint64_t begin, duration;
  const char* name;
  uint64_t status;
} Record;

static int is_on;
static uint64_t calls;
static __thread Record records[RECORDS];
static __thread uint32_t next_free;

static uint64_t ticks(void) {
#ifdef __x86_64__
  return __builtin_ia32_rdtsc();
#else
  struct timespec time;
  clock_gettime(CLOCK_MONOTONIC, &time);
  return (uint64_t)time.tv_sec * 1000000000u + (uint64_t)time.tv_nsec;
#endif
}

static int keep(uint64_t begin, const char* name, int status) {
  Record* record = &records[next_free++ % RECORDS];
  record->begin = begin;
  record->duration = ticks() - begin;
  record->name = name;
  record->status = (uint64_t)status;
  __atomic_fetch_add(&calls, 1, __ATOMIC_RELAXED);
  return status;
}

/* F(name, version, parameters, arguments): each twice, since calls on a thread's own default stream
 * have functions of their own. The version is what dlsym() has at the name's end. */
#define LAUNCH_PARAMETERS                                                                       \
  (void* f, unsigned a, unsigned b, unsigned c, unsigned d, unsigned e, unsigned g, unsigned h, \
   void* s, void** p, void** x)
#define FUNCTIONS(F)                                                                          \
  F(cuLaunchKernel, "", LAUNCH_PARAMETERS, (f, a, b, c, d, e, g, h, s, p, x))                 \
  F(cuLaunchKernelEx, "", (const void* a, void* f, void** p, void** x), (a, f, p, x))         \
  F(cuMemcpyAsync, "", (uint64_t to, uint64_t from, size_t n, void* s), (to, from, n, s))     \
  F(cuMemcpyHtoDAsync, "_v2", (uint64_t to, const void* from, size_t n, void* s),             \
    (to, from, n, s))                                                                         \
  F(cuMemcpyDtoHAsync, "_v2", (void* to, uint64_t from, size_t n, void* s), (to, from, n, s)) \
  F(cuMemsetD8Async, "", (uint64_t to, unsigned char v, size_t n, void* s), (to, v, n, s))    \
  F(cuStreamSynchronize, "", (void* s), (s))                                                  \
  F(cuEventRecord, "", (void* e, void* s), (e, s))

#define STAND_IN(name, variant, parameters, arguments)            \
  static int(*real_##name##_##variant) parameters;                \
  static int stand_in_##name##_##variant parameters {             \
    if (!is_on) return real_##name##_##variant arguments;         \
    const uint64_t begin = ticks();                               \
    return keep(begin, #name, real_##name##_##variant arguments); \
  }
#define BOTH(name, version, parameters, arguments) \
  STAND_IN(name, legacy, parameters, arguments)    \
  STAND_IN(name, threaded, parameters, arguments)
FUNCTIONS(BOTH)

typedef struct {
  const char *name, *version;
  void** real[2];
  void* stand_in[2];
} Function;

static const Function table[] = {
#define ROW(name, version, parameters, arguments)                    \
  {#name,                                                            \
   version,                                                          \
   {(void**)&real_##name##_legacy, (void**)&real_##name##_threaded}, \
   {(void*)&stand_in_##name##_legacy, (void*)&stand_in_##name##_threaded}},
    FUNCTIONS(ROW)};

static void* in_front_of(const Function* function, void* real, int threaded) {
  *function->real[threaded] = real;
  return function->stand_in[threaded];
}

/* As cuGetProcAddress() was asked for it. */
static void* in_front_of_name(void* real, const char* name, int threaded) {
  for (size_t i = 0; i < sizeof table / sizeof *table; i++)
    if (strcmp(table[i].name, name) == 0) return in_front_of(&table[i], real, threaded);
  return real;
}

/* What follows in `text` behind a part that it begins with; null: it does not. */
static const char* behind(const char* text, const char* part) {
  return text != NULL && strncmp(text, part, strlen(part)) == 0 ? text + strlen(part) : NULL;
}

/* As dlsym() was asked for it: cuMemcpyHtoDAsync_v2_ptsz. */
static void* in_front_of_symbol(void* real, const char* symbol) {
  for (size_t i = 0; real != NULL && i < sizeof table / sizeof *table; i++) {
    const char* rest = behind(behind(symbol, table[i].name), table[i].version);
    if (rest == NULL) continue;
    if (*rest == '\0') return in_front_of(&table[i], real, 0);
    if (strcmp(rest, "_ptsz") == 0) return in_front_of(&table[i], real, 1);
  }
  return real;
}

static int (*real_address)(const char*, void**, int, uint64_t);
static int (*real_address_2)(const char*, void**, int, uint64_t, void*);
static void* in_front_of_finders(void* real, const char* name);

static int answer_with(int status, const char* name, void** function, uint64_t flags) {
  if (status != 0 || function == NULL || *function == NULL) return status;
  *function = in_front_of_name(*function, name, (flags & PER_THREAD_STREAM) != 0);
  if (strcmp(name, "cuGetProcAddress") == 0) name = "cuGetProcAddress_v2";
  *function = in_front_of_finders(*function, name);
  return status;
}

static int address(const char* name, void** function, int version, uint64_t flags) {
  return answer_with(real_address(name, function, version, flags), name, function, flags);
}

static int address_2(const char* name, void** function, int version, uint64_t flags, void* answer) {
  return answer_with(real_address_2(name, function, version, flags, answer), name, function, flags);
}

static void* in_front_of_finders(void* real, const char* name) {
  if (real == NULL) return NULL;
  if (strcmp(name, "cuGetProcAddress") == 0) {
    memcpy(&real_address, &real, sizeof real);
    return (void*)&address;
  }
  if (strcmp(name, "cuGetProcAddress_v2") == 0) {
    memcpy(&real_address_2, &real, sizeof real);
    return (void*)&address_2;
  }
  return real;
}

VISIBLE void* dlsym(void* library, const char* name) {
  static void* (*real)(void*, const char*);
  if (real == NULL) {
    void* original = dlvsym(RTLD_NEXT, "dlsym", GLIBC_OF_DLSYM);
    memcpy(&real, &original, sizeof original);
  }
  if (name[0] != 'c' || name[1] != 'u') return real(library, name);
  return in_front_of_finders(in_front_of_symbol(real(library, name), name), name);
}

VISIBLE void interposed_switch(int on) { __atomic_store_n(&is_on, on, __ATOMIC_RELEASE); }

/* Calls that were timed since the last time. */
VISIBLE uint64_t interposed_count(void) { return __atomic_exchange_n(&calls, 0, __ATOMIC_RELAXED); }
