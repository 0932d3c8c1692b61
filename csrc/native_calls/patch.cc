#include "native_calls/patch.h"

#include <string.h>

#include <mutex>
#include <string>
#include <vector>

#include "native_calls/builtin_identity.h"
#include "native_calls/call.h"
#include "native_calls/original.h"
#include "native_calls/page_access.h"
#include "native_calls/patch_sites.h"
#include "native_calls/stubs_in_use.h"
#include "native_calls/test_delay.h"

namespace rlscope::native_calls {
namespace {

// Everything below. No Python code runs under it.
std::mutex mutex;
using Guard = std::lock_guard<std::mutex>;

// Never destroyed: threads call through stubs while the process exits.
PatchSites& sites = *new PatchSites;
StubsInUse& stubs = *new StubsInUse;
uint64_t dispatchers = 0;
uint64_t shared = 0;
uint64_t refused = 0;

Patched Refuse() {
  ++refused;
  return Patched::kRefused;
}

void* Load(void** location) { return __atomic_load_n(location, __ATOMIC_ACQUIRE); }

void* OriginalOf(uint32_t index) { return reinterpret_cast<void*>(entries[index].original); }

// A stub was called often: its pointers go to one in the hot block.
void MakeHot(uint32_t index) {
  const Guard guard(mutex);
  const uint32_t hot = stubs.MoveToHot(index);
  if (hot != index) sites.Redirect(index, hot);
}

void Prepare(PyObject* keep) {
  InstallBuiltinIdentity();
  if (keep != nullptr && PyCFunction_Check(keep)) InstallBuiltinIdentity(Py_TYPE(keep));
  call_hooks.hot = MakeHot;
}

uint32_t EntryFlagsOf(uint32_t patch_flags) {
  const uint32_t hook = (patch_flags & kWatchResult) != 0 ? kResultHook : 0;
  if ((patch_flags & kWaits) != 0) return hook | kWait;
  return hook | ((patch_flags & kSerialization) != 0 ? uint32_t{kSerializes} : DelayFlag());
}

// The location holds a stub that was copied there (a slot of a later subclass), or put there
// before.
Patched Adopt(void** location, void* stub, PyObject* keep) {
  stubs.Revive(IndexOf(stub));
  const Site* site = sites.Find(location);
  if (site != nullptr && site->in_force) return Patched::kAlready;
  Py_XINCREF(keep);
  sites.Add(location, OriginalOf(IndexOf(stub)), stub, keep, AccessOf(location));
  return Patched::kAlready;
}

// The stub that the location had before it was unpatched. Static storage holds the same function
// for good, and keeps the name that it was found under first.
uint32_t FormerStub(void** location, void* original, const Callee& callee, bool is_static) {
  const Site* site = sites.Find(location);
  if (site == nullptr || site->original != original || !IsStub(site->stored)) {
    return StubsInUse::kNone;
  }
  const uint32_t index = IndexOf(site->stored);
  if (!is_static && !stubs.IsNamed(index, callee)) return StubsInUse::kNone;
  stubs.Revive(index);
  return index;
}

// Functions that came when the pool was full, or too many were made, have one name per module.
uint32_t TakeForFullPool(void* original, const Callee& callee, uint32_t entry_flags) {
  const std::string name(callee.name, callee.length);
  const std::string other = name.substr(0, name.find(':')) + ":(other)";
  return stubs.TakeShared(original, {other.data(), other.size(), callee.layer}, entry_flags);
}

struct Choice {
  uint32_t index;
  Patched outcome;
};

Choice ChooseStub(void** location, void* original, const Callee& callee, uint32_t flags,
                  bool is_static) {
  const uint32_t entry_flags = EntryFlagsOf(flags);
  const uint32_t former = FormerStub(location, original, callee, is_static);
  if (former != StubsInUse::kNone) return {former, Patched::kYes};
  if ((flags & kShareStub) != 0) {
    return {stubs.TakeShared(original, callee, entry_flags), Patched::kYes};
  }
  const uint32_t own = stubs.TakeOwn(original, callee, entry_flags);
  if (own != StubsInUse::kNone) return {own, Patched::kYes};
  return {TakeForFullPool(original, callee, entry_flags), Patched::kShared};
}

// For a location that is not remembered.
Choice ChooseNamed(void* original, const Callee& callee, uint32_t flags) {
  const uint32_t entry_flags = EntryFlagsOf(flags);
  if ((flags & kShareStub) != 0) {
    return {stubs.TakeShared(original, callee, entry_flags), Patched::kYes};
  }
  const uint32_t named = stubs.TakeNamed(original, callee, entry_flags);
  if (named != StubsInUse::kNone) return {named, Patched::kYes};
  return {TakeForFullPool(original, callee, entry_flags), Patched::kShared};
}

bool CanHoldPatch(void** location) {
  return reinterpret_cast<uintptr_t>(location) % alignof(void*) == 0;
}

// Stores and remembers; a strong reference is taken only then, and only once for a location that
// the program has changed since.
bool Install(void** location, void* original, void* stored, PyObject* keep, Access access) {
  if (!StorePointer(location, original, stored, access)) return false;
  const Site* site = sites.Find(location);
  if (site != nullptr && site->in_force && site->keep != nullptr) {
    keep = site->keep;
  } else {
    Py_XINCREF(keep);
  }
  sites.Add(location, original, stored, keep, access);
  return true;
}

}  // namespace

Patched PatchPointer(void** location, const Callee& callee, uint32_t flags, PyObject* keep) {
  const Guard guard(mutex);
  Prepare(keep);
  if (!CanHoldPatch(location)) return Refuse();
  void* original = Load(location);
  if (IsStub(original)) return Adopt(location, original, keep);
  const Access access = AccessOf(location);
  if (original == nullptr || access == Access::kText) return Refuse();
  const Choice choice = ChooseStub(location, original, callee, flags, keep == nullptr);
  if (choice.index == StubsInUse::kNone) return Refuse();
  if (!Install(location, original, StubAt(choice.index), keep, access)) return Refuse();
  shared += choice.outcome == Patched::kShared;
  return choice.outcome;
}

Patched PatchDispatcher(void** location, const Callee& callee, uint32_t flags) {
  const Guard guard(mutex);
  Prepare(nullptr);
  void* original = Load(location);
  if (IsStub(original)) {
    stubs.Revive(IndexOf(original));
    return Patched::kAlready;
  }
  const Access access = AccessOf(location);
  if (original == nullptr || access == Access::kText) return Refuse();
  const Choice choice = ChooseNamed(original, callee, flags);
  if (choice.index == StubsInUse::kNone) return Refuse();
  if (!StorePointer(location, original, StubAt(choice.index), access)) return Refuse();
  ++dispatchers;
  return choice.outcome;
}

Patched ReplacePointer(void** location, void* replacement, PyObject* keep) {
  const Guard guard(mutex);
  if (!CanHoldPatch(location)) return Refuse();
  void* original = Load(location);
  if (original == replacement) return Patched::kAlready;
  if (!Install(location, original, replacement, keep, AccessOf(location))) return Refuse();
  NoteReplaced(replacement, original);
  return Patched::kYes;
}

bool UnpatchPointer(void** location) {
  PyObject* released = nullptr;
  bool restored = false;
  {
    const Guard guard(mutex);
    void* stub = Load(location);
    if (!IsStub(stub)) return false;
    restored = StorePointer(location, stub, OriginalOf(IndexOf(stub)), AccessOf(location));
    if (restored) released = sites.Forget(location);
  }
  Py_XDECREF(released);
  return restored;
}

size_t UnpatchAll() {
  std::vector<PyObject*> released;
  size_t restored = 0;
  {
    const Guard guard(mutex);
    restored = sites.RestoreAll(&released);
    stubs.RetireAll();
  }
  for (PyObject* reference : released) Py_DECREF(reference);  // may run Python code
  return restored;
}

void SwitchStubs(bool in_force) {
  const Guard guard(mutex);
  sites.Switch(in_force);
}

void SetResultHook(void (*hook)(PyObject* result)) {
  call_hooks.result = reinterpret_cast<void (*)(void*)>(hook);
}

PatchCounts Counts() {
  const Guard guard(mutex);
  PatchCounts counts;
  counts.pointers = sites.stubs_in_force();
  counts.replaced = sites.replacements_in_force();
  counts.dispatchers = dispatchers;
  counts.stubs = stubs.count();
  counts.hot = stubs.hot_count();
  counts.shared = shared;
  counts.refused = refused;
  counts.passed_through = PassedThrough();
  return counts;
}

}  // namespace rlscope::native_calls
