#include "base/page_guard.h"

#include <errno.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

namespace rlscope::base {
namespace {

constexpr uintptr_t kPage = 4096;
constexpr int kMostGuards = 16;

long guarded[kMostGuards];  // numbers of threads; 0: a free place
uint64_t replaced = 0;
uint32_t installed = 0;
struct sigaction before;

bool IsGuarded(long thread) {
  for (const long& each : guarded) {
    if (__atomic_load_n(&each, __ATOMIC_ACQUIRE) == thread) return true;
  }
  return false;
}

bool Replace(void* address) {
  auto* page = reinterpret_cast<void*>(reinterpret_cast<uintptr_t>(address) & ~(kPage - 1));
  const int flags = MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED;
  return mmap(page, kPage, PROT_READ | PROT_WRITE, flags, -1, 0) == page;
}

// Another's fault: what would have happened without us happens when the instruction runs again.
void GiveBack() { sigaction(SIGBUS, &before, nullptr); }

void OnBusError(int, siginfo_t* information, void*) {
  const int saved_errno = errno;
  const bool ours = information->si_code == BUS_ADRERR && IsGuarded(syscall(SYS_gettid));
  if (ours && Replace(information->si_addr)) {
    __atomic_fetch_add(&replaced, 1, __ATOMIC_RELAXED);
  } else {
    GiveBack();
  }
  errno = saved_errno;
}

void Install() {
  if (__atomic_exchange_n(&installed, 1, __ATOMIC_ACQ_REL) != 0) return;
  struct sigaction action = {};
  action.sa_sigaction = &OnBusError;
  action.sa_flags = SA_SIGINFO | SA_ONSTACK;
  sigemptyset(&action.sa_mask);
  sigaction(SIGBUS, &action, &before);
}

// A fault whose signal is blocked ends the process whatever its handler.
void Unblock() {
  sigset_t signals;
  sigemptyset(&signals);
  sigaddset(&signals, SIGBUS);
  sigprocmask(SIG_UNBLOCK, &signals, nullptr);
}

}  // namespace

PageGuard::PageGuard() : slot_(-1) {
  Install();
  Unblock();
  for (int i = 0; i < kMostGuards && slot_ < 0; i++) {
    long free = 0;
    const bool taken = __atomic_compare_exchange_n(&guarded[i], &free, syscall(SYS_gettid), false,
                                                   __ATOMIC_ACQ_REL, __ATOMIC_RELAXED);
    if (taken) slot_ = i;
  }
}

PageGuard::~PageGuard() {
  if (slot_ >= 0) __atomic_store_n(&guarded[slot_], 0, __ATOMIC_RELEASE);
}

uint64_t PagesReplaced() { return __atomic_load_n(&replaced, __ATOMIC_RELAXED); }

}  // namespace rlscope::base
