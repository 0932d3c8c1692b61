// Calls cuInit from several threads while the page that tells a forked child is slow to be written:
// the first store into it faults, and the handler keeps that thread for a while. Exits with 0 if
// every call succeeded.
#include <dlfcn.h>
#include <pthread.h>
#include <signal.h>
#include <sys/mman.h>
#include <unistd.h>

#include <atomic>
#include <cstdio>

namespace {

constexpr int kThreads = 4;
constexpr useconds_t kSlowMicroseconds = 300'000;

void* slow_page = nullptr;
std::atomic<bool> storing{false};
std::atomic<bool> done{false};
std::atomic<int> refused{0};
int (*initialize)(unsigned);

void Store(int, siginfo_t*, void*) {
  storing = true;
  usleep(kSlowMicroseconds);
  mprotect(slow_page, 4096, PROT_READ | PROT_WRITE);
}

void* Call(void*) {
  if (initialize(0) != 0) ++refused;
  done = true;
  return nullptr;
}

// Calls while the first thread is in its store.
void* CallDuringStore(void*) {
  while (!storing && !done) usleep(100);
  return Call(nullptr);
}

}  // namespace

// In the place of libc's: the simulated driver asks for its page to be wiped on fork, once.
extern "C" __attribute__((visibility("default"))) int madvise(void* address, size_t, int) noexcept {
  slow_page = address;
  return mprotect(address, 4096, PROT_READ);
}

int main() {
  struct sigaction action = {};
  action.sa_sigaction = Store;
  action.sa_flags = SA_SIGINFO;
  sigaction(SIGSEGV, &action, nullptr);
  void* driver = dlopen("libcuda.so.1", RTLD_NOW);
  if (driver == nullptr) return 2;
  initialize = reinterpret_cast<int (*)(unsigned)>(dlsym(driver, "cuInit"));
  pthread_t threads[kThreads];
  for (int i = 0; i < kThreads; ++i) {
    pthread_create(&threads[i], nullptr, i == 0 ? Call : CallDuringStore, nullptr);
  }
  for (pthread_t thread : threads) pthread_join(thread, nullptr);
  printf("refused %d of %d calls of cuInit, page slow: %d\n", refused.load(), kThreads, +storing);
  return refused == 0 && storing ? 0 : 1;
}
