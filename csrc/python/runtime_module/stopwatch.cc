#include "python/runtime_module/stopwatch.h"

#include <deque>
#include <memory>
#include <vector>

#include "base/clock.h"
#include "native_calls/owned.h"
#include "python/runtime_module/name_text.h"
#include "python/runtime_module/phase.h"
#include "trace/layout/shared_pages.h"

namespace rlscope::python {

namespace {

using native_calls::Owned;

// A path of operations of one thread; the root is the time in none.
struct Path {
  Path* parent;
  PyObject* name;  // owned; null: the root
  Path* first_child;
  Path* next_sibling;
  uint64_t ticks;
  uint64_t entries;
  uint64_t halves;
};

// Past the cap of the trace, which has "(other)" for what goes beyond.
constexpr size_t kMostPaths = trace::kMaxNames;

bool IsSameName(PyObject* a, PyObject* b) {
  if (a == b) return true;
  if (a == nullptr || (PyUnicode_CHECK_INTERNED(a) && PyUnicode_CHECK_INTERNED(b))) return false;
  return PyUnicode_Compare(a, b) == 0;
}

class ThreadTimes {
 public:
  ThreadTimes() : last_(runtime::ReadTicks()) { paths_.push_back({}); }
  ~ThreadTimes() {
    for (Path& path : paths_) Py_XDECREF(path.name);
  }
  ThreadTimes(const ThreadTimes&) = delete;
  ThreadTimes& operator=(const ThreadTimes&) = delete;

  // Each at a reading of the clock. False: there are too many paths.
  bool Enter(PyObject* name, uint64_t now);
  void Exit(PyObject* name, uint64_t now);

  // The innermost operation gets the time up to now.
  void Charge(uint64_t now) {
    Innermost()->ticks += now - last_;
    last_ = now;
  }
  // What passed since the last reading of the clock belongs to no operation; it is returned.
  uint64_t Skip() {
    const uint64_t before = last_;
    last_ = runtime::ReadTicks();
    return last_ - before;
  }
  void Clear() {
    for (Path& path : paths_) path.ticks = path.entries = path.halves = 0;
  }
  const std::deque<Path>& paths() const { return paths_; }

 private:
  Path* Innermost() { return open_.empty() ? &paths_.front() : open_.back(); }
  Path* ChildOf(Path* parent, PyObject* name);

