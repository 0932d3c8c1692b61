#include "python/runtime_tasks.h"

#include <string.h>

#include <atomic>
#include <new>
#include <unordered_map>

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

// Head of CPython's PyContext (Include/internal/pycore_context.h, the same from 3.10 to 3.13).
struct ContextHead {
  PyObject ob_base;
  PyObject* previous;
  PyObject* variables;
  PyObject* weak_references;
  int entered;
};

// What the thread's records said last. Slow path only, so it need not be static TLS.
struct Written {
  uint32_t task;
  uint32_t generation;  // of rlscope_self: after a fork the stream begins anew, in task 0
  bool reported;        // the trace says how tasks were told apart
};
thread_local Written written = {0, 0, false};

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

bool IsAlive(PyObject* weak_reference) {
#if PY_VERSION_HEX >= 0x030D0000
  PyObject* object = nullptr;
  const bool alive = PyWeakref_GetRef(weak_reference, &object) == 1;
  Py_XDECREF(object);
  return alive;
#else
  return PyWeakref_GetObject(weak_reference) != Py_None;
#endif
}

void Report(const char* json) { rlscope_add_metadata("asyncio", 7, json, strlen(json)); }

bool IsEntered(const PyObject* context) {
  return context != nullptr && reinterpret_cast<const ContextHead*>(context)->entered != 0;
}

}  // namespace

#if PY_VERSION_HEX < 0x030C0000
const PyThreadState* const volatile* current_thread_word = &unseen_thread_word;
#endif

// Contexts by address, each with a weak reference: it tells a Context from a later one at the
// same address, and keeps neither alive.
class TaskTable {
 public:
  ~TaskTable() {
    for (auto& [context, task] : tasks_) Py_DECREF(task.weak_reference);
  }

  // Id of an entered Context; 0 when memory is short.
  uint32_t IdOf(PyObject* context);

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

// Runs when the table has doubled, so that a task costs a constant in the long run.
void TaskTable::ForgetTheDead() {
  for (auto task = tasks_.begin(); task != tasks_.end();) {
    if (IsAlive(task->second.weak_reference)) {
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

void FollowTask(TaskTable* table) {
  struct rlscope_thread* self = &rlscope_self;
  const PyThreadState* thread = ThreadState();
  PyObject* context = thread->context;
  const uint64_t version = thread->context_ver;
  const uint32_t task = tasks_enabled && IsEntered(context) ? table->IdOf(context) : 0;
  if (self->generation != written.generation) written = {0, self->generation, false};
  if (task != 0 && !written.reported) {
    Report("\"tasks are told apart at annotations\"");
    written.reported = true;
  }
  if (task != written.task && runtime::HasRoom()) {
    runtime::Publish(trace::kTask, task, runtime::ReadTicks(), 0);
    written.task = task;
  }
  self->context = context;
  self->reserved = version;
}

void ReportTasks() {
  if (!tasks_enabled) Report("\"off: contextvars.Context is laid out in an unknown way\"");
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
#if PY_VERSION_HEX >= 0x030E0000
  return 0;  // 3.14 has PyContext_AddWatcher and another layout
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
