#include "cupti/subscription.h"

#include <string.h>

#include "base/clock.h"
#include "base/env.h"
#include "cupti/activities.h"
#include "cupti/gaps.h"
#include "cupti/mapped.h"
#include "cupti/watched_calls.h"
#include "runtime/rlscope.h"
#include "runtime/text.h"

namespace rlscope::cupti {
namespace {

CuptiSubscriber subscriber = nullptr;
CuptiCallback callback = nullptr;
bool refused = false;  // when it was to be taken again
bool own_clock = false;
bool graphs_by_launch = false;  // else by their kernels
uint32_t graphs_are_used = 0;
bool graphs_were_traced = false;  // before a pause
bool synchronisations = false;    // leave records, where work is recorded
uint32_t parts = RLSCOPE_CUDA_CALLS | RLSCOPE_CUDA_WORK;

// Older ones end a program that launches a CUDA graph after CUPTI was ended and attached again.
constexpr uint32_t kFirstThatEnds = 24;  // CUPTI 12.6
constexpr int kFirstDriverThatEnds = 12060;

uint64_t ReadClock() { return static_cast<uint64_t>(base::ReadMonotonicNs()); }

const char* WhyRefused(CuptiResult result) {
  switch (result) {
    case kCuptiSubscribersNotSupported:
      return "another profiler holds CUPTI's one subscription";
    case kCuptiNotCompatible:
      return "another profiler uses CUPTI's newer interface, which excludes the one that rlscope "
             "uses";
    case kCuptiNotInitialized:
      return "CUPTI cannot connect to the driver";
    case kCuptiInsufficientPrivileges:
      return "the driver lets only administrators profile (NVreg_RestrictProfilingToAdminUsers)";
    case kCuptiVirtualisedDevice:
      return "CUPTI does not work on this virtual GPU";
    case kCuptiVirtualisedDevicePrivileges:
      return "the hypervisor forbids profiling of this virtual GPU";
    case kCuptiConfidentialComputing:
      return "CUPTI does not work in confidential computing mode";
    case kCuptiMiningDevice:
      return "CUPTI does not work on mining GPUs";
    case kCuptiInstance:
      return "CUPTI does not work on a part of a GPU (MIG)";
    case kCuptiLinkedDevices:
      return "CUPTI does not work on GPUs in SLI";
    case kCuptiWindowsSubsystem:
      return "CUPTI does not work in the Windows Subsystem for Linux";
    case kCuptiUnknown:  // from 13.0 on, in place of kCuptiNotInitialized, too
      return "CUPTI cannot connect to the driver, or gives no reason";
    default:
      return "CUPTI refused";
  }
}

// The part of a subscriber's name that it gave itself; of one that gave none it is empty.
const char* OwnName(const char* name) {
  static const char kPrefix[] = "CUPTI for ";
  if (strncmp(name, kPrefix, strlen(kPrefix)) == 0) name += strlen(kPrefix);
  return strcmp(name, "<not provided>") == 0 ? "" : name;
}

// As releases from 13.0 on tell; empty: not known.
void AskForHolder(const Cupti& cupti, char (&holder)[kSubscriberNameBytes]) {
  holder[0] = '\0';
  if (cupti.subscribe_by_name == nullptr) return;
  const SubscriberParameters parameters = {sizeof parameters, "rlscope", holder, sizeof holder};
  CuptiSubscriber given = nullptr;
  const CuptiResult result = cupti.subscribe_by_name(&given, callback, nullptr, &parameters);
  if (result == kCuptiSuccess) cupti.unsubscribe(given);  // it has been given back just now
  holder[sizeof holder - 1] = '\0';
}

void TellRefused(const Cupti& cupti, CuptiResult result, Missing missing, const char* what,
                 Note* note) {
  char why[256], holder[kSubscriberNameBytes] = "";
  const bool taken = result == kCuptiSubscribersNotSupported || result == kCuptiNotCompatible;
  if (taken) AskForHolder(cupti, holder);
  runtime::Text text(why);
  text.Add(WhyRefused(result));
  const char* name = OwnName(holder);
  if (*name != '\0') text.Add(", ").Add(name);
  note->Problem(missing, what, why, result);
}

// To measure what each costs, one of both can be left out.
bool Records(const char* part) {
  const char* only = base::GetEnv("RLSCOPE_CUDA_PARTS");
  return only == nullptr || *only == '\0' || strcmp(only, "all") == 0 || strcmp(only, part) == 0;
}

void SetClock(const Cupti& cupti, Note* note) {
  own_clock =
      cupti.register_timestamp != nullptr && cupti.register_timestamp(&ReadClock) == kCuptiSuccess;
  note->Text("clock", own_clock ? "monotonic" : "realtime");
}

void StartGraphs(const Cupti& cupti, Taken taken, Note* note) {
  if (IsEnv("RLSCOPE_CUDA_GRAPH_TRACE", "node")) return;
  graphs_by_launch = taken == Taken::kInsideInit;
  if (graphs_by_launch) {
    cupti.enable_activity(kActivityGraphTrace);
  } else {
    note->Text("graphs",
               "rlscope records the kernels of graphs one by one from here on. CUPTI traces "
               "whole launches only of graphs that were made after it began to trace");
  }
}

void StartActivities(const Cupti& cupti, Taken taken, Note* note) {
  ExpectRecords(false);
  if (!Records("work"))
    return note->Problem(Missing::kWork, "GPU work is missing", "--cuda-parts=calls", 0);
  cupti.register_buffers(&GiveBuffer, &TakeBuffer);
  synchronisations = false;
  for (const Activity& each : kActivities) {
    const CuptiResult result = cupti.enable_activity(each.kind);
    if (result == kCuptiSuccess) {
      synchronisations |= each.kind == kActivitySynchronization;
    } else if (each.without != nullptr) {
      note->Problem(each.missing, each.without, WhyRefused(result), result);
    }
  }
  StartGraphs(cupti, taken, note);
  ExpectRecords(synchronisations);
}

WatchedApi Watched() {
  return IsEnv("RLSCOPE_CUDA_API", "all") ? WatchedApi::kAll : WatchedApi::kChosen;
}

void StartCallbacks(const Cupti& cupti, Note* note) {
  EnableUnloadCallbacks(cupti, subscriber);
  if (!Records("calls"))
    return note->Problem(Missing::kCalls, "CUDA calls are missing", "--cuda-parts=work", 0);
  SwitchApiCallbacks(cupti, subscriber, Watched(), true);
}

// A synchronisation that this finds under way may leave no record.
void SwitchWork(const Cupti& cupti, bool on) {
  if (!Records("work")) return;
  for (const Activity& each : kActivities) {
    on ? cupti.enable_activity(each.kind) : cupti.disable_activity(each.kind);
  }
  ForgetSynchronization();
  ExpectRecords(on && synchronisations);
}

void SwitchCalls(const Cupti& cupti, bool on) {
  if (subscriber == nullptr || !Records("calls")) return;
  SwitchApiCallbacks(cupti, subscriber, Watched(), on);
}

// All has been taken anew.
void LeavePartsOut(const Cupti& cupti) {
  if ((parts & RLSCOPE_CUDA_WORK) == 0) SwitchWork(cupti, false);
  if ((parts & RLSCOPE_CUDA_CALLS) == 0) SwitchCalls(cupti, false);
}

}  // namespace

bool IsEnv(const char* name, const char* value) {
  const char* set = base::GetEnv(name);
  return set != nullptr && strcmp(set, value) == 0;
}

bool WantsWindows(const Cupti& cupti, Note* note) {
  const char* share = base::GetEnv("RLSCOPE_GPU_SHARE");
  if (share == nullptr || *share == '\0' || strcmp(share, "100%") == 0) return false;
  if (cupti.version == 0 || !Records("work")) return false;  // there is no GPU work
  if (base::GetEnv("RLSCOPE_TURNS") != nullptr) return false;
  const char* problem = nullptr;
  if (cupti.finalize == nullptr || cupti.version < kFirstThatEnds ||
      DriverVersion() < kFirstDriverThatEnds) {
    problem = "CUDA before 12.6 may end a program in which CUPTI is ended and attached again";
  } else if (IsEnv("RLSCOPE_GPU_SHARE", "auto") && IsEnv("RLSCOPE_CUPTI_YIELD", "1")) {
    problem = "--cupti=yield: torch.profiler may keep CUPTI's one subscription";
  } else if (!Records("calls")) {
    problem = "--cuda-parts=work: windows go by calls";
  } else if (IsEnv("CUPTI_ENABLE_HW_TRACE", "1")) {
    problem = "CUPTI_ENABLE_HW_TRACE is set";
  }
  if (problem != nullptr) note->Text("gpu_share", problem);
  return problem == nullptr;
}

bool Subscribe(const Cupti& cupti, CuptiCallback called, Taken taken, Note* note) {
  callback = called;
  const CuptiResult result = cupti.subscribe(&subscriber, callback, nullptr);
  if (result != kCuptiSuccess) {
    subscriber = nullptr;
    TellRefused(cupti, result, Missing::kAll, "CUDA is not recorded", note);
    return false;
  }
  SetClock(cupti, note);
  StartActivities(cupti, taken, note);
  StartCallbacks(cupti, note);
  return true;
}

void SwitchParts(const Cupti& cupti, uint32_t on) {
  const uint32_t changed = parts ^ on;
  parts = on;
  if ((changed & RLSCOPE_CUDA_WORK) != 0) SwitchWork(cupti, (on & RLSCOPE_CUDA_WORK) != 0);
  if ((changed & RLSCOPE_CUDA_CALLS) != 0) SwitchCalls(cupti, (on & RLSCOPE_CUDA_CALLS) != 0);
}

void KeepParts(uint32_t on) { parts = on; }

void StopActivities(const Cupti& cupti) {
  for (const Activity& each : kActivities) cupti.disable_activity(each.kind);
  if (graphs_by_launch) cupti.disable_activity(kActivityGraphTrace);
  graphs_were_traced = HasTracedGraphs();
  graphs_by_launch = false;
}

void Unsubscribe(const Cupti& cupti) {
  if (subscriber != nullptr) cupti.unsubscribe(subscriber);
  subscriber = nullptr;
}

bool HasSubscription() { return subscriber != nullptr; }

void SubscribeAgain(const Cupti& cupti, Note* note) {
  const CuptiResult result = cupti.subscribe(&subscriber, callback, nullptr);
  refused = result != kCuptiSuccess;
  SetClock(cupti, note);
  StartActivities(cupti, Taken::kLater, note);
  if (!refused) {
    StartCallbacks(cupti, note);
    return LeavePartsOut(cupti);
  }
  subscriber = nullptr;
  LeavePartsOut(cupti);
  TellRefused(cupti, result, Missing::kNothingWhole, "CUDA calls are missing after a pause", note);
}

void NoticeFunction(const char* name) {
  if (strstr(name, "GraphInstantiate") != nullptr || strstr(name, "GraphLaunch") != nullptr)
    __atomic_store_n(&graphs_are_used, 1, __ATOMIC_RELAXED);
}

bool HasTracedGraphs() {
  if (graphs_were_traced) return true;
  return graphs_by_launch && __atomic_load_n(&graphs_are_used, __ATOMIC_RELAXED) != 0;
}

bool SubscribeToCalls(const Cupti& cupti, Note* note) {
  const CuptiResult result = cupti.subscribe(&subscriber, callback, nullptr);
  if (result != kCuptiSuccess) {
    subscriber = nullptr;
    TellRefused(cupti, result, Missing::kNothingWhole, "CUDA is not recorded in a window", note);
    return false;
  }
  StartCallbacks(cupti, note);
  return true;
}

void StartWork(const Cupti& cupti, Note* note) {
  SetClock(cupti, note);
  StartActivities(cupti, Taken::kLater, note);
}

void EndSubscription(const Cupti& cupti) {
  cupti.finalize();
  subscriber = nullptr;
}

bool SubscribeIfRefused(const Cupti& cupti, Note* note) {
  if (!refused || cupti.subscribe(&subscriber, callback, nullptr) != kCuptiSuccess) return false;
  refused = false;
  SetClock(cupti, note);
  StartActivities(cupti, Taken::kLater, note);
  StartCallbacks(cupti, note);
  LeavePartsOut(cupti);
  return true;
}

}  // namespace rlscope::cupti
