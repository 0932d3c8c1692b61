// This process's hold on CUPTI: its one subscription with the callbacks, the functions that take
// buffers, the kinds of records. Used by one thread at a time.
#ifndef RLSCOPE_CUPTI_SUBSCRIPTION_H_
#define RLSCOPE_CUPTI_SUBSCRIPTION_H_

#include "cupti/library.h"
#include "cupti/note.h"

namespace rlscope::cupti {

// Whether a variable of the environment has this value.
bool IsEnv(const char* name, const char* value);

// Whether GPU work is to be recorded in windows (--gpu-share), and can be: CUPTI is ended after
// each. The note says why it cannot.
bool WantsWindows(const Cupti& cupti, Note* note);

// When it was taken. Inside cuInit() no graph has been instantiated yet: only then can launches of
// graphs be traced. CUPTI 13.0 ends a process that launches a graph which is older than that.
enum class Taken { kInsideInit, kLater };

// Takes all of it, with `callback` for good. False: CUPTI refused, and the note says why.
bool Subscribe(const Cupti& cupti, CuptiCallback callback, Taken taken, Note* note);

// Leaves it to another profiler of the process: no record of ours is made any more. What CUPTI
// still holds is flushed by the caller, before `Unsubscribe`.
void StopActivities(const Cupti& cupti);
void Unsubscribe(const Cupti& cupti);

// The parts of what CUPTI does for us, by rlscope_cuda_part of runtime/rlscope.h. Those that are
// not `on` are left out from here on, also when all of it is taken again: no callbacks of calls, no
// records of work. Launches of graphs stay traced, because a graph must be traced from the moment
// it is made (Taken).
void SwitchParts(const Cupti& cupti, uint32_t on);

// The same for when all of it is taken again, in a pause.
void KeepParts(uint32_t on);

bool HasSubscription();

// Takes it again. If the other one keeps a part, that part is missing, and the note says so.
void SubscribeAgain(const Cupti& cupti, Note* note);

// A function of CUDA is called for the first time. Any thread.
void NoticeFunction(const char* name);
// Whether the program has graphs whose launches are traced, or were. No GPU has shown that they
// live on when CUPTI is ended and attached again.
bool HasTracedGraphs();

// Callbacks of calls alone. False: CUPTI refused, and the note says why.
bool SubscribeToCalls(const Cupti& cupti, Note* note);
// Records of work, beside those.
void StartWork(const Cupti& cupti, Note* note);

// Ends CUPTI in this process, with the subscription. What it still holds is flushed by the caller.
void EndSubscription(const Cupti& cupti);

// Tries once more where SubscribeAgain() was refused the subscription. True: it has been given now,
// and all is taken anew, since the other one may have ended CUPTI as a whole.
bool SubscribeIfRefused(const Cupti& cupti, Note* note);

}  // namespace rlscope::cupti

#endif  // RLSCOPE_CUPTI_SUBSCRIPTION_H_
