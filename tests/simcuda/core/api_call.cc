#include "core/api_call.h"

#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <atomic>
#include <utility>

#include "core/clock.h"
#include "core/context.h"
#include "core/knobs.h"
#include "core/truth.h"

namespace simcuda {
namespace {

struct ThreadState {
  uint32_t depth;
  uint32_t correlation;
  uint32_t runtime_depth;  // of the calls in progress, how many are the runtime's
  long switches = -1;      // of this thread, when WasSwitched() last asked
};

thread_local ThreadState state;
std::atomic<uint32_t> last_correlation{0};
// A byte of a page that the kernel zeroes in children; 1 before any thread can see it.
std::atomic<const volatile uint8_t*> fork_guard{nullptr};

uint8_t Watch(const ApiCall& call) {
  const ApiFunction& function = *call.function;
  uint8_t watched =
      simcuda_core()->tools.watched[function.domain][function.cbid].load(std::memory_order_relaxed);
  if (function.domain == kDriver && state.runtime_depth > 0) {
    watched &= static_cast<uint8_t>(~kRecord);  // the runtime call has the record, for both
    if (!GetKnobs().nested_callbacks) watched &= static_cast<uint8_t>(~kCallback);
  }
  return watched;
}

void Notify(ApiCall* call, bool enter) {
  auto notify = simcuda_core()->tools.call.load(std::memory_order_acquire);
  if (notify != nullptr) notify(call, enter);
}

// A call of the program, as opposed to one that the runtime makes for it.
void BeginOutermost() {
  state.correlation = ++last_correlation;
  auto attached = simcuda_core()->tools.attached.load(std::memory_order_relaxed);
  if (__builtin_expect(attached != nullptr, 0)) attached();
}

// Whether the calling thread was off the CPU since it last asked: preempted, asleep, or not begun.
bool WasSwitched() {
  rusage usage;
  if (getrusage(RUSAGE_THREAD, &usage) != 0) return false;
  const long switches = usage.ru_nvcsw + usage.ru_nivcsw;
  return std::exchange(state.switches, switches) != switches;
}

}  // namespace

void BeginCall(ApiCall* call) {
  if (state.depth == 0) BeginOutermost();
  call->depth = state.depth++;
  call->correlation = state.correlation;
  call->correlation_data = 0;
  call->watched = Watch(*call);
  if (call->function->domain == kRuntime) ++state.runtime_depth;
  const bool traced = TruthOpen();
  if (traced) call->enter_ns = NowNs();
  if (__builtin_expect(call->watched != 0, 0)) {
    const Context* context = CurrentContext();
    call->context = const_cast<Context*>(context);
    call->context_id = context == nullptr ? 0 : context->id;
    Notify(call, true);
  }
  if (!traced) return;
  call->start_ns = NowNs();
  call->enter_switched = WasSwitched();
}

void EndCall(ApiCall* call, int status) {
  const bool traced = TruthOpen();
  if (traced) call->end_ns = NowNs();
  call->status = status;
  if (__builtin_expect(call->watched != 0, 0)) Notify(call, false);
  if (traced) {
    call->exit_ns = NowNs();
    call->exit_switched = WasSwitched();
    WriteCall(*call);
  }
  if (call->function->domain == kRuntime) --state.runtime_depth;
  --state.depth;
}

uint32_t CurrentCorrelation() { return state.correlation; }

uint32_t ThreadId() {
  static thread_local uint32_t id = 0;
  static thread_local bool of_child = false;
  if (id == 0 || of_child != Forked()) {
    id = static_cast<uint32_t>(syscall(SYS_gettid));
    of_child = Forked();
  }
  return id;
}

void MarkInitialized() {
  void* page = mmap(nullptr, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (page == MAP_FAILED || madvise(page, 4096, MADV_WIPEONFORK) != 0) return;
  *static_cast<volatile uint8_t*>(page) = 1;
  fork_guard.store(static_cast<const volatile uint8_t*>(page), std::memory_order_release);
}

bool Forked() {
  const volatile uint8_t* guard = fork_guard.load(std::memory_order_acquire);
  return guard != nullptr && *guard == 0;
}

}  // namespace simcuda
