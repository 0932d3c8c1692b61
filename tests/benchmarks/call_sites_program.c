/* One CUDA call below frames of Python, timed in turns: with the stack of the call in its record, and
 * without. A library, which call_sites.py calls in a process under rls-prof on the simulated CUDA.
 */
#include <dlfcn.h>
#include <time.h>

#include "runtime/rlscope.h"

typedef int (*Query)(void*);
static Query query;
static void* event;

static double Now(void) {
  struct timespec now;
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return (double)now.tv_sec * 1e9 + (double)now.tv_nsec;
}

static double TimeQueries(long calls) {
  for (int i = 0; i < 50; i++) query(event);
  const double begin = Now();
  for (long i = 0; i < calls; i++) query(event);
  return (Now() - begin) / (double)calls;
}

/* 0: there is no CUDA. */
int prepare(void) {
  void* library = dlopen("libcudart.so.13", RTLD_NOW);
  if (library == NULL) return 0;
  query = (Query)dlsym(library, "cudaEventQuery");
  ((int (*)(void**, unsigned))dlsym(library, "cudaEventCreateWithFlags"))(&event, 2);
  return query != NULL;
}

/* Nanoseconds a call, with the stack and without. */
void measure(long calls, double* with, double* without) {
  *with = TimeQueries(calls);
  const rlscope_call_site_finder finder = rlscope_find_call_sites(NULL);
  *without = TimeQueries(calls);
  rlscope_find_call_sites(finder);
}
