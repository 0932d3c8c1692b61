// The one subscriber: its callbacks, and which of CUPTI's two families of functions the process has
// begun to use.
#ifndef SIMCUDA_CUPTI_SUBSCRIBER_H_
#define SIMCUDA_CUPTI_SUBSCRIBER_H_

#include <string>

#include "core/interface.h"

namespace simcuda {

using CuptiCallback = void (*)(void* user_data, uint32_t domain, uint32_t cbid, const void* data);

struct Subscriber {
  CuptiCallback callback;
  void* user_data;
  std::string name;
};

// From 13.2 on a process uses either the functions that name a subscriber (*_v2) or the older ones:
// the second caller gets an error: the two are not compatible.
enum class Family { kNone, kLegacy, kSubscriber };
// A CUPTI status: kCuptiSuccess, and the process has chosen. [MT]
int UseFamily(Family family);

// All return CUPTI statuses. [MT]
int Subscribe(Subscriber** handle, CuptiCallback callback, void* user_data, const char* name);
int Unsubscribe(Subscriber* subscriber);
std::string SubscriberName();  // of the one there is
int EnableCallback(Subscriber* subscriber, uint32_t domain, uint32_t cbid, bool enable);
int EnableDomain(Subscriber* subscriber, uint32_t domain, bool enable);
int CallbackState(uint32_t* enabled, Subscriber* subscriber, uint32_t domain, uint32_t cbid);

// Fills the core's Tools: the driver and the runtime start to report.
void Attach();
// Empties them again; cuptiFinalize.
void Detach();

// A kind of activity is enabled: what that leaves in each call stays until Detach().
void AttachRecords();

// The id that clients know a call by.
uint32_t ClientCorrelation(uint32_t correlation);

}  // namespace simcuda

#endif  // SIMCUDA_CUPTI_SUBSCRIBER_H_
