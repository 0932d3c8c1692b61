#include "native_calls/waits.h"

#include <string.h>

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
  int flags;           // METH_...: how it takes its arguments
  uint32_t word;       // of a wait without an object; 0 not made yet
  uint32_t timed_out;  // of one that ended by its time-out; 0 not made yet
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

// The number itself, or that of a socket or file. -1: it has none, or only code of the program
// knows it.
int DescriptorOf(PyObject* object) {
  if (PyLong_CheckExact(object)) return NumberOf(object);
  PyObject* method = PyObject_GetAttrString(reinterpret_cast<PyObject*>(Py_TYPE(object)), "fileno");
  const bool is_native = method != nullptr && Py_IS_TYPE(method, &PyMethodDescr_Type);
  Py_XDECREF(method);
  const int found = is_native ? PyObject_AsFileDescriptor(object) : -1;
  PyErr_Clear();
  return found;
}

// The first member of a list; null: it has none, or is no list. Borrowed.
PyObject* FirstOf(PyObject* list) {
  return PyList_CheckExact(list) && PyList_GET_SIZE(list) > 0 ? PyList_GET_ITEM(list, 0) : nullptr;
}

// The first descriptor in a list of (descriptor, events), or in one of the lists of select().
int ReadyDescriptor(PyObject* result) {
  if (result == nullptr) return -1;
  PyObject* first = FirstOf(result);
  for (Py_ssize_t at = 0; PyTuple_CheckExact(result) && at < PyTuple_GET_SIZE(result); ++at) {
    if (first == nullptr) first = FirstOf(PyTuple_GET_ITEM(result, at));
  }
  if (first == nullptr) return -1;
  const bool is_pair = PyTuple_CheckExact(first) && PyTuple_GET_SIZE(first) == 2;
  return DescriptorOf(is_pair ? PyTuple_GET_ITEM(first, 0) : first);
}

// Whether these are lists without a member: an empty one, or a tuple of such.
bool IsNothingReady(PyObject* result) {
  if (PyList_CheckExact(result)) return PyList_GET_SIZE(result) == 0;
  if (!PyTuple_CheckExact(result) || PyTuple_GET_SIZE(result) == 0) return false;
  for (Py_ssize_t at = 0; at < PyTuple_GET_SIZE(result); ++at) {
    PyObject* list = PyTuple_GET_ITEM(result, at);
    if (!PyList_CheckExact(list) || PyList_GET_SIZE(list) > 0) return false;
  }
  return true;
}

// Whether a call came back because its time was over: it says that nothing is ready (poll, select),
// or False (locks, semaphores), or raises what tells of a time-out (sockets, queues).
bool IsTimedOut(PyObject* result) {
  if (result != nullptr) return result == Py_False || IsNothingReady(result);
  PyObject* raised = PyErr_Occurred();
  if (raised == nullptr || !PyType_Check(raised)) return false;
  return PyErr_ExceptionMatches(PyExc_TimeoutError) != 0 ||
         strcmp(reinterpret_cast<PyTypeObject*>(raised)->tp_name, "Empty") == 0;
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

// A wait that ended by its time-out was for time.
WaitName TimedOutName(WaitSite* site) {
  if (site->timed_out == 0) site->timed_out = WordOfWait("sleep", site->function.name);
  return {site->timed_out, false};
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

// What the result says beside.
WaitName NameAfter(uint32_t number, WaitName name, PyObject* result, uint64_t ticks) {
  WaitSite* site = &sites[number];
  if (IsTimedOut(result)) return TimedOutName(site);
  if (site->function.object != WaitObject::kReadyDescriptor) return name;
  const int ready = ReadyDescriptor(result);
  return ready < 0 ? name : DescriptorName(number, ready, ticks);
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

// Waits for the GIL inside the wait that this thread is in. They are recorded once the wait is
// over, because its record comes first, and its name may depend on what it returns.
struct GilWaits {
  static constexpr int kMost = 8;
  struct Interval {
    uint32_t word;
    uint64_t start;
    uint64_t end;
  };
  Interval waits[kMost];
  int count = 0;
};
thread_local GilWaits* open_gil_waits = nullptr;

void RecordGilWaits(const GilWaits& inside) {
  for (int at = 0; at < inside.count; ++at) {
    const GilWaits::Interval& each = inside.waits[at];
    rlscope_record_wait(each.word, each.start, each.end);
  }
}

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
void End(uint32_t number, WaitName name, void* result, const GilWaits& inside, WaitTimes times) {
  struct rlscope_thread* self = &rlscope_self;
  const uint32_t generation = runtime::Load(rlscope_process.generation);
  const uint64_t end = times.end = runtime::ReadTicks();
  const bool is_held = self->call_start != 0 && self->generation == generation;
  runtime::HideOpenWait(*self, generation);
  if (is_held) {
    name = NameAfter(number, name, static_cast<PyObject*>(result), end);
    if (name.word != 0) self->call = name.word;
    RecordGilWaits(inside);
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
  GilWaits inside;
  GilWaits* outside = open_gil_waits;
  open_gil_waits = &inside;
  void* result = entry->original(a, b, c, d, e);
  open_gil_waits = outside;
  End(number, name, result, inside, {began, start, 0});
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

void RecordGilWait(uint32_t word, uint64_t start, uint64_t end) {
  GilWaits* inside = open_gil_waits;
  // Something was recorded inside already: the record of the wait is there.
  const bool is_begun = rlscope_self.call_start == 0;
  if (inside == nullptr || is_begun || inside->count == GilWaits::kMost) {
    if (inside != nullptr && !is_begun) RecordGilWaits(*inside), inside->count = 0;
    return rlscope_record_wait(word, start, end);
  }
  inside->waits[inside->count++] = {word, start, end};
}

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
  sites.push_back({wait, flags, 0, 0});
  __atomic_store_n(&entry->word, static_cast<uint32_t>(sites.size()), __ATOMIC_RELEASE);
  return true;
}

}  // namespace rlscope::native_calls
