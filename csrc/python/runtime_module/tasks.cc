#include "python/runtime_module/tasks.h"

#include <string.h>

#include <atomic>
#include <new>
#include <unordered_map>

#include "native_calls/greenlet_switch.h"
#include "runtime/hot.h"

#if PY_VERSION_HEX < 0x030C0000
extern "C" const PyThreadState* const volatile* rlscope_current_thread_word(void);
#endif

namespace rlscope::python {

bool tasks_enabled = false;

namespace {

#if PY_VERSION_HEX < 0x030C0000
// Its count of switches is one that no thread reaches.
PyThreadState unseen_thread;
const PyThreadState* const volatile unseen_thread_word = &unseen_thread;
#endif

const PyThreadState* ThreadState() {
#if PY_VERSION_HEX >= 0x030D0000
  return PyThreadState_GetUnchecked();
#else
  return _PyThreadState_UncheckedGet();
#endif
}

// Head of CPython's PyContext (Include/internal/pycore_context.h, the same from 3.10 to 3.14).
struct ContextHead {
  PyObject ob_base;
  PyObject* previous;
  PyObject* variables;
  PyObject* weak_references;
  int entered;
};

// The last entries in the thread's records. Slow path only, so it need not be static TLS.
struct Written {
  uint32_t task;
  uint32_t generation;   // of rlscope_self: after a fork the stream begins anew, in task 0
  const char* reported;  // how tasks are distinguished, for the trace
};
thread_local Written written = {0, 0, nullptr};

// The trace's note on its tasks; coverage.sql reads it.
constexpr char kAtAnnotations[] = "\"rlscope tells tasks apart at annotations\"";
constexpr char kAtSwitches[] = "\"rlscope tells tasks apart at every Context.run\"";
constexpr char kAtGreenlets[] = "\"rlscope tells greenlets apart at every switch\"";
constexpr char kMixed[] =
    "\"greenlets called environments or modules inside each other's operations\"";
std::atomic<bool> follows_context_run{false};
std::atomic<bool> follows_greenlets{false};

// Ids are of the process: interpreters share them. Past 2^26 - 1 they begin anew; by then the
// first tasks are long gone.
std::atomic<uint32_t> tasks_made{0};

uint32_t NewTaskId() {
  return tasks_made.fetch_add(1, std::memory_order_relaxed) % trace::kMaxId + 1;
}

// The table is reached under the GIL; without one, under this.
#ifdef Py_GIL_DISABLED
class Guard {
 public:
  explicit Guard(PyMutex* mutex) : mutex_(mutex) { PyMutex_Lock(mutex_); }
  ~Guard() { PyMutex_Unlock(mutex_); }

 private:
  PyMutex* mutex_;
};
#endif

// Whether it refers to the object; to any that is alive, if null.
bool RefersTo(PyObject* weak_reference, PyObject* object) {
#if PY_VERSION_HEX >= 0x030D0000
  PyObject* referent = nullptr;
  const bool alive = PyWeakref_GetRef(weak_reference, &referent) == 1;
  Py_XDECREF(referent);
#else
  PyObject* referent = PyWeakref_GetObject(weak_reference);
  const bool alive = referent != Py_None;
#endif
  return alive && (object == nullptr || referent == object);
}

void Report(const char* json) {
  const bool is_of_greenlets = json == kAtGreenlets || json == kMixed;
  const char* key = is_of_greenlets ? "greenlets" : "asyncio";
  rlscope_add_metadata(key, strlen(key), json, strlen(json));
}

bool IsEntered(const PyObject* context) {
  return context != nullptr && reinterpret_cast<const ContextHead*>(context)->entered != 0;
}

// What the thread runs: a greenlet, else a Context that it entered; null: neither, task 0.
PyObject* CurrentTask() {
  if (PyObject* greenlet = native_calls::CurrentGreenlet()) return greenlet;
  PyObject* context = ThreadState()->context;
  return IsEntered(context) ? context : nullptr;
}

}  // namespace

#if PY_VERSION_HEX < 0x030C0000
const PyThreadState* const volatile* current_thread_word = &unseen_thread_word;
#endif

// Contexts and greenlets by address, each with a weak reference: it distinguishes an object from a
// later one at the same address, and keeps neither alive.
class TaskTable {
 public:
  ~TaskTable() {
    for (auto& [context, task] : tasks_) Py_DECREF(task.weak_reference);
  }

  // Id of an entered Context or a greenlet, made if it has none; 0 when memory is short.
  uint32_t IdOf(PyObject* context);
  // Id of one that may have none: 0 then.
  uint32_t KnownIdOf(PyObject* context);

 private:
  struct Task {
    PyObject* weak_reference;  // owned, without a callback: dropping it runs no Python code
    uint32_t id;
  };

  void ForgetTheDead();

