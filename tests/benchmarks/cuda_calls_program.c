/* One CUDA call, timed in turns: under CUPTI callbacks that do nothing, and under the recorder's. Run
 * under rls-prof on the simulated CUDA. Prints one line for each turn:
 *
 *     <kind> <nanoseconds per call>
 *
 *   clock       one read of the time stamp counter
 *   bare        nobody has subscribed
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
#include <time.h>
#include <unistd.h>
#include <x86intrin.h>

#include "runtime/rlscope.h"

enum { RUNTIME = 2, EVENT_QUERY = 138, DRIVER = 1, DRIVER_EVENT_QUERY = 120 };

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

static double Now(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return (double)now.tv_sec * 1e9 + (double)now.tv_nsec;
}

static void Time(const char* kind) {
  for (int i = 0; i < 50; i++) query(event);
  double begin = Now();
  for (long i = 0; i < calls; i++) query(event);
  printf("%s %.3f\n", kind, (Now() - begin) / (double)calls);
}

static void TimeClock(void) {
  uint64_t sum = 0;
  double begin = Now();
  for (long i = 0; i < calls; i++) sum += __rdtsc();
  double end = Now();
  printf("clock %.3f\n", (end - begin) / (double)calls);
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
  Time("bare");
  if (subscribe(&subscriber, Nothing, NULL) != 0) fputs("not paused\n", stderr), exit(1);
  enable(1, subscriber, RUNTIME, EVENT_QUERY);
  enable(1, subscriber, DRIVER, DRIVER_EVENT_QUERY);
  Time("empty");
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
    Time("recorded");
    rlscope_stop();
    Time("paused");
    rlscope_start();
    usleep(2000); /* the drainer's turn */
  }
  return 0;
}
