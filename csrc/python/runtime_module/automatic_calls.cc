#include "python/runtime_module/automatic_calls.h"

#include <pthread.h>
#include <string.h>

#include "native_calls/call.h"
#include "native_calls/owned.h"
#include "python/runtime_module/automatic_track.h"
#include "python/runtime_module/call_sites.h"
#include "python/runtime_module/compiled.h"
#include "python/runtime_module/compiled_table.h"
#include "python/runtime_module/conversions.h"
#include "python/runtime_module/exchange.h"
#include "python/runtime_module/import_times.h"
#include "python/runtime_module/iterations.h"
#include "python/runtime_module/own_environments.h"
#include "python/runtime_module/rewards.h"
#include "python/runtime_module/stand_in.h"
#include "python/runtime_module/token_count.h"
#include "python/runtime_module/vectorcall.h"

namespace rlscope::python {

PyObject* import_handlers = nullptr;

namespace {

using native_calls::Owned;

// The handler that waits for the module; null: none does. It is None for a package that only has
// modules with handlers, and in a tuple where imports do not count from this module on. May set a
// Python error.
Owned HandlerOf(PyObject* module) {
  const Owned name(PyModule_Check(module) ? PyModule_GetNameObject(module) : nullptr);
  if (!name) return Owned();
  return Owned(Py_XNewRef(PyDict_GetItemWithError(import_handlers, name.get())));
}

bool IsInTuple(PyObject* handler) {
  return handler != nullptr && PyTuple_Check(handler) && PyTuple_GET_SIZE(handler) == 1;
}

// A module was imported: calls the handler that waits for it. The program does not see a failure.
void TellImport(PyObject* module) {
  {
    const Owned found = HandlerOf(module);
    const bool is_in_tuple = IsInTuple(found.get());
    PyObject* handler = is_in_tuple ? PyTuple_GET_ITEM(found.get(), 0) : found.get();
    const bool waits = handler != nullptr && handler != Py_None;
    const Owned done(waits ? PyObject_CallOneArg(handler, module) : nullptr);
  }
  native_calls::DropError();
}

// Whether imports count: from the first one on of a package with a handler. So a process that has
// nothing to do with learning has no record of its imports, and no ring.
bool imports_count = false;

bool CountsImport(PyObject* const* arguments, size_t flagged_count) {
  if (__atomic_load_n(&imports_count, __ATOMIC_RELAXED)) return true;
  if (PyVectorcall_NARGS(flagged_count) != 2) return false;
  const native_calls::ErrorAside aside;
  const Owned handler = HandlerOf(arguments[1]);
  if (!handler || IsInTuple(handler.get())) return false;
  __atomic_store_n(&imports_count, true, __ATOMIC_RELAXED);
  // A fork of this process unpickles no program, unless it is a server of multiprocessing's: what
  // it pickles is its work.
  pthread_atfork(nullptr, nullptr, native_calls::RecordSerialization);
  return true;
}

// Roots of environments, strong references for ever; a reader needs no lock.
constexpr int kMostRoots = 32;  // libraries have seven
PyTypeObject* roots[kMostRoots];
int root_count = 0;

// The object that a method is called on; a call without one is an error anyway.
PyObject* SelfOf(PyObject* const* arguments, size_t flagged_count) {
  return PyVectorcall_NARGS(flagged_count) > 0 ? arguments[0] : nullptr;
}

// Whether Keras calls a layer to build a model of it: __call__(layer, KerasTensor).
bool IsSymbolic(PyObject* const* arguments, size_t flagged_count) {
  if (PyVectorcall_NARGS(flagged_count) < 2) return false;
  return strcmp(Py_TYPE(arguments[1])->tp_name, "KerasTensor") == 0;
}

// Whether a call writes to memory, or reads from it, as pickling does with each tensor.
bool IsInMemory(PyObject* const* arguments, size_t flagged_count, PyObject* keywords) {
  const Py_ssize_t named = keywords == nullptr ? 0 : PyTuple_GET_SIZE(keywords);
  const Py_ssize_t count = PyVectorcall_NARGS(flagged_count) + named;
  for (Py_ssize_t i = 0; i < count; i++) {
    if (strcmp(Py_TYPE(arguments[i])->tp_name, "_io.BytesIO") == 0) return true;
  }
  return false;
}

template <Event event>
constexpr bool is_forward = event == Event::kForward || event == Event::kTapedForward;

// Whether the call is the event at all.
template <Event event>
inline bool Counts(PyObject* const* arguments, size_t flagged_count, PyObject* keywords) {
  if constexpr (event == Event::kMixin) return IsEnvironment(SelfOf(arguments, flagged_count));
  if constexpr (is_forward<event>) return !IsSymbolic(arguments, flagged_count);
  if constexpr (event == Event::kSaving || event == Event::kLoading) {
    return !IsInMemory(arguments, flagged_count, keywords);
  }
  return true;
}

template <Event event>
constexpr bool is_simulation = event == Event::kSimulation || event == Event::kMixin;

template <Event event>
constexpr bool is_apart =
    event == Event::kEvaluation || event == Event::kUpdate || event == Event::kReplay ||
    event == Event::kRendering || event == Event::kSaving || event == Event::kLoading ||
    event == Event::kClosing;

// False: the program ends here, with an exception set.
template <Event event>
inline bool Before(Track* track, PyObject* const* arguments, size_t flagged_count,
                   PyObject* keywords) {
  if constexpr (is_simulation<event>) {
    const bool given = PyVectorcall_NARGS(flagged_count) > 1;
    const bool ends = track->EnterSimulation(SelfOf(arguments, flagged_count), given);
    if (__builtin_expect(ends, 0)) return EndProgram(), false;
  }
  if constexpr (event == Event::kForward) {
    track->EnterForward({arguments, flagged_count, keywords});
  }
  if constexpr (event == Event::kTapedForward) {
    track->EnterTapedForward({arguments, flagged_count, keywords});
  }
  if constexpr (event == Event::kTapeEnter) track->EnterTape();
  if constexpr (event == Event::kTapeExit) track->LeaveTape();
  if constexpr (event == Event::kBackward) {
    track->EnterBackward(SelfOf(arguments, flagged_count));
    LendCallSite();
  }
  if constexpr (event == Event::kStep) {
    const bool ends = track->EnterStep(SelfOf(arguments, flagged_count));
    if (__builtin_expect(ends, 0)) return EndProgram(), false;
  }
  if constexpr (event == Event::kBlockEnter) {
    track->EnterBlock(SelfOf(arguments, flagged_count));
  }
  // The mode was set when the object was made.
  if constexpr (event == Event::kModeEnter) {
    if (!HasGradients(/*if_unknown=*/true)) track->EnterBlock(SelfOf(arguments, flagged_count));
  }
  if constexpr (event == Event::kBlockExit) track->LeaveBlock(SelfOf(arguments, flagged_count));
  if constexpr (event == Event::kTracesModule) NoteTracedModule();
  if constexpr (event == Event::kCompiled) {
    PyObject* function = SelfOf(arguments, flagged_count);
    const bool ends = track->EndsWithCompiled(function);
    track->EnterCompiled(function, {arguments, flagged_count, keywords});
    if (__builtin_expect(ends, 0)) return EndProgram(), false;
  }
  if constexpr (event == Event::kMessagesEnd) track->EndExchange();
  if constexpr (event == Event::kGradients) track->NoteGradients();
  if constexpr (event == Event::kCompilation || event == Event::kCompilationEnter) {
    track->EnterCompilation();
  }
  if constexpr (event == Event::kCompilationExit) track->LeaveCompilation(/*is_last=*/true);
  if constexpr (event == Event::kCompilationPause) track->LeaveCompilation(/*is_last=*/false);
  if constexpr (event == Event::kConnector) {
    track->EnterConversion(SelfOf(arguments, flagged_count));
  }
  if constexpr (event == Event::kRandomKey) track->EnterRandomKey();
  if constexpr (event == Event::kOutput) track->EnterOutput();
  if constexpr (event == Event::kValue) track->EnterValue();
  if constexpr (event == Event::kChoice) track->EnterChoice();
  if constexpr (event == Event::kDraw) track->EnterDraw();
  if constexpr (event == Event::kImport) {
    track->EnterImport(CountsImport(arguments, flagged_count));
    BeginModule(PyVectorcall_NARGS(flagged_count) == 2 ? arguments[1] : nullptr, IsAnnotated());
  }
  if constexpr (event == Event::kTraining) track->EnterTraining();
  if constexpr (event == Event::kPrediction) track->EnterPrediction();
  if constexpr (event == Event::kEvaluation) track->EnterApart("evaluation");
  if constexpr (event == Event::kUpdate) track->EnterApart("update");
  if constexpr (event == Event::kGeneration) track->EnterGeneration();
  if constexpr (event == Event::kReplay) track->EnterApart("replay");
  if constexpr (event == Event::kSampling) track->EnterSampling();
  if constexpr (event == Event::kRendering) track->EnterApart("rendering");
  if constexpr (event == Event::kSaving) track->EnterApart("saving");
  if constexpr (event == Event::kLoading) track->EnterApart("loading");
  if constexpr (event == Event::kClosing) track->EnterApart("closing");
  return true;
}

template <Event event>
inline void After(Track* track, PyObject* const* arguments, size_t flagged_count,
                  PyObject* keywords, PyObject* result) {
  if constexpr (is_simulation<event>) {
    if (track->LeaveSimulation(result)) NoteReward(SelfOf(arguments, flagged_count), result);
  }
  if constexpr (is_forward<event>) track->LeaveForward(result);
  if constexpr (event == Event::kBackward) {
    EndLending();
    track->LeaveBackward();
  }
  if constexpr (event == Event::kStep) track->LeaveStep();
  if constexpr (event == Event::kChange) NoteChange(track, arguments, flagged_count);
  if constexpr (event == Event::kCompiled) {
    track->LeaveCompiled();
    NoteReturned(SelfOf(arguments, flagged_count), result);
  }
  if constexpr (event == Event::kConnector) track->LeaveConversion(result);
  if constexpr (event == Event::kRandomKey) track->LeaveRandomKey();
  if constexpr (event == Event::kOutput) track->LeaveOutput();
  if constexpr (event == Event::kValue) track->LeaveValue();
  if constexpr (event == Event::kChoice) track->LeaveChoice();
  if constexpr (event == Event::kDraw) track->LeaveDraw(result);
  if constexpr (event == Event::kCompile) WatchTorchFunction(result);
  if constexpr (event == Event::kImport) {
    if (result != nullptr && PyVectorcall_NARGS(flagged_count) == 2) TellImport(arguments[1]);
    EndModule(track->IsImport(), IsAnnotated(), __atomic_load_n(&imports_count, __ATOMIC_RELAXED));
    track->LeaveImport();
  }
  if constexpr (event == Event::kCompilation) track->LeaveCompilation(/*is_last=*/true);
  if constexpr (event == Event::kTraining) track->LeaveTraining();
  if constexpr (event == Event::kPrediction) track->LeavePrediction();
  if constexpr (event == Event::kGeneration) {
    if (track->LeaveGeneration()) AddTokensOf(result, {arguments, flagged_count, keywords});
  }
  if constexpr (event == Event::kSampling) track->LeaveSampling();
  if constexpr (is_apart<event>) track->LeaveApart();
}

template <Event event>
constexpr bool is_own = event == Event::kOwnStep || event == Event::kOwnReset;

// A method of a class that may be an environment.
template <Event event, class Call>
PyObject* CallOwn(PyObject* const* arguments, size_t flagged_count, PyObject* keywords, Call call) {
  PyObject* self = SelfOf(arguments, flagged_count);
  OwnClass* own = self == nullptr ? nullptr : FindOwnClass(Py_TYPE(self));
  Track* track = &own_track;
  // The user may name a class that is watched already.
  const bool simulates = (own != nullptr && own->is_environment()) || IsEnvironment(self);
  if (!simulates && (own == nullptr || !own->is_open())) return call();
  if (!simulates) {
    const PolicyCalls before = track->policy_calls();
    PyObject* result = call();
    const bool given = PyVectorcall_NARGS(flagged_count) > 1 || keywords != nullptr;
    if (event == Event::kOwnStep) {
      own->Judge(before, track->policy_calls(), given, !has_own_environment, result);
    }
    return result;
  }
  PyObject* result = nullptr;
  if (Before<Event::kSimulation>(track, arguments, flagged_count, keywords)) result = call();
  After<Event::kSimulation>(track, arguments, flagged_count, keywords, result);
  return result;
}

template <Event event>
constexpr bool sends = event == Event::kMessageOut || event == Event::kTaskOut ||
                       event == Event::kThreadTaskOut || event == Event::kTasks;
template <Event event>
constexpr bool takes =
    event == Event::kMessageIn || event == Event::kTaskIn || event == Event::kTasks;
template <Event event>
constexpr bool is_message = sends<event> || takes<event>;

// A call that sends a message to another process, or a task to a thread, or takes one from it.
template <Event event, class Call>
PyObject* CallMessage(Call call) {
  constexpr bool is_task = event != Event::kMessageOut && event != Event::kMessageIn;
  const bool counts = BeginMessage();
  PyObject* result = nullptr;
  Exchange* exchange = is_task ? &own_tasks : &own_messages;
  constexpr bool is_of_threads = event == Event::kThreadTaskOut;
  const bool goes_on = !counts || !sends<event> || exchange->Send(&own_track, is_of_threads);
  if (goes_on) result = call();
  EndMessage();
  if (counts && takes<event>) exchange->Take(&own_track, result);
  return result;
}

template <Event event>
PyObject* InPlace(PyObject* function, PyObject* const* arguments, size_t flagged_count,
                  PyObject* keywords) {
  const auto call = [&] { return plain_vectorcall(function, arguments, flagged_count, keywords); };
  if constexpr (is_own<event>) {
    return CallOwn<event>(arguments, flagged_count, keywords, call);
  }
  if constexpr (is_message<event>) return CallMessage<event>(call);
  if constexpr (event == Event::kMaking) {
    return CallMaking(&own_track, SelfOf(arguments, flagged_count), call);
  }
  if constexpr (event == Event::kConversion) {
    return CallConversion(&own_track, SelfOf(arguments, flagged_count), call);
  }
  if (!Counts<event>(arguments, flagged_count, keywords)) {
    return call();
  }
  Track* track = &own_track;
  PyObject* result = nullptr;
  if (__builtin_expect(Before<event>(track, arguments, flagged_count, keywords), 1)) {
    result = call();
  }
  After<event>(track, arguments, flagged_count, keywords, result);
  return result;
}

// The caller holds the stand-in, which holds the function.
template <Event event>
PyObject* ThroughObject(PyObject* self, PyObject* const* arguments, size_t flagged_count,
                        PyObject* keywords) {
  const auto* stand_in = reinterpret_cast<StandInObject*>(self);
  const auto call = [&] {
    return stand_in->call(stand_in->function, arguments, flagged_count, keywords);
  };
  if constexpr (is_own<event>) {
    return CallOwn<event>(arguments, flagged_count, keywords, call);
  }
  if constexpr (is_message<event>) return CallMessage<event>(call);
  if constexpr (event == Event::kMaking) {
    return CallMaking(&own_track, SelfOf(arguments, flagged_count), call);
  }
  if constexpr (event == Event::kConversion) {
    return CallConversion(&own_track, SelfOf(arguments, flagged_count), call);
  }
  if (!Counts<event>(arguments, flagged_count, keywords)) {
    return call();
  }
  Track* track = &own_track;
  PyObject* result = nullptr;
  if (__builtin_expect(Before<event>(track, arguments, flagged_count, keywords), 1)) {
    result = call();
  }
  After<event>(track, arguments, flagged_count, keywords, result);
  return result;
}

#define RLSCOPE_AUTOMATIC_EVENT(event, name) InPlace<Event::event>,
constexpr vectorcallfunc in_place[] = {RLSCOPE_AUTOMATIC_EVENTS(RLSCOPE_AUTOMATIC_EVENT)};
#undef RLSCOPE_AUTOMATIC_EVENT
#define RLSCOPE_AUTOMATIC_EVENT(event, name) ThroughObject<Event::event>,
constexpr vectorcallfunc through_object[] = {RLSCOPE_AUTOMATIC_EVENTS(RLSCOPE_AUTOMATIC_EVENT)};
#undef RLSCOPE_AUTOMATIC_EVENT

}  // namespace

bool AddEnvironments(PyTypeObject* root) {
  if (root_count == kMostRoots) return false;  // the GIL, or the import lock, keeps others out
  Py_INCREF(root);
  roots[root_count] = root;
  __atomic_store_n(&root_count, root_count + 1, __ATOMIC_RELEASE);
  return true;
}

bool IsEnvironment(PyObject* object) {
  if (object == nullptr) return false;
  const int count = __atomic_load_n(&root_count, __ATOMIC_ACQUIRE);
  for (int number = 0; number < count; number++) {
    if (PyObject_TypeCheck(object, roots[number])) return true;
  }
  return false;
}

vectorcallfunc CallInPlace(Event event) { return in_place[static_cast<int>(event)]; }
vectorcallfunc CallThroughObject(Event event) { return through_object[static_cast<int>(event)]; }

}  // namespace rlscope::python
