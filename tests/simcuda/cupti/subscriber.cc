#include "cupti/subscriber.h"

#include <atomic>
#include <mutex>

#include "cupti/activities.h"
#include "cupti/callback_data.h"
#include "cupti/settings.h"
#include "cupti/status.h"
#include "cupti/timestamps.h"

namespace simcuda {
namespace {

constexpr uint32_t kResourceDomain = 3;
constexpr uint32_t kDomains = 7;      // driver, runtime, resource, synchronize, NVTX, state
constexpr uint32_t kOtherCbids = 64;  // more than any domain but the APIs' has
constexpr uint32_t kSubscriberApi =
    130202;  // the first release whose *_v2 functions are a family of their own

std::atomic<Subscriber*> current{nullptr};  // never deleted: a callback may be under way
std::atomic<uint8_t> others[kDomains][kOtherCbids];
std::mutex& Lock() {
  static std::mutex& lock = *new std::mutex;
  return lock;
}

std::atomic<bool> is_attached{false}, has_records{false};
std::atomic<uint32_t> last_correlation{0}, first_correlation{0};

void NoticeCorrelation(uint32_t correlation) {
  uint32_t last = last_correlation.load();
  while (last < correlation && !last_correlation.compare_exchange_weak(last, correlation)) {
  }
}

void CallClient(ApiCall* call, bool enter) {
  NoticeCorrelation(call->correlation);
  Subscriber* subscriber = current.load(std::memory_order_acquire);
  if (subscriber == nullptr) return;
  int status = call->status;
  CallbackData data = {enter ? 0u : 1u,
                       call->function->name,
                       nullptr,
                       enter ? nullptr : &status,
                       call->symbol,
                       call->context,
                       call->context_id,
                       &call->correlation_data,
                       ClientCorrelation(call->correlation)};
  Spin(GetSettings().callback_ns);
  subscriber->callback(subscriber->user_data, call->function->domain, call->function->cbid, &data);
}

// The record's times lie inside the callbacks, as CUPTI's do.
void OnCall(ApiCall* call, bool enter) {
  static thread_local uint64_t starts[64];
  uint64_t& start = starts[call->depth % 64];
  if (enter) {
    if ((call->watched & kCallback) != 0) CallClient(call, true);
    if ((call->watched & kRecord) != 0) start = CpuTimestamp();
    return;
  }
  if ((call->watched & kRecord) != 0) KeepCall(*call, start, CpuTimestamp());
  if ((call->watched & kCallback) != 0) CallClient(call, false);
}

void OnResource(ResourceCbid cbid, void* context, void* resource) {
  Subscriber* subscriber = current.load(std::memory_order_acquire);
  if (subscriber == nullptr || others[kResourceDomain][cbid] == 0) return;
  ResourceData data = {context, resource, nullptr};
  subscriber->callback(subscriber->user_data, kResourceDomain, cbid, &data);
}

void SpendAttached() {
  Spin(GetSettings().attached_ns);
  if (has_records.load(std::memory_order_relaxed)) Spin(GetSettings().recorded_ns);
}

void WriteTruth(const char* event) {
  const std::string line = std::string("{\"type\":\"cupti\",\"event\":\"") + event + "\"}\n";
  FindCore()->write_truth(line.data(), line.size());
}

uint32_t MaxCbid(uint32_t domain) {
  const CuptiVersion& version = *GetSettings().version;
  if (domain == kDriver) return version.driver_cbid_max;
  return domain == kRuntime ? version.runtime_cbid_max : kOtherCbids - 1;
}

bool IsCurrent(const Subscriber* subscriber) {
  return subscriber != nullptr && subscriber == current.load();
}

void Watch(uint32_t domain, uint32_t cbid, bool enable) {
  if (domain != kDriver && domain != kRuntime) {
    others[domain][cbid] = enable;
    return;
  }
  auto& watched = FindCore()->tools.watched[domain][cbid];
  enable ? watched.fetch_or(kCallback) : watched.fetch_and(static_cast<uint8_t>(~kCallback));
}

void WatchAll(uint32_t domain, bool enable) {
  for (uint32_t cbid = 1; cbid <= MaxCbid(domain); ++cbid) Watch(domain, cbid, enable);
}

}  // namespace

int UseFamily(Family family) {
  static Family used = Family::kNone;
  if (GetSettings().version->number < kSubscriberApi) return kCuptiSuccess;
  std::lock_guard<std::mutex> guard(Lock());
  if (used == Family::kNone) used = family;
  return used == family ? kCuptiSuccess : kCuptiNotCompatible;
}

int Subscribe(Subscriber** handle, CuptiCallback callback, void* user_data, const char* name) {
  if (handle == nullptr || callback == nullptr) return kCuptiInvalidParameter;
  if (GetSettings().subscribe_status != 0) return GetSettings().subscribe_status;
  std::lock_guard<std::mutex> guard(Lock());
  if (current.load() != nullptr) return kCuptiMultipleSubscribers;
  *handle = new Subscriber{callback, user_data, name == nullptr ? "" : name};
  current.store(*handle, std::memory_order_release);
  Attach();
  return kCuptiSuccess;
}

int Unsubscribe(Subscriber* subscriber) {
  std::lock_guard<std::mutex> guard(Lock());
  if (!IsCurrent(subscriber)) return kCuptiInvalidParameter;
  for (uint32_t domain = 1; domain < kDomains; ++domain) WatchAll(domain, false);
  current.store(nullptr, std::memory_order_release);
  return kCuptiSuccess;
}

std::string SubscriberName() {
  const Subscriber* subscriber = current.load(std::memory_order_acquire);
  return subscriber == nullptr ? "" : subscriber->name;
}

int EnableCallback(Subscriber* subscriber, uint32_t domain, uint32_t cbid, bool enable) {
  bool known = domain >= 1 && domain < kDomains && cbid >= 1 && cbid <= MaxCbid(domain);
  if (!IsCurrent(subscriber) || !known) return kCuptiInvalidParameter;
  Watch(domain, cbid, enable);
  return kCuptiSuccess;
}

int EnableDomain(Subscriber* subscriber, uint32_t domain, bool enable) {
  if (!IsCurrent(subscriber) || domain < 1 || domain >= kDomains) return kCuptiInvalidParameter;
  WatchAll(domain, enable);
  return kCuptiSuccess;
}

int CallbackState(uint32_t* enabled, Subscriber* subscriber, uint32_t domain, uint32_t cbid) {
  bool known = domain >= 1 && domain < kDomains && cbid >= 1 && cbid <= MaxCbid(domain);
  if (!IsCurrent(subscriber) || !known) return kCuptiInvalidParameter;
  bool api = domain == kDriver || domain == kRuntime;
  *enabled =
      api ? FindCore()->tools.watched[domain][cbid] & kCallback : others[domain][cbid].load();
  return kCuptiSuccess;
}

void Attach() {
  Tools& tools = FindCore()->tools;
  if (!is_attached.exchange(true)) WriteTruth("attached");
  const bool spends = GetSettings().attached_ns != 0 || GetSettings().recorded_ns != 0;
  if (spends) tools.attached.store(SpendAttached);
  tools.call.store(OnCall, std::memory_order_release);
  tools.operation.store(KeepOperation, std::memory_order_release);
  tools.resource.store(OnResource, std::memory_order_release);
}

void AttachRecords() {
  if (!has_records.exchange(true)) Spin(GetSettings().attach_ns);
}

void Detach() {
  if (is_attached.exchange(false)) WriteTruth("finalized");
  has_records = false;
  FindCore()->tools.attached.store(nullptr);
  Unsubscribe(current.load());
  StopActivities();
  ForgetActivities();
  if (GetSettings().restarts) first_correlation = last_correlation.load();
  Spin(GetSettings().finalize_ns);
}

uint32_t ClientCorrelation(uint32_t correlation) { return correlation - first_correlation.load(); }

}  // namespace simcuda
