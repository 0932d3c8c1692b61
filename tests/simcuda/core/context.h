// Contexts, streams and events: the things a program holds handles of.
//
// A stream is a clock, not a thread: it knows when all that was submitted to it will have ended,
// and the next operation starts then. One lock guards them all.
#ifndef SIMCUDA_CORE_CONTEXT_H_
#define SIMCUDA_CORE_CONTEXT_H_

#include <cstdint>
#include <mutex>
#include <vector>

namespace simcuda {

struct Context;
struct Capture;
struct GraphNode;

struct Stream {
  uint32_t id;
  Context* context;
  uint32_t flags;  // 1: does not synchronise with the legacy default stream
  int priority;
  uint64_t ready_ns = 0;
  Capture* capture = nullptr;          // the capture it takes part in
  std::vector<GraphNode*> frontier{};  // what its next captured node depends on
};

struct Event {
  uint32_t id;
  Context* context;
  uint32_t flags;
  uint64_t time_ns = 0;  // when the recorded work will have ended; 0: never recorded
  Capture* capture = nullptr;
  std::vector<GraphNode*> frontier{};
};

struct Context {
  uint32_t id;
  int device;
  Stream* legacy;
  std::vector<Stream*> streams{};  // all but the legacy one
};

constexpr uint32_t kNonBlocking = 1;
inline void* const kLegacyHandle = reinterpret_cast<void*>(1);
inline void* const kPerThreadHandle = reinterpret_cast<void*>(2);

// Guards every structure of this file, of graph.h and of capture.h.
std::mutex& ModelLock();

// The calling thread's current context, or null. No lock needed.
Context* CurrentContext();
void PushContext(Context* context);
Context* PopContext();
void SetContext(Context* context);

// The rest is called with the lock held.
Context* CreateContext(int device);
void DestroyContext(Context* context);
bool IsContext(const Context* context);
Context* PrimaryContext(int device, bool create);

Stream* CreateStream(Context* context, uint32_t flags, int priority);
void DestroyStream(Stream* stream);
// The stream of a handle: 0 and 1 are the legacy stream of the current context, 2 the calling
// thread's own. Null: no such stream.
Stream* FindStream(void* handle);

Event* CreateEvent(Context* context, uint32_t flags);
void DestroyEvent(Event* event);
bool IsEvent(const Event* event);

// When all that was submitted to the context will have ended.
uint64_t ReadyNs(const Context& context);

}  // namespace simcuda

#endif  // SIMCUDA_CORE_CONTEXT_H_
