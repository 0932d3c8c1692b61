/* program SECONDS: records at a steady rate and prints the records that took long.
 *
 * Each line: nanoseconds, page faults and voluntary context switches during that record. A store
 * that waits for the disk is a fault with a switch; a thread that another one displaced has neither.
 * Records that made a larger ring are left out. The last line: how many records there were. */
#define _GNU_SOURCE
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <time.h>

extern uint32_t rlscope_intern_name(uint32_t, uint32_t, const char *, uint64_t);
extern void rlscope_record(uint32_t, uint32_t);
extern uint64_t rlscope_slots_of_thread(void);

enum { kLongNs = 20000, kMostLines = 100000, kPauseNs = 20000 };
static struct { int64_t ns; long faults, switches; } slow[kMostLines];

static int64_t now_ns(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return now.tv_sec * INT64_C(1000000000) + now.tv_nsec;
}

int main(int count, char **words) {
  if (count != 2) return 2;
  const uint32_t id = rlscope_intern_name(1, 0, "work", 4);
  const int64_t end = now_ns() + (int64_t)(atof(words[1]) * 1e9);
  long records = 0, lines = 0;
  struct rusage before, after;
  rlscope_record(1, id);
  rlscope_record(2, id); /* the ring is made */
  for (int64_t start = now_ns(); start < end;) {
    getrusage(RUSAGE_THREAD, &before);
    const uint64_t slots = rlscope_slots_of_thread();
    start = now_ns();
    rlscope_record(1, id);
    rlscope_record(2, id);
    const int64_t taken = now_ns() - start;
    records += 2;
    if (taken > kLongNs && rlscope_slots_of_thread() > slots && lines < kMostLines) {
      getrusage(RUSAGE_THREAD, &after);
      slow[lines].ns = taken;
      slow[lines].faults = after.ru_minflt + after.ru_majflt - before.ru_minflt - before.ru_majflt;
      slow[lines++].switches = after.ru_nvcsw - before.ru_nvcsw;
    }
    while (now_ns() < start + kPauseNs) {
    }
  }
  for (long i = 0; i < lines; i++)
    printf("%lld %ld %ld\n", (long long)slow[i].ns, slow[i].faults, slow[i].switches);
  printf("%ld\n", records);
  return 0;
}
