/* Loops of CUDA calls, for call_turns.py: what one call costs its thread. A library: the program
 * has the handles, and passes the functions' addresses. Each function makes `count` calls, writes
 * {CPU, wall} nanoseconds for all of them and returns the first status that is not 0. */
#include <stdint.h>
#include <time.h>

static double now_ns(clockid_t clock) {
  struct timespec time;
  clock_gettime(clock, &time);
  return (double)time.tv_sec * 1e9 + (double)time.tv_nsec;
}

#define TIMED(call)                                          \
  int failed = 0;                                            \
  const double wall = now_ns(CLOCK_MONOTONIC);               \
  const double cpu = now_ns(CLOCK_THREAD_CPUTIME_ID);        \
  for (long i = 0; i < count; i++) {                         \
    const int status = (call);                               \
    if (status != 0 && failed == 0) failed = status;         \
  }                                                          \
  spent[0] = now_ns(CLOCK_THREAD_CPUTIME_ID) - cpu;          \
  spent[1] = now_ns(CLOCK_MONOTONIC) - wall;                 \
  return failed

typedef struct {
  unsigned x, y, z;
} Shape; /* as the runtime library takes it, by value */

typedef int (*DriverLaunch)(void*, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned,
                            unsigned, void*, void**, void**);
typedef int (*RuntimeLaunch)(const void*, Shape, Shape, void**, uint64_t, void*);
typedef int (*DriverCopy)(uint64_t, const void*, uint64_t, void*);
typedef int (*RuntimeCopy)(void*, const void*, uint64_t, int, void*);
typedef int (*OnOne)(void*);
typedef int (*OnTwo)(void*, void*);

int launch_driver(DriverLaunch launch, void* kernel, void* stream, void** arguments, long count,
                  double* spent) {
  TIMED(launch(kernel, 1, 1, 1, 32, 1, 1, 0, stream, arguments, 0));
}

int launch_runtime(RuntimeLaunch launch, void* kernel, void* stream, void** arguments, long count,
                   double* spent) {
  const Shape grid = {1, 1, 1}, block = {32, 1, 1};
  TIMED(launch(kernel, grid, block, arguments, 0, stream));
}

int copy_driver(DriverCopy copy, uint64_t device, void* host, void* stream, long count,
                double* spent) {
  TIMED(copy(device, host, 64, stream));
}

int copy_runtime(RuntimeCopy copy, uint64_t device, void* host, void* stream, long count,
                 double* spent) {
  enum { HOST_TO_DEVICE = 1 };
  TIMED(copy((void*)(uintptr_t)device, host, 64, HOST_TO_DEVICE, stream));
}

/* cuEventQuery, cuStreamSynchronize, cudaEventQuery */
int on_one(OnOne function, void* handle, long count, double* spent) { TIMED(function(handle)); }

/* cuGraphLaunch, cuEventRecord */
int on_two(OnTwo function, void* first, void* second, long count, double* spent) {
  TIMED(function(first, second));
}
