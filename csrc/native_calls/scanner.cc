#include "native_calls/scanner.h"

#include <mutex>
#include <string>
#include <unordered_set>

#include "base/clock.h"
#include "native_calls/object_walk.h"
#include "native_calls/patch.h"
#include "native_calls/pointers.h"
#include "native_calls/stub_pool.h"
#include "native_calls/watched_code.h"

namespace rlscope::native_calls {
namespace {

ScanCounts counts;

// The objects of a walk are borrowed: nothing may be collected meanwhile.
class CollectorOff {
 public:
  CollectorOff() : was_on_(PyGC_Disable() != 0) {}
  ~CollectorOff() {
    if (was_on_) PyGC_Enable();
  }
  CollectorOff(const CollectorOff&) = delete;
  CollectorOff& operator=(const CollectorOff&) = delete;

 private:
  bool was_on_;
};

// The library that *location leads into; null if there is nothing to patch.
WatchedRange* LibraryBehind(void** location) {
  if (location == nullptr) return nullptr;
  void* code = __atomic_load_n(location, __ATOMIC_RELAXED);
  return code == nullptr || IsStub(code) ? nullptr : FindWatched(code);
}

Callee MakeCallee(const std::string& name, const WatchedRange& library) {
  return {name.data(), name.size(), library.layer};
}

// How long a location lives decides its keeper.
enum class Keeper {
  kStatic,  // the library itself, for good
  kHolder,  // an object that the program will keep as well, or that is small
  kNobody,  // it may die: it is patched and forgotten
};

void Count(Patched patched) {
  if (patched == Patched::kYes || patched == Patched::kShared) ++counts.patched;
}

void Patch(void** location, const std::string& name, const WatchedRange& library, uint32_t flags,
           Keeper keeper, PyObject* holder) {
  const Callee callee = MakeCallee(name, library);
  if (keeper == Keeper::kNobody) {
    Count(PatchDispatcher(location, callee, flags));
  } else {
    Count(PatchPointer(location, callee, flags, keeper == Keeper::kHolder ? holder : nullptr));
  }
}

bool IsBoundToRecord(PyObject* function) {
  PyObject* self = PyCFunction_GET_SELF(function);
  return self != nullptr && IsFunctionRecord(self);
}

// Whether a pointer outside of its library may be remembered, at the price of a reference to the
// object that holds it.
bool LivesOn(PyObject* object, Holder holder, const Place& place) {
  const bool is_named = place.module != nullptr || place.type != nullptr;
  switch (holder) {
    case Holder::kFunction:
      return is_named || IsBoundToRecord(object);
    case Holder::kVectorcall:
      return is_named;
    // What a descriptor leads to must live as long as it does, and those of a static type live for
    // good. torch keeps the 700 methods of its tensors on the heap.
    case Holder::kMethod:
    case Holder::kGetSet:
    case Holder::kWrapper:
      return !IsHeapType(reinterpret_cast<PyDescrObject*>(object)->d_type);
    case Holder::kNothing:
      break;
  }
  return false;
}

uint32_t FlagsOf(Holder holder, const WatchedRange& library) {
  if (holder == Holder::kWrapper) return kShareStub;
  const bool returns_object = holder != Holder::kGetSet;
  return returns_object && library.makes_callables ? kWatchResult : kPlain;
}

// Stubs that functions and callables made at run time share. A scan that finds one of those alive
// gives it a stub and a name of its own.
class StubsOfTheNew {
 public:
  void Add(void* stub) {
    const std::lock_guard<std::mutex> guard(mutex_);
    stubs_.insert(stub);
  }
  bool Has(void* pointer) {
    if (!IsStub(pointer)) return false;
    const std::lock_guard<std::mutex> guard(mutex_);
    return stubs_.count(pointer) != 0;
  }

 private:
  std::mutex mutex_;
  std::unordered_set<void*> stubs_;
};

StubsOfTheNew& StubsOfNew() {
  static auto* const stubs = new StubsOfTheNew();
  return *stubs;
}

class Patcher : public Visitor {
 public:
  // `fresh`: what it visits was just made, and may die as soon.
  explicit Patcher(bool fresh = false) : fresh_(fresh) {}

  void VisitType(PyTypeObject* type) override {
    for (size_t i = 0; i < kSlotCount; i++) VisitSlot(type, kSlots[i]);
  }

