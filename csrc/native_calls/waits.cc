#include "native_calls/waits.h"

#include <vector>

#include "native_calls/call.h"
#include "native_calls/entries.h"
#include "native_calls/patch.h"
#include "native_calls/pointers.h"
#include "native_calls/test_delay.h"
#include "native_calls/wait_names.h"
#include "runtime/native_call.h"
#include "runtime/open_wait.h"
#include "runtime/probe.h"
#include "runtime/short_waits.h"
#include "trace/layout/layer.h"

namespace rlscope::native_calls {
namespace {

struct WaitSite {
  WaitFunction function;
  int flags;      // METH_...: how it takes its arguments
  uint32_t word;  // of a wait without an object; 0 not made yet
};
// Entry.word of a patched function is its place here plus one. Never destroyed.
auto& sites = *new std::vector<WaitSite>;

// The arguments of a call through a stub.
struct Arguments {
  PyObject* self;
  void* rest;  // a tuple, or an array
  void* count;
};

// Borrowed; null: there is none.
PyObject* FirstArgument(const WaitSite& site, const Arguments& arguments) {
  if ((site.flags & METH_O) != 0) return static_cast<PyObject*>(arguments.rest);
  if ((site.flags & METH_FASTCALL) != 0) {
    const auto count = reinterpret_cast<intptr_t>(arguments.count);
    return count == 0 ? nullptr : static_cast<PyObject* const*>(arguments.rest)[0];
  }
  auto* tuple = static_cast<PyObject*>(arguments.rest);
  const bool has = tuple != nullptr && PyTuple_Check(tuple) && PyTuple_GET_SIZE(tuple) > 0;
  return has ? PyTuple_GET_ITEM(tuple, 0) : nullptr;
}

// -1: it is no number that can be a descriptor or a pid.
int NumberOf(PyObject* object) {
  if (object == nullptr || !PyLong_CheckExact(object)) return -1;
  int overflow = 0;
  const long value = PyLong_AsLongAndOverflow(object, &overflow);
  return overflow != 0 || value < 0 || value > INT32_MAX ? -1 : static_cast<int>(value);
}

// Sockets (PySocketSockObject) and files (fileio) of every CPython keep it first.
int OwnDescriptor(PyObject* object) {
  return *reinterpret_cast<const int*>(reinterpret_cast<const char*>(object) + sizeof(PyObject));
}

// SemLocks of every CPython do the same with a pointer.
const void* OwnSemaphore(PyObject* object) {
  return *reinterpret_cast<void* const*>(reinterpret_cast<const char*>(object) + sizeof(PyObject));
}

// The first descriptor in a list of (descriptor, events).
int ReadyDescriptor(void* result) {
  auto* list = static_cast<PyObject*>(result);
  if (list == nullptr || !PyList_CheckExact(list) || PyList_GET_SIZE(list) == 0) return -1;
  PyObject* first = PyList_GET_ITEM(list, 0);
  const bool is_pair = PyTuple_CheckExact(first) && PyTuple_GET_SIZE(first) == 2;
  return is_pair ? NumberOf(PyTuple_GET_ITEM(first, 0)) : -1;
}

void NamePair(void* result) {
  auto* pair = static_cast<PyObject*>(result);
  if (pair == nullptr || !PyTuple_CheckExact(pair) || PyTuple_GET_SIZE(pair) != 2) return;
  NameSocketPair(OwnDescriptor(PyTuple_GET_ITEM(pair, 0)),
                 OwnDescriptor(PyTuple_GET_ITEM(pair, 1)));
}

uint32_t PlainWord(WaitSite* site) {
  if (site->word == 0) site->word = WordOfWait(site->function.kind, site->function.name);
  return site->word;
}

WaitName DescriptorName(uint32_t number, int descriptor, uint64_t ticks) {
  const WaitFunction& function = sites[number].function;
  return NameOfDescriptor(number, descriptor, ticks, function.kind, function.name);
}

// What can be known before the call.
WaitName NameBefore(uint32_t number, const Arguments& arguments, uint64_t ticks) {
  WaitSite* site = &sites[number];
  int object = -1;
  switch (site->function.object) {
    case WaitObject::kDescriptor:
      object = NumberOf(FirstArgument(*site, arguments));
      break;
    case WaitObject::kOwnDescriptor:
      object = OwnDescriptor(arguments.self);
      break;
    case WaitObject::kSemaphore:
      return NameOfSemaphore(number, OwnSemaphore(arguments.self), ticks, site->function.kind,
                             site->function.name);
    case WaitObject::kProcess:
      object = NumberOf(FirstArgument(*site, arguments));
      if (object <= 0) break;  // any child
      return {WordOfProcess(object, site->function.kind, site->function.name), false};
    default:
      break;
  }
  if (object < 0) return {PlainWord(site), false};
  return DescriptorName(number, object, ticks);
}

bool HasRing() {
  return rlscope_self.ring != nullptr &&
         rlscope_self.generation == runtime::Load(rlscope_process.generation);
}

bool IsRecordable(const WaitFunction& function) {
  if (runtime::IsIdleOrTimed()) return false;
  if (PyInterpreterState_Get() != PyInterpreterState_Main() || runtime::IsInCall()) return false;
  if (runtime::CountsShortWaits(rlscope_self)) return true;
  return (HasRing() || function.opens) && PrepareToRecord();
}

// After IsRecordable() and what came since.
bool HasRoom() { return runtime::CountsShortWaits(rlscope_self) || runtime::HasRoom(); }

// Readings of the clock: when the stub began, when the wait did, and when it was over.
struct WaitTimes {
  uint64_t began;
  uint64_t start;
  uint64_t end;
};

// Where a probe was due when the stub began, it says what this wait has cost: all but the wait. A
// preemption inside does not make the wait one that is probed; room for the probe is no part of the
// cost.
void Probe(uint32_t kind, const WaitTimes& times) {
  if (!runtime::IsProbeDue(times.began)) return;
  const uint64_t now = runtime::ReadTicks();
  if (!runtime::HasRoom() || rlscope_begin_probe(times.began) == 0) return;
  const uint64_t waited = times.end - times.start;
  rlscope_end_probe(kind, times.began + waited, now, now);
}

// The wait is over: it leaves a record if it was long, or the first on its object.
void End(uint32_t number, WaitName name, void* result, WaitTimes times) {
  struct rlscope_thread* self = &rlscope_self;
  const uint32_t generation = runtime::Load(rlscope_process.generation);
  const uint64_t end = times.end = runtime::ReadTicks();
  const bool is_held = self->call_start != 0 && self->generation == generation;
  runtime::HideOpenWait(*self, generation);
  if (is_held && sites[number].function.object == WaitObject::kReadyDescriptor) {
    const int ready = ReadyDescriptor(result);
    if (ready >= 0) name = DescriptorName(number, ready, end);
    if (name.word != 0) self->call = name.word;
  }
  const bool is_short = end - self->call_start < runtime::TicksOf(kShortestWaitNs);
  if (is_short && !name.is_first && runtime::DropCall(self, generation)) {
    runtime::CountShortWait(self, end);
    return Probe(trace::kProbeShortWait, times);
  }
  if (name.is_first) MarkRecorded(name.word);
  DelayRecord(Delayed::kWait);
  runtime::EndCall(self, generation, end);
  if (is_held) Probe(trace::kProbeWait, times);
}

void* CallWait(void* a, void* b, void* c, void* d, void* e, const Entry* entry) {
  const uint32_t number = runtime::Load(entry->word) - 1;
  if (number >= sites.size()) return entry->original(a, b, c, d, e);
  const WaitFunction& function = sites[number].function;
  if (function.object == WaitObject::kSocketPair) {
    void* result = entry->original(a, b, c, d, e);
    NamePair(result);
    return result;
  }
  if (!IsRecordable(function)) return entry->original(a, b, c, d, e);
  const uint64_t began = runtime::ReadTicks();
  const WaitName name = NameBefore(number, {static_cast<PyObject*>(a), b, c}, began);
  if (name.word == 0 || !HasRoom()) return entry->original(a, b, c, d, e);
  const uint64_t start = runtime::ReadTicks();
  runtime::BeginCall(&rlscope_self, name.word, start);
  runtime::ShowOpenWait(rlscope_self);
  void* result = entry->original(a, b, c, d, e);
  End(number, name, result, {began, start, 0});
  return result;
}

// -1: the function is no builtin whose arguments are known.
int FlagsOf(PyObject* function, WaitObject object) {
  const Holder holder = HolderOf(function);
  // A Cython function, whose first argument may be its `self`.
  if (holder == Holder::kVectorcall && object == WaitObject::kNone) return METH_FASTCALL;
  if (holder == Holder::kFunction) return PyCFunction_GET_FLAGS(function);
  if (holder == Holder::kMethod) {
    return reinterpret_cast<PyMethodDescrObject*>(function)->d_method->ml_flags;
  }
  return -1;
}

}  // namespace

bool PatchWait(PyObject* function, const WaitFunction& wait) {
#ifdef Py_GIL_DISABLED
  constexpr bool kIsGuarded = false;  // the GIL guards the names and the sites
#else
  constexpr bool kIsGuarded = true;
#endif
  const int flags = FlagsOf(function, wait.object);
  if (flags < 0 || !kIsGuarded) return false;
  call_hooks.wait = CallWait;
  void** location = PointersOf(function, HolderOf(function)).location[0];
  const Callee callee = {wait.name.data(), wait.name.size(),
                         static_cast<uint32_t>(trace::Layer::kWait)};
  const Patched patched = PatchPointer(location, callee, kWaits, function);
  if (patched == Patched::kRefused) return false;
  Entry* entry = &entries[IndexOf(__atomic_load_n(location, __ATOMIC_ACQUIRE))];
  if (entry->word != 0) return true;  // patched before
  sites.push_back({wait, flags, 0});
  __atomic_store_n(&entry->word, static_cast<uint32_t>(sites.size()), __ATOMIC_RELEASE);
  return true;
}

}  // namespace rlscope::native_calls
