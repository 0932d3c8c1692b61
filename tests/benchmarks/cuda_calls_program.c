/* One CUDA call, timed in turns: under CUPTI callbacks that do nothing, and under the recorder's.
 * Run under rls-prof on the simulated CUDA. Prints one line for each turn:
 *
 *     <kind> <nanoseconds per call> <1 where the core was ours before and after, else 0>
 *
 *   clock       one read of the time stamp counter
 *   bare        there is no subscriber
 *   empty       an empty callback has, to the same calls
 *   recorded    the recorder's callbacks, recording
 *   paused      the same, while the window is closed
 *
 *   cuda_calls_program TURNS CALLS
 */
#include <dlfcn.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>
#include <x86intrin.h>

#include "core_share.h"
#include "runtime/rlscope.h"

enum { RUNTIME = 2, EVENT_QUERY = 138, DRIVER = 1, DRIVER_EVENT_QUERY = 120 };

/* A neighbour rests for milliseconds at a time. */
static const double AWAIT_NS = 10e6;

typedef int (*Query)(void*);
typedef int (*Subscribe)(void**, void (*)(void*, unsigned, unsigned, const void*), void*);
typedef int (*Enable)(unsigned, void*, unsigned, unsigned);
typedef int (*Unsubscribe)(void*);

static Query query;
static void* event;
static long calls;

static void Nothing(void* user, unsigned domain, unsigned id, const void* data) {
  (void)user, (void)domain, (void)id, (void)data;
}

static void TimeQueries(const char* kind) {
  int ours = await_own_core(AWAIT_NS);
  for (int i = 0; i < 50; i++) query(event);
  double begin = monotonic_ns();
  for (long i = 0; i < calls; i++) query(event);
  double spent = monotonic_ns() - begin;
  printf("%s %.3f %d\n", kind, spent / (double)calls, ours && core_is_ours());
}

static void TimeClock(void) {
  uint64_t sum = 0;
  int ours = await_own_core(AWAIT_NS);
  double begin = monotonic_ns();
  for (long i = 0; i < calls; i++) sum += __rdtsc();
  double spent = monotonic_ns() - begin;
  printf("clock %.3f %d\n", spent / (double)calls, ours && core_is_ours());
  if (sum == 1) puts("");
}

static void* Symbol(const char* library, const char* name) {
  void* found = dlsym(dlopen(library, RTLD_NOW), name);
  if (found == NULL) fprintf(stderr, "%s has no %s\n", library, name), exit(1);
  return found;
}

static void TimeOthers(void) {
  Subscribe subscribe = (Subscribe)Symbol("libcupti.so.13", "cuptiSubscribe");
  Enable enable = (Enable)Symbol("libcupti.so.13", "cuptiEnableCallback");
  Unsubscribe unsubscribe = (Unsubscribe)Symbol("libcupti.so.13", "cuptiUnsubscribe");
  void* subscriber = NULL;
  rlscope_pause_cuda();
  TimeQueries("bare");
  if (subscribe(&subscriber, Nothing, NULL) != 0) fputs("not paused\n", stderr), exit(1);
  enable(1, subscriber, RUNTIME, EVENT_QUERY);
  enable(1, subscriber, DRIVER, DRIVER_EVENT_QUERY);
  TimeQueries("empty");
  unsubscribe(subscriber);
  rlscope_resume_cuda();
}

int main(int count, char** words) {
  long turns = count > 1 ? atol(words[1]) : 200;
  calls = count > 2 ? atol(words[2]) : 2000;
  query = (Query)Symbol("libcudart.so.13", "cudaEventQuery");
  ((int (*)(void**, unsigned))Symbol("libcudart.so.13", "cudaEventCreateWithFlags"))(&event, 2);
  for (long turn = 0; turn < turns; turn++) {
    TimeClock();
    TimeOthers();
    TimeQueries("recorded");
    rlscope_stop();
    TimeQueries("paused");
    rlscope_start();
    usleep(2000); /* the drainer's turn */
  }
  return 0;
}
