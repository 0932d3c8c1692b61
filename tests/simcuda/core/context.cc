#include "core/context.h"

#include <algorithm>
#include <map>
#include <unordered_map>
#include <unordered_set>

namespace simcuda {
namespace {

struct Handles {
  std::unordered_set<const void*> contexts;
  std::unordered_set<const void*> streams;
  std::unordered_set<const void*> events;
  std::map<int, Context*> primary;  // by device
  uint32_t last_context = 0;
  uint32_t last_event = 0;
  uint32_t next_stream =
      13;  // CUPTI's numbers: the first context's default stream is 7, created ones follow from 13
};

Handles& All() {
  static Handles& handles = *new Handles;  // never destroyed: used while the process exits
  return handles;
}

thread_local std::vector<Context*> stack;
thread_local std::unordered_map<Context*, Stream*> own_streams;  // the per-thread default streams

Stream* OwnStream(Context* context) {
  Stream*& stream = own_streams[context];
  if (stream == nullptr || All().streams.count(stream) == 0) stream = CreateStream(context, 0, 0);
  return stream;
}

}  // namespace

std::mutex& ModelLock() {
  static std::mutex& lock = *new std::mutex;
  return lock;
}

Context* CurrentContext() { return stack.empty() ? nullptr : stack.back(); }

void PushContext(Context* context) { stack.push_back(context); }

Context* PopContext() {
  Context* context = CurrentContext();
  if (!stack.empty()) stack.pop_back();
  return context;
}

void SetContext(Context* context) {
  PopContext();
  if (context != nullptr) PushContext(context);
}

Context* CreateContext(int device) {
  Handles& all = All();
  auto* context = new Context{++all.last_context, device, nullptr};
  uint32_t stream_id = context->id == 1 ? 7 : all.next_stream++;
  context->legacy = new Stream{stream_id, context, 0, 0};
  all.contexts.insert(context);
  all.streams.insert(context->legacy);
  return context;
}

void DestroyContext(Context* context) {
  Handles& all = All();
  for (Stream* stream : std::vector<Stream*>(context->streams)) DestroyStream(stream);
  all.streams.erase(context->legacy);
  all.contexts.erase(context);
  for (auto entry = all.primary.begin(); entry != all.primary.end();) {
    entry = entry->second == context ? all.primary.erase(entry) : std::next(entry);
  }
  delete context->legacy;  // the context itself stays: other threads may still have it current
}

bool IsContext(const Context* context) { return All().contexts.count(context) != 0; }

Context* PrimaryContext(int device, bool create) {
  auto& primary = All().primary;
  auto found = primary.find(device);
  if (found != primary.end()) return found->second;
  if (!create) return nullptr;
  return primary[device] = CreateContext(device);
}

Stream* CreateStream(Context* context, uint32_t flags, int priority) {
  auto* stream = new Stream{All().next_stream++, context, flags, priority};
  context->streams.push_back(stream);
  All().streams.insert(stream);
  return stream;
}

void DestroyStream(Stream* stream) {
  auto& streams = stream->context->streams;
  streams.erase(std::remove(streams.begin(), streams.end(), stream), streams.end());
  // Work of a destroyed stream still runs: a synchronisation of the context waits for it.
  stream->context->legacy->ready_ns = std::max(stream->context->legacy->ready_ns, stream->ready_ns);
  All().streams.erase(stream);
  delete stream;
}

Stream* FindStream(void* handle) {
  if (handle == nullptr || handle == kLegacyHandle || handle == kPerThreadHandle) {
    Context* context = CurrentContext();
    if (context == nullptr || !IsContext(context)) return nullptr;
    return handle == kPerThreadHandle ? OwnStream(context) : context->legacy;
  }
  return All().streams.count(handle) == 0 ? nullptr : static_cast<Stream*>(handle);
}

Event* CreateEvent(Context* context, uint32_t flags) {
  auto* event = new Event{++All().last_event, context, flags};
  All().events.insert(event);
  return event;
}

void DestroyEvent(Event* event) {
  All().events.erase(event);
  delete event;
}

bool IsEvent(const Event* event) { return All().events.count(event) != 0; }

uint64_t ReadyNs(const Context& context) {
  uint64_t ready_ns = context.legacy->ready_ns;
  for (const Stream* stream : context.streams) ready_ns = std::max(ready_ns, stream->ready_ns);
  return ready_ns;
}

}  // namespace simcuda
