/* Whether this core runs somebody else's hyperthread beside ours, another virtual machine's say:
 * nothing else on this one shows it, and all but waiting takes up to twice the time. */
#ifndef TESTS_BENCHMARKS_CORE_SHARE_H
#define TESTS_BENCHMARKS_CORE_SHARE_H

#include <time.h>

static inline double monotonic_ns(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return (double)now.tv_sec * 1e9 + (double)now.tv_nsec;
}

/* How many additions this core does in the time of one: four chains, none of which waits for
 * another, against as many additions in one chain. A core that can do four at once makes 3.7 when
 * it is ours, half when it is shared; one that can do six, 4 and 3. Takes seven microseconds. */
static inline double additions_at_once(void) {
  enum { TIMES = 1000 };
  long a = 0, b = 0, c = 0, d = 0;
/* Each on its own: the compiler may not join two of them. */
#define ADD(x) x++, __extension__({ __asm__ volatile("" : "+r"(x)); })
  const double begin = monotonic_ns();
  for (int i = 0; i < TIMES; i++) {
    ADD(a), ADD(b), ADD(c), ADD(d), ADD(a), ADD(b), ADD(c), ADD(d);
    ADD(a), ADD(b), ADD(c), ADD(d), ADD(a), ADD(b), ADD(c), ADD(d);
  }
  const double between = monotonic_ns();
  for (int i = 0; i < TIMES; i++) {
    ADD(a), ADD(a), ADD(a), ADD(a), ADD(a), ADD(a), ADD(a), ADD(a);
    ADD(a), ADD(a), ADD(a), ADD(a), ADD(a), ADD(a), ADD(a), ADD(a);
  }
#undef ADD
  return (monotonic_ns() - between) / (between - begin);
}

static inline int core_is_ours(void) { return additions_at_once() > 3.5; }

/* Waits until it is, at most that long. */
static inline int await_own_core(double limit_ns) {
  const double begin = monotonic_ns();
  while (!core_is_ours())
    if (monotonic_ns() - begin > limit_ns) return 0;
  return 1;
}

#endif
