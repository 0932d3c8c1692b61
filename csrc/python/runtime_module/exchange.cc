#include "python/runtime_module/exchange.h"

#include "python/runtime_module/automatic_track.h"
#include "runtime/rlscope.h"

namespace rlscope::python {

namespace {

// The process image of which a thread was found to exchange, plus one; 0: none was.
uint64_t exchanging = 0;
__thread uint32_t open_messages = 0;

uint32_t ImageOfProcess() { return __atomic_load_n(&rlscope_process.generation, __ATOMIC_RELAXED); }

// Whether the process has environments of its own.
bool HasOwnEnvironment() {
  return has_environment &&
         __atomic_load_n(&exchanging, __ATOMIC_RELAXED) != ImageOfProcess() + 1ull;
}

bool AreEqual(const PolicyCalls& one, const PolicyCalls& other) {
  return one.forwards == other.forwards && one.updates == other.updates;
}

}  // namespace

__thread Exchange own_exchange;

bool BeginMessage() { return open_messages++ == 0; }
void EndMessage() { --open_messages; }

// What a fork inherited is forgotten. Whether there was anything.
bool Exchange::Renew() {
  const uint32_t image = ImageOfProcess();
  if (generation_ == image) return false;
  *this = Exchange();
  generation_ = image;
  return true;
}

bool Exchange::Send(Track* track) {
  if (Renew()) track->EndExchange();
  if (!track->MayExchange()) return true;
  if (track->IsExchanging()) return ++sent_, true;
  if (exchanges_ < kEnough) {
    if (HasOwnEnvironment()) return true;
    Judge(track->policy_calls());
    if (exchanges_ < kEnough) return true;
    __atomic_store_n(&exchanging, ImageOfProcess() + 1ull, __ATOMIC_RELAXED);
    TellExchanges();
  }
  sent_ = 1;
  taken_ = 0;
  return !track->EnterExchange();
}

// A message is sent. If the policy was called since the last answer, and did not learn, it has seen
// that.
void Exchange::Judge(const PolicyCalls& calls) {
  if (is_answered_ && calls.forwards != answered_at_.forwards) {
    exchanges_ += calls.updates == answered_at_.updates;
    is_answered_ = false;
  }
  has_sent_ = true;
  sent_at_ = calls;
}

// What comes before anything was sent is no answer, as a batch of experience is none.
void Exchange::Take(Track* track, PyObject* message) {
  if (Renew()) track->EndExchange();
  if (message == nullptr || !track->MayExchange()) return;
  if (track->IsExchanging()) {
    if (++taken_ == sent_) track->LeaveExchange(message);
    return;
  }
  const PolicyCalls calls = track->policy_calls();
  has_sent_ = has_sent_ && AreEqual(calls, sent_at_);
  is_answered_ = has_sent_;
  answered_at_ = calls;
}

}  // namespace rlscope::python