  std::unordered_map<PyObject*, Task> tasks_;
  size_t next_clearing_ = 64;
#ifdef Py_GIL_DISABLED
  PyMutex mutex_ = {0};
#endif
};

uint32_t TaskTable::IdOf(PyObject* context) {
  // Made before the table is touched: the allocation may run the collector, whose finalisers may
  // be annotated and come here.
  PyObject* weak_reference = PyWeakref_NewRef(context, nullptr);
  if (weak_reference == nullptr) {
    PyErr_Clear();
    return 0;
  }
#ifdef Py_GIL_DISABLED
  Guard guard(&mutex_);
#endif
  const auto found = tasks_.find(context);
  // CPython keeps one plain weak reference per object: another one means another Context.
  if (found != tasks_.end() && found->second.weak_reference == weak_reference) {
    Py_DECREF(weak_reference);
    return found->second.id;
  }
  const Task task = {weak_reference, NewTaskId()};
  if (found != tasks_.end()) {
    Py_DECREF(found->second.weak_reference);
    found->second = task;
    return task.id;
  }
  if (tasks_.size() >= next_clearing_) ForgetTheDead();
  tasks_.emplace(context, task);
  return task.id;
}

uint32_t TaskTable::KnownIdOf(PyObject* context) {
#ifdef Py_GIL_DISABLED
  Guard guard(&mutex_);
#endif
  const auto found = tasks_.find(context);
  const bool known = found != tasks_.end() && RefersTo(found->second.weak_reference, context);
  return known ? found->second.id : 0;
}

// Runs when the table has doubled, so that a task costs a constant in the long run.
void TaskTable::ForgetTheDead() {
  for (auto task = tasks_.begin(); task != tasks_.end();) {
    if (RefersTo(task->second.weak_reference, nullptr)) {
      ++task;
      continue;
    }
    Py_DECREF(task->second.weak_reference);
    task = tasks_.erase(task);
  }
  next_clearing_ = 2 * tasks_.size() + 64;
}

TaskTable* NewTaskTable() { return new (std::nothrow) TaskTable(); }
void DeleteTaskTable(TaskTable* table) { delete table; }

namespace {

// Whether the records of this thread say what `written` does. Until then it is in task 0.
bool IsInStream() { return rlscope_self.generation == written.generation; }

void ReportOnce(const char* how) {
  if (written.reported == how || written.reported == kAtAnnotations) return;
  Report(how);
  written.reported = how;
}

// After HasRoom(): the stream of records is that of the generation then.
void WriteTask(uint32_t task, const char* how) {
  if (!IsInStream()) written = {0, rlscope_self.generation, nullptr};
  if (task != 0) ReportOnce(how);
  if (task == written.task || !runtime::HasRoom()) return;
  runtime::Publish(trace::kTask, task, runtime::ReadTicks(), 0);
  written.task = task;
}

const char* HowFollowed() {
  if (native_calls::CurrentGreenlet() != nullptr) {
    return follows_greenlets ? kAtGreenlets : kAtAnnotations;
  }
  return follows_context_run ? kAtSwitches : kAtAnnotations;
}

void SwitchTo(TaskTable* table, PyObject* current) {
  const uint32_t task = current == nullptr ? 0 : table->KnownIdOf(current);
  if (task == (IsInStream() ? written.task : 0)) return;
  if (runtime::HasRoom()) WriteTask(task, HowFollowed());
}

}  // namespace

void FollowTask(TaskTable* table) {
  struct rlscope_thread* self = &rlscope_self;
  const PyThreadState* thread = ThreadState();
  PyObject* context = thread->context;
  const uint64_t version = thread->context_ver;
  PyObject* current = tasks_enabled ? CurrentTask() : nullptr;
  const bool is_known = current != nullptr && table->KnownIdOf(current) != 0;
  const uint32_t task = current != nullptr ? table->IdOf(current) : 0;
  // A task that enters a Context without Context.run is noticed at its second step.
  const bool was_missed = is_known && IsInStream() && task != written.task;
  WriteTask(task, was_missed ? kAtAnnotations : HowFollowed());
  self->context = context;
  self->context_version = static_cast<uint32_t>(version);
}

void SwitchTask(TaskTable* table, PyObject* context) {
  if (!tasks_enabled) return;
  const bool is_greenlet = context == nullptr || native_calls::CurrentGreenlet() != nullptr;
  SwitchTo(table, is_greenlet ? CurrentTask() : context);
}

void SwitchToGreenlet(TaskTable* table, PyObject* greenlet) {
  if (tasks_enabled) SwitchTo(table, greenlet);
}

bool RunsInTask() { return tasks_enabled && CurrentTask() != nullptr; }

void FollowsContextRun(bool follows) { follows_context_run = follows; }
void FollowsGreenlets(bool follows) { follows_greenlets = follows; }

void ReportMixedGreenlets() {
  static std::atomic<uint32_t> reported{UINT32_MAX};
  const uint32_t generation = rlscope_self.generation;
  if (reported.exchange(generation, std::memory_order_relaxed) != generation) Report(kMixed);
}

void ReportTasks() {
  if (!tasks_enabled) Report("\"off: rlscope does not know the layout of contextvars.Context\"");
}

namespace {

// The layout of _PyRuntime may differ between builds of one version: it is used if it fits here.
void FindCurrentThreadWord() {
#if PY_VERSION_HEX < 0x030C0000
  unseen_thread.context_ver = UINT64_MAX;
  const auto word = rlscope_current_thread_word();
  current_thread_word = *word == ThreadState() ? word : &unseen_thread_word;
#endif
}

bool LooksCurrent(PyObject* context, uint64_t version_before) {
  const PyThreadState* thread = ThreadState();
  return thread->context == context && thread->context_ver != version_before && IsEntered(context);
}

}  // namespace

int CheckContextLayout() {
  FindCurrentThreadWord();
#if PY_VERSION_HEX >= 0x030F0000
  return 0;  // a release on which this was never tried
#else
  PyObject* context = PyContext_New();
  if (context == nullptr) return -1;
  const bool entered_before = IsEntered(context);
  const uint64_t version = ThreadState()->context_ver;
  bool as_expected = false;
  if (PyContext_Enter(context) == 0) {
    as_expected = LooksCurrent(context, version);
    if (PyContext_Exit(context) != 0) as_expected = false;
  }
  if (PyErr_Occurred()) PyErr_Clear();
  tasks_enabled =
      as_expected && !entered_before && !IsEntered(context) && ThreadState()->context != context;
  Py_DECREF(context);
  return 0;
#endif
}

}  // namespace rlscope::python