  std::deque<Path> paths_;  // the root first; they stay where they are
  std::vector<Path*> open_;
  uint64_t last_;
};

Path* ThreadTimes::ChildOf(Path* parent, PyObject* name) {
  for (Path* child = parent->first_child; child != nullptr; child = child->next_sibling) {
    if (IsSameName(child->name, name)) return child;
  }
  if (paths_.size() >= kMostPaths) return nullptr;
  paths_.push_back({parent, Py_NewRef(name), nullptr, parent->first_child, 0, 0, 0});
  parent->first_child = &paths_.back();
  return &paths_.back();
}

bool ThreadTimes::Enter(PyObject* name, uint64_t now) {
  Charge(now);
  Path* outer = Innermost();
  Path* path = IsSameName(outer->name, name) ? outer : ChildOf(outer, name);
  if (path == nullptr) return false;
  ++path->entries;
  ++outer->halves;
  ++path->halves;
  open_.push_back(path);
  return true;
}

void ThreadTimes::Exit(PyObject* name, uint64_t now) {
  Charge(now);
  ++Innermost()->halves;
  for (size_t i = open_.size(); i-- > 0;) {
    if (!IsSameName(open_[i]->name, name)) continue;
    open_.erase(open_.begin() + static_cast<ptrdiff_t>(i));
    break;
  }
  ++Innermost()->halves;
}

// The main interpreter's. The GIL protects it; without a GIL, its own lock does.
struct Stopwatch {
  std::vector<std::unique_ptr<ThreadTimes>> threads;
  uint64_t run = 0;        // counts the times it began
  uint64_t own_ticks = 0;  // in which it did its own work
  bool is_wrong = false;   // something happened that it does not follow
  base::ClockPair began = {0, 0};
};
Stopwatch* stopwatch = nullptr;  // null: it never ran

#ifdef Py_GIL_DISABLED
PyMutex stopwatch_mutex = {0};
struct Guard {
  Guard() { PyMutex_Lock(&stopwatch_mutex); }
  ~Guard() { PyMutex_Unlock(&stopwatch_mutex); }
};
#else
struct Guard {
  Guard() {}
  ~Guard() {}
};
#endif

struct Own {
  ThreadTimes* times;
  uint64_t run;  // of the stopwatch that `times` belongs to
};
thread_local Own own = {nullptr, 0};

ThreadTimes* OwnTimes() {
  if (own.run == stopwatch->run) return own.times;
  stopwatch->threads.push_back(std::make_unique<ThreadTimes>());
  own = {stopwatch->threads.back().get(), stopwatch->run};
  return own.times;
}

bool IsMainInterpreter() { return PyInterpreterState_Get() == PyInterpreterState_Main(); }

base::ClockPair ReadClock() {
  return base::ReadClockPair(base::ToClockKind(runtime::Load(rlscope_process.clock)));
}

void Begin() {
  if (stopwatch == nullptr) stopwatch = new Stopwatch;
  if (stopwatch->run++ == 0) stopwatch->began = ReadClock();
  stopwatch->threads.clear();
  stopwatch->own_ticks = 0;
  stopwatch->is_wrong = false;
}

// Nanoseconds of a tick, over all the time since the stopwatch first ran.
double NsOfTick() {
  const base::ClockPair now = ReadClock();
  const uint64_t ticks = now.ticks - stopwatch->began.ticks;
  return ticks == 0 ? 1 : static_cast<double>(now.ns - stopwatch->began.ns) / ticks;
}

// ---- what is taken ----------------------------------------------------------------------------

// A path as it was when it was taken: making Python objects may run the collector, whose finalisers
// may be annotated and come back here.
struct Row {
  bool is_own;
  std::vector<Owned> names;  // innermost first
  uint64_t ticks;
  uint64_t entries;
  uint64_t halves;
};

void AddRows(std::vector<Row>* rows, const ThreadTimes& times) {
  const bool is_own = own.run == stopwatch->run && own.times == &times;
  for (const Path& path : times.paths()) {
    if (path.name == nullptr || (path.ticks == 0 && path.entries == 0)) continue;
    rows->push_back({is_own, {}, path.ticks, path.entries, path.halves});
    for (const Path* at = &path; at->name != nullptr; at = at->parent) {
      rows->back().names.emplace_back(Py_NewRef(at->name));
    }
  }
}

// All threads at one reading of the clock; they go on from zero. `own_ticks`: of the stopwatch.
std::vector<Row> TakeRows(uint64_t* own_ticks) {
  const uint64_t now = runtime::ReadTicks();
  std::vector<Row> rows;
  for (const auto& times : stopwatch->threads) {
    times->Charge(now);
    AddRows(&rows, *times);
    times->Clear();
    times->Skip();
  }
  *own_ticks = stopwatch->own_ticks;
  stopwatch->own_ticks = 0;
  return rows;
}

// As the trace has it; new reference, or null with a Python error set.
PyObject* NameInTrace(PyObject* name) {
  const NameText text(name);
  return PyUnicode_DecodeUTF8(text.data(), static_cast<Py_ssize_t>(text.size()), "replace");
}

PyObject* NamesOf(const Row& row) {
  const auto count = static_cast<Py_ssize_t>(row.names.size());
  Owned names(PyTuple_New(count));
  for (Py_ssize_t i = 0; names && i < count; ++i) {
    PyObject* name = NameInTrace(row.names[count - 1 - i].get());
    if (name == nullptr) return nullptr;
    PyTuple_SET_ITEM(names.get(), i, name);
  }
  return Py_XNewRef(names.get());
}

bool Append(PyObject* list, const Row& row, double ns_of_tick) {
  const Owned names(NamesOf(row));
  if (!names) return false;
  const Owned tuple(Py_BuildValue("OOdKK", row.is_own ? Py_True : Py_False, names.get(),
                                  static_cast<double>(row.ticks) * ns_of_tick,
                                  static_cast<unsigned long long>(row.entries),
                                  static_cast<unsigned long long>(row.halves)));
  return tuple && PyList_Append(list, tuple.get()) == 0;
}

PyObject* TakeOperationTimes(PyObject*, PyObject*) {
  if (stopwatch == nullptr || stopwatch->is_wrong || !IsMainInterpreter()) Py_RETURN_NONE;
  uint64_t own_ticks;
  std::vector<Row> rows;
  double ns_of_tick;
  {
    const Guard guard;
    rows = TakeRows(&own_ticks);
    ns_of_tick = NsOfTick();
  }
  const Owned list(PyList_New(0));
  if (!list) return nullptr;
  for (const Row& row : rows) {
    if (!Append(list.get(), row, ns_of_tick)) return nullptr;
  }
  return Py_BuildValue("dO", static_cast<double>(own_ticks) * ns_of_tick, list.get());
}

PyObject* TimeOperations(PyObject* module, PyObject* timed) {
  const int wanted = PyObject_IsTrue(timed);
  if (wanted < 0) return nullptr;
  if (!IsMainInterpreter()) Py_RETURN_NONE;
  {
    const Guard guard;
    Begin();
  }
  InPhase(StateOf(module), [&] { rlscope_time_operations(wanted); });
  Py_RETURN_NONE;
}

PyMethodDef methods[] = {{"time_operations", TimeOperations, METH_O, nullptr},
                         {"take_operation_times", TakeOperationTimes, METH_NOARGS, nullptr},
                         {nullptr, nullptr, 0, nullptr}};

}  // namespace

bool TimeEvent(uint32_t kind, const OperationObject& operation) {
  if (runtime::HasWindowChanged()) {
    rlscope_follow();
    if (runtime::Load(rlscope_process.state) != RLSCOPE_TIMED) return false;
  }
  const uint64_t now = runtime::ReadTicks();
  if (!IsMainInterpreter()) return true;
  const Guard guard;
  if (RunsInTask()) stopwatch->is_wrong = true;
  ThreadTimes* times = OwnTimes();
  if (kind == trace::kOperationExit) {
    times->Exit(operation.name, now);
  } else if (!times->Enter(operation.name, now)) {
    stopwatch->is_wrong = true;
  }
  stopwatch->own_ticks += times->Skip();
  return true;
}

int AddStopwatch(PyObject* module) { return PyModule_AddFunctions(module, methods); }

}  // namespace rlscope::python