  void VisitObject(PyObject* object, const Place& place) override {
    const Holder holder = HolderOf(object);
    for (void** location : PointersOf(object, holder).location) {
      if (location != nullptr) VisitPointer(location, object, holder, place);
    }
  }

 private:
  void VisitPointer(void** location, PyObject* object, Holder holder, const Place& place) {
    const Keeper keeper = KeeperOf(location, object, holder, place);
    if (keeper == Keeper::kHolder && StubsOfNew().Has(*location)) UnpatchPointer(location);
    const WatchedRange* library = LibraryBehind(location);
    if (library == nullptr) return;
    if (holder == Holder::kWrapper && IsComparedWrapper(object, *library)) return;
    // Asking a callable for its name makes objects, which a walk over the collector's must not.
    const std::string name = keeper == Keeper::kNobody && holder == Holder::kVectorcall
                                 ? NameOfCallables(Py_TYPE(object), *library)
                                 : NameOfCallable(object, holder, place, *library);
    Patch(location, name, *library, FlagsOf(holder, *library), keeper, object);
    const bool is_shared = holder == Holder::kFunction || holder == Holder::kVectorcall;
    if (keeper == Keeper::kNobody && is_shared) StubsOfNew().Add(*location);
  }

  Keeper KeeperOf(void** location, PyObject* object, Holder holder, const Place& place) const {
    if (FindWatched(location) != nullptr) return Keeper::kStatic;
    return !fresh_ && LivesOn(object, holder, place) ? Keeper::kHolder : Keeper::kNobody;
  }

  void VisitSlot(PyTypeObject* type, const Slot& slot) {
    void** location = SlotOf(type, slot);
    const WatchedRange* library = LibraryBehind(location);
    if (library == nullptr) return;
    if (slot.suite == Suite::kNumber && library->compares_number_slots) return;
    const uint32_t flags =
        slot.makes_object && library->makes_callables ? kShareStub | kWatchResult : kShareStub;
    const Keeper keeper = IsHeapType(type) ? Keeper::kNobody : Keeper::kStatic;
    Patch(location, NameOfSlot(type, slot, *library), *library, flags, keeper, nullptr);
  }

  // Under its Python name a number slot is the same pointer, which numpy's types inherit from here.
  // CPython compares that of __setattr__ and __delattr__ with the slot, and raises TypeError.
  static bool IsComparedWrapper(PyObject* wrapper, const WatchedRange& library) {
    const auto offset = reinterpret_cast<PyWrapperDescrObject*>(wrapper)->d_base->offset;
    if (offset == static_cast<int>(offsetof(PyTypeObject, tp_setattro))) return true;
    const auto number = static_cast<int>(offsetof(PyHeapTypeObject, as_number));
    const bool is_number =
        offset >= number && offset < number + static_cast<int>(sizeof(PyNumberMethods));
    return is_number && library.compares_number_slots;
  }

  const bool fresh_;
};

// A library with a type that carries a vectorcall pointer per object will make more of them.
void NoteMaker(PyTypeObject* type) {
  const bool own = PyType_HasFeature(type, Py_TPFLAGS_HAVE_VECTORCALL) &&
                   type->tp_vectorcall_offset > 0 && !PyType_IsSubtype(type, &PyType_Type);
  const WatchedRange* maker =
      own ? FindWatched(reinterpret_cast<void*>(type->tp_dealloc)) : nullptr;
  if (maker == nullptr) return;
  for (WatchedRange* library : WatchedLibraries()) {
    if (library->package == maker->package) library->makes_callables = true;
  }
}

class Restorer : public Visitor {
 public:
  void VisitType(PyTypeObject* type) override {
    for (size_t i = 0; i < kSlotCount; i++) Restore(SlotOf(type, kSlots[i]));
  }

  void VisitObject(PyObject* object, const Place&) override {
    for (void** location : PointersOf(object, HolderOf(object)).location) Restore(location);
  }

  uint64_t restored() const { return restored_; }

 private:
  void Restore(void** location) {
    if (location != nullptr && IsStub(*location) && UnpatchPointer(location)) ++restored_;
  }

  uint64_t restored_ = 0;
};

// Remembers the stubs in types and their namespaces, which stay alive for it.
class Rememberer : public Visitor {
 public:
  void VisitType(PyTypeObject* type) override {
    auto* object = reinterpret_cast<PyObject*>(type);
    for (size_t i = 0; i < kSlotCount; i++) Remember(SlotOf(type, kSlots[i]), object);
  }

