/* program SECONDS BURST [DIR]: records BURST enters and exits each 10 ms, by itself into DIR if given. */
#include <stdint.h>
#include <stdlib.h>
#include <time.h>

extern uint32_t rlscope_intern_name(uint32_t, uint32_t, const char *, uint64_t);
extern void rlscope_record(uint32_t, uint32_t);
extern int rlscope_profile_begin(const char *);
extern void rlscope_profile_end(void);

int main(int count, char **words) {
  if (count < 3) return 2;
  const int rounds = (int)(atof(words[1]) * 100), burst = atoi(words[2]);
  if (count > 3 && rlscope_profile_begin(words[3]) != 0) return 3;
  const uint32_t id = rlscope_intern_name(1, 0, "work", 4);
  const struct timespec pause = {0, 10000000};
  for (int i = 0; i < rounds; i++) {
    for (int k = 0; k < burst; k++) {
      rlscope_record(1, id);
      rlscope_record(2, id);
    }
    nanosleep(&pause, 0);
  }
  if (count > 3) rlscope_profile_end();
  return 0;
}
