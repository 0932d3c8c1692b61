#include "python/runtime_module/exchange.h"

#include "python/runtime_module/automatic_track.h"
#include "runtime/rlscope.h"

namespace rlscope::python {

namespace {

__thread uint32_t open_messages = 0;

uint32_t ImageOfProcess() { return __atomic_load_n(&rlscope_process.generation, __ATOMIC_RELAXED); }

bool AreEqual(const PolicyCalls& one, const PolicyCalls& other) {
  return one.forwards == other.forwards && one.updates == other.updates;
}

}  // namespace

__thread Exchange own_messages(/*is_of_tasks=*/false);
__thread Exchange own_tasks(/*is_of_tasks=*/true);

bool BeginMessage() { return open_messages++ == 0; }
void EndMessage() { --open_messages; }

// What a fork inherited is forgotten, and its exchange ends.
void Exchange::Renew(Track* track) {
  const uint32_t image = ImageOfProcess();
  if (generation_ == image) return;
  if (track->exchange() == this) track->EndExchange();
  *this = Exchange(is_of_tasks_);
  generation_ = image;
}

bool Exchange::Send(Track* track, bool is_of_threads) {
  Renew(track);
  if (!track->MayExchange()) return true;
  if (track->exchange() != nullptr) {
    sent_ += track->exchange() == this;
    return true;
  }
  if (exchanges_ < kEnough) {
    if (has_own_environment != is_of_threads) return true;
    if (is_of_threads) NoteSteps(track->own_steps());
    Judge(track->policy_calls());
    if (exchanges_ < kEnough) return true;
    if (!is_of_threads) TellExchanges();
  }
  sent_ = 1;
  taken_ = 0;
  return !track->EnterExchange(this);
}

// What steps environments itself, between tasks too, has others do something else.
void Exchange::NoteSteps(uint32_t steps) {
  if (steps == steps_) return;
  steps_ = steps;
  exchanges_ = 0;
  has_sent_ = is_answered_ = false;
}

// A message is sent. If the policy was called since the last answer, and did not learn, it has seen
// that.
void Exchange::Judge(const PolicyCalls& calls) {
  if (is_answered_ && (AreEpisodes() || calls.forwards != answered_at_.forwards)) {
    exchanges_ += AreEpisodes() || calls.updates == answered_at_.updates;
    is_answered_ = false;
  }
  has_sent_ = true;
  sent_at_ = calls;
}

// What comes before anything was sent is no answer, as a batch of experience is none.
void Exchange::Take(Track* track, PyObject* message) {
  Renew(track);
  if (message == nullptr || !track->MayExchange()) return;
  if (track->exchange() != nullptr) {
    if (track->exchange() == this && ++taken_ == sent_) track->LeaveExchange(message);
    return;
  }
  const PolicyCalls calls = track->policy_calls();
  has_sent_ = has_sent_ && (AreEpisodes() || AreEqual(calls, sent_at_));
  is_answered_ = has_sent_;
  answered_at_ = calls;
}

}  // namespace rlscope::python