  void VisitObject(PyObject* object, const Place&) override {
    for (void** location : PointersOf(object, HolderOf(object)).location) {
      Remember(location, object);
    }
  }

 private:
  static void Remember(void** location, PyObject* holder) {
    if (location == nullptr || !IsStub(*location)) return;
    PatchPointer(location, {"", 0, 0}, kPlain, FindWatched(location) != nullptr ? nullptr : holder);
  }
};

void WalkTypes(const AllTypes& types, Visitor* visitor) {
  for (PyTypeObject* type : types.list()) WalkType(type, visitor);
}

}  // namespace

void Scan() {
  if (WatchedLibraries().empty()) return;
  const int64_t start_ns = base::ReadMonotonicNs();
  const ErrorAside aside;
  const CollectorOff off;
  const AllTypes types;
  for (PyTypeObject* type : types.list()) NoteMaker(type);
  Patcher patcher;
  WalkModules(&patcher);
  WalkTypes(types, &patcher);
  WalkCollected(&patcher);
  ++counts.scans;
  counts.types = types.list().size();
  counts.last_ns = static_cast<uint64_t>(base::ReadMonotonicNs() - start_ns);
  counts.all_ns += counts.last_ns;
}

bool IsWatchedModule(PyObject* module) {
  return PyModule_Check(module) && FindWatched(PyModule_GetDef(module)) != nullptr;
}

void ScanModule(PyObject* module) {
  const ErrorAside aside;
  const CollectorOff off;
  Patcher patcher;
  PyObject *name, *value;
  Py_ssize_t position = 0;
  while (PyDict_Next(PyModule_GetDict(module), &position, &name, &value)) {
    if (!PyType_Check(value)) continue;
    NoteMaker(reinterpret_cast<PyTypeObject*>(value));
    WalkType(reinterpret_cast<PyTypeObject*>(value), &patcher);
  }
  WalkModule(module, &patcher);
}

void ScanObject(PyObject* object) {
  if (PyInterpreterState_Get() != PyInterpreterState_Main()) return;
  const ErrorAside aside;
  Patcher patcher(true);
  if (PyType_Check(object)) {
    NoteMaker(reinterpret_cast<PyTypeObject*>(object));
    WalkType(reinterpret_cast<PyTypeObject*>(object), &patcher);
  } else if (PyModule_Check(object)) {
    WalkModule(object, &patcher);
  } else {
    patcher.VisitObject(object, Place());
  }
}

void ScanMember(PyObject* scope, PyObject* name, PyObject* value) {
  if (PyInterpreterState_Get() != PyInterpreterState_Main()) return;
  const ErrorAside aside;
  Place place;
  place.attribute = name;
  if (PyType_Check(scope)) {
    place.type = reinterpret_cast<PyTypeObject*>(scope);
  } else {
    place.module = scope;
  }
  Patcher patcher;
  WalkValue(value, place, &patcher);
}

// Another stub, and not another name of the stub: many share that one.
bool NameMade(PyObject* object, const std::string& name) {
  if (PyInterpreterState_Get() != PyInterpreterState_Main()) return false;
  const Holder holder = HolderOf(object);
  if (holder != Holder::kFunction && holder != Holder::kVectorcall) return false;
  bool is_named = false;
  for (void** location : PointersOf(object, holder).location) {
    if (location == nullptr || FindWatched(location) != nullptr) continue;
    if (!UnpatchPointer(location)) continue;  // by no engine, or by one that replaces no pointers
    const WatchedRange* library = LibraryBehind(location);
    if (library == nullptr) continue;
    Patch(location, name, *library, FlagsOf(holder, *library), Keeper::kNobody, object);
    is_named = true;
  }
  return is_named;
}

void RememberTypes() {
  const ErrorAside aside;
  const CollectorOff off;
  const AllTypes types;
  Rememberer rememberer;
  WalkTypes(types, &rememberer);
}

uint64_t RestoreReached() {
  const ErrorAside aside;
  const CollectorOff off;
  const AllTypes types;
  Restorer restorer;
  WalkModules(&restorer);
  WalkTypes(types, &restorer);
  WalkCollected(&restorer);
  return restorer.restored();
}

ScanCounts CountScans() { return counts; }

}  // namespace rlscope::native_calls
