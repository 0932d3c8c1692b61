// Which asyncio task a thread runs, as far as its annotations and Context.run show it.
//
// A task is a contextvars.Context that was entered (Context.run); everything outside of one is
// task 0, the thread's own. A greenlet is a task as well, whatever Context it runs in; each switch
// of greenlets counts as one of Contexts. CPython keeps the current Context and a count of switches
// in the thread state: comparing both with what the thread's last annotation saw costs two loads,
// and only after a switch is the table asked.
#ifndef RLSCOPE_PYTHON_RUNTIME_MODULE_TASKS_H_
#define RLSCOPE_PYTHON_RUNTIME_MODULE_TASKS_H_

#define PY_SSIZE_T_CLEAN
#include <Python.h>
#include <stdint.h>

#include "runtime/rlscope.h"

namespace rlscope::python {

class TaskTable;

// True once CheckContextLayout() found the structures as expected; false: tasks are not
// distinguished.
extern bool tasks_enabled;

#if PY_VERSION_HEX < 0x030C0000
// Where the state of the running thread is. Until CheckContextLayout() found it, the address of
// one that no thread has ever seen, so that HasSwitched() is true and the slow path asks.
extern const PyThreadState* const volatile* current_thread_word;
#endif

// Compares this build's view of thread state and Context with a real Context that it enters and
// leaves; sets the two above. 0, or -1 with a Python error set (memory).
int CheckContextLayout();

TaskTable* NewTaskTable();
void DeleteTaskTable(TaskTable* table);

// The state of the calling thread, which holds the GIL. Before 3.12 it is read in place, because
// the call, with the registers it costs the caller, is a third of an annotation's instructions.
// From 3.12 on it is a thread-local variable that only libpython reaches.
inline __attribute__((always_inline)) const PyThreadState* CurrentThreadState() {
#if PY_VERSION_HEX >= 0x030D0000
  return PyThreadState_GetUnchecked();
#elif PY_VERSION_HEX >= 0x030C0000
  return _PyThreadState_UncheckedGet();
#else
  return *current_thread_word;
#endif
}

// True when the calling thread entered or left a Context since FollowTask() last ran in it. The
// count is compared too: a new Context may lie where a dead one was.
inline __attribute__((always_inline)) bool HasSwitched(const PyThreadState* thread) {
  const struct rlscope_thread* seen = &rlscope_self;
  return seen->context != static_cast<void*>(thread->context) ||
         seen->context_version != static_cast<uint32_t>(thread->context_ver);
}

// Whether the calling thread runs in a Context that it entered, as an asyncio task does, or in a
// greenlet that is not its first.
bool RunsInTask();

// Writes a kTask record if the thread now runs another task than its last record said. The caller
// is recording and may have one slot less afterwards.
void FollowTask(TaskTable* table);

// The thread is about to run in `context`, or runs in its current one again (null): writes a kTask
// record if that is another task than its last record said. A task without annotations has no id;
// its time is that of the thread's own stack, task 0. The caller is recording; no exception pends.
void SwitchTask(TaskTable* table, PyObject* context);

// The same for a greenlet that the thread is about to run; each is a task, too.
void SwitchToGreenlet(TaskTable* table, PyObject* greenlet);

// Whether SwitchTask() is called from now on wherever Context.run enters or leaves a Context.
void FollowsContextRun(bool follows);
// The same of SwitchToGreenlet() and SwitchTask(), wherever greenlets switch.
void FollowsGreenlets(bool follows);

// Notes in the trace, once a process image, that a greenlet called an environment or a module while
// another one was inside of an automatic operation.
void ReportMixedGreenlets();

// Notes in the trace when tasks are not distinguished.
void ReportTasks();

}  // namespace rlscope::python

#endif  // RLSCOPE_PYTHON_RUNTIME_MODULE_TASKS_H_
