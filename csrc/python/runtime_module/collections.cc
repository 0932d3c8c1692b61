#include "python/runtime_module/collections.h"

#include <stdint.h>

#include <string>

#include "native_calls/call.h"
#include "native_calls/owned.h"
#include "runtime/hot.h"
#include "runtime/native_call.h"
#include "trace/layout/layer.h"
#include "trace/layout/record.h"
#include "trace/layout/shared_pages.h"

namespace rlscope::python {
namespace {

constexpr long kGenerations = 3;

// The collection that the thread is in. Outside of native calls it is the open call of the thread,
// and whatever finalisers call is a part of it. Inside of one it becomes a record at its end, if
// nothing was recorded meanwhile: records are in the order of their begins.
struct OpenCollection {
  bool is_call = false;
  uint64_t start = 0;  // inside of a native call; 0: the collection is not recorded
  const struct rlscope_slot* cursor = nullptr;
  uint32_t generation = 0;  // rlscope_process.generation
};
thread_local OpenCollection open_collection;

// 0: there is no room for names.
uint32_t NameOfGeneration(long generation) {
  static uint32_t ids[kGenerations];
  uint32_t known = runtime::Load(ids[generation]);
  if (known != 0) return known;
  const std::string text = "gc:generation " + std::to_string(generation);
  known =
      rlscope_intern_name(static_cast<uint32_t>(trace::EntryKind::kFunctionName),
                          static_cast<uint32_t>(trace::Layer::kPython), text.data(), text.size());
  __atomic_store_n(&ids[generation], known, __ATOMIC_RELAXED);
  return known;
}

// 0: the interpreter does not say.
uint32_t NameOf(PyObject* info) {
  if (!PyDict_Check(info)) return 0;
  PyObject* found = PyDict_GetItemString(info, "generation");
  if (found == nullptr || !PyLong_CheckExact(found)) return 0;
  int overflow = 0;
  const long generation = PyLong_AsLongAndOverflow(found, &overflow);
  return generation >= 0 && generation < kGenerations ? NameOfGeneration(generation) : 0;
}

void EndAsCall() {
  open_collection = {};
  if (runtime::IsInCall()) native_calls::EndIfLong();
}

void Begin(PyObject* info) {
  if (open_collection.is_call) EndAsCall();  // the program took the entry away meanwhile
  open_collection = {};
  const uint32_t name = NameOf(info);
  if (name == 0) return;
  if (!runtime::IsInCall()) {
    open_collection.is_call = native_calls::BeginIfLong(trace::MakeWord(trace::kCall, name, 0));
  } else if (native_calls::PrepareToRecord()) {
    open_collection = {false, runtime::ReadTicks(), rlscope_self.cursor, rlscope_self.generation};
  }
}

void End(PyObject* info) {
  const OpenCollection begun = open_collection;
  if (begun.is_call) return EndAsCall();
  open_collection = {};
  const uint64_t end = runtime::ReadTicks();
  const bool is_long =
      begun.start != 0 && end - begun.start >= runtime::TicksOf(native_calls::kShortestWaitNs);
  const bool is_alone =
      rlscope_self.cursor == begun.cursor && rlscope_self.generation == begun.generation;
  const uint32_t name = is_long && is_alone ? NameOf(info) : 0;
  if (name != 0 && runtime::IsRecording()) runtime::WriteCall(name, begun.start, end);
}

}  // namespace

PyObject* NoteCollection(PyObject*, PyObject* const* arguments, Py_ssize_t count) {
  const bool is_known = count == 2 && PyUnicode_Check(arguments[0]);
  if (!is_known || PyInterpreterState_Get() != PyInterpreterState_Main()) Py_RETURN_NONE;
  const native_calls::ErrorAside aside;
  if (PyUnicode_CompareWithASCIIString(arguments[0], "start") == 0) {
    Begin(arguments[1]);
  } else {
    End(arguments[1]);
  }
  Py_RETURN_NONE;
}

}  // namespace rlscope::python
