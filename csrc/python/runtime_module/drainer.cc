#include "python/runtime_module/drainer.h"

#include <errno.h>
#include <stdint.h>
#include <string.h>

#include <new>

#include "python/runtime_module/module_state.h"
#include "trace/drain/drain_directory.h"
#include "trace/drain/run_notes.h"

namespace rlscope::python {

namespace {

struct DrainerObject {
  PyObject ob_base;
  PyObject* directory;  // bytes, as the file system has it
  PyObject* rings;      // bytes, or null: the drainer chooses
  trace::DrainDirectory* drainer;
};

DrainerObject* AsDrainer(PyObject* self) { return reinterpret_cast<DrainerObject*>(self); }

// Reads the arguments and makes the drainer; false with a Python error set.
bool Fill(DrainerObject* object, PyObject* arguments, PyObject* keywords) {
  static const char* names[] = {"directory", "rings", nullptr};
  PyObject* directory = nullptr;
  PyObject* rings = Py_None;
  if (!PyArg_ParseTupleAndKeywords(arguments, keywords, "O|O:Drainer", const_cast<char**>(names),
                                   &directory, &rings)) {
    return false;
  }
  if (!PyUnicode_FSConverter(directory, &object->directory)) return false;
  if (rings != Py_None && !PyUnicode_FSConverter(rings, &object->rings)) return false;
  object->drainer = new (std::nothrow) trace::DrainDirectory();
  if (object->drainer == nullptr) PyErr_NoMemory();
  return object->drainer != nullptr;
}

PyObject* New(PyTypeObject* type, PyObject* arguments, PyObject* keywords) {
  PyObject* self = type->tp_alloc(type, 0);
  if (self == nullptr || Fill(AsDrainer(self), arguments, keywords)) return self;
  Py_DECREF(self);
  return nullptr;
}

bool FitsCount(Py_ssize_t value, const char* name, uint32_t* count) {
  if (value < 0 || value > UINT32_MAX) {
    PyErr_Format(PyExc_ValueError, "%s must be between 0 and %u", name, UINT32_MAX);
    return false;
  }
  *count = static_cast<uint32_t>(value);
  return true;
}

bool ParseOptions(PyObject* arguments, PyObject* keywords, trace::DrainOptions* options) {
  static const char* names[] = {"recording",      "delay_iterations", "iterations", "exit_after",
                                "min_free_bytes", "max_bytes",        "stacks",     nullptr};
  int recording = 1, stacks = 1;
  Py_ssize_t delay = 0, iterations = 0, exit_after = 0;
  long long min_free = static_cast<long long>(options->min_free_bytes), most = 0;
  if (!PyArg_ParseTupleAndKeywords(arguments, keywords, "|$pnnnLLp:start",
                                   const_cast<char**>(names), &recording, &delay, &iterations,
                                   &exit_after, &min_free, &most, &stacks)) {
    return false;
  }
  if (min_free < 0 || most < 0) {
    PyErr_SetString(PyExc_ValueError, "min_free_bytes and max_bytes must not be negative");
    return false;
  }
  options->max_bytes = static_cast<uint64_t>(most);
  options->recording = recording != 0;
  options->stacks = stacks != 0;
  options->min_free_bytes = static_cast<uint64_t>(min_free);
  return FitsCount(delay, "delay_iterations", &options->delay_iterations) &&
         FitsCount(iterations, "iterations", &options->iterations) &&
         FitsCount(exit_after, "exit_after", &options->exit_after);
}

PyObject* Start(PyObject* self, PyObject* arguments, PyObject* keywords) {
  DrainerObject* object = AsDrainer(self);
  trace::DrainOptions options;
  if (!ParseOptions(arguments, keywords, &options)) return nullptr;
  const char* rings = object->rings == nullptr ? nullptr : PyBytes_AS_STRING(object->rings);
  int error;
  Py_BEGIN_ALLOW_THREADS error =
      object->drainer->Start(PyBytes_AS_STRING(object->directory), rings, options);
  Py_END_ALLOW_THREADS if (error == 0) Py_RETURN_NONE;
  errno = error;
  return PyErr_SetFromErrnoWithFilename(PyExc_OSError, PyBytes_AS_STRING(object->directory));
}

PyObject* SetRecording(PyObject* self, PyObject* on) {
  const int recording = PyObject_IsTrue(on);
  if (recording < 0) return nullptr;
  Py_BEGIN_ALLOW_THREADS AsDrainer(self)->drainer->SetRecording(recording != 0);
  Py_END_ALLOW_THREADS Py_RETURN_NONE;
}

PyObject* EndProgram(PyObject* self, PyObject*) {
  AsDrainer(self)->drainer->EndProgram();
  Py_RETURN_NONE;
}

PyObject* NoteIn(PyObject* self, PyObject* outer) {
  PyObject* path = nullptr;
  if (!PyUnicode_FSConverter(outer, &path)) return nullptr;
  const char* nested = PyBytes_AS_STRING(AsDrainer(self)->directory);
  const int error = trace::LogNested(PyBytes_AS_STRING(path), nested);
  if (error != 0) {
    errno = error;
    PyErr_SetFromErrnoWithFilename(PyExc_OSError, PyBytes_AS_STRING(path));
  }
  Py_DECREF(path);
  if (error != 0) return nullptr;
  Py_RETURN_NONE;
}

PyObject* BeginNextFiles(PyObject* self, PyObject*) {
  Py_BEGIN_ALLOW_THREADS AsDrainer(self)->drainer->BeginNextFiles();
  Py_END_ALLOW_THREADS Py_RETURN_NONE;
}

PyObject* SetKeptBytes(PyObject* self, PyObject* bytes) {
  const unsigned long long kept = PyLong_AsUnsignedLongLong(bytes);
  if (PyErr_Occurred()) return nullptr;
  AsDrainer(self)->drainer->SetKeptBytes(kept);
  Py_RETURN_NONE;
}

PyObject* TakeSourceFiles(PyObject* self, PyObject*) {
  char names[64 * 1024];
  const size_t bytes = AsDrainer(self)->drainer->TakeSourceFiles(names, sizeof names);
  PyObject* list = PyList_New(0);
  for (const char* name = names; list != nullptr && name < names + bytes;) {
    PyObject* text = PyUnicode_DecodeFSDefault(name);
    if (text == nullptr || PyList_Append(list, text) != 0) Py_CLEAR(list);
    Py_XDECREF(text);
    name += strlen(name) + 1;
  }
  return list;
}

PyObject* Stop(PyObject* self, PyObject*) {
  Py_BEGIN_ALLOW_THREADS AsDrainer(self)->drainer->Stop();
  Py_END_ALLOW_THREADS Py_RETURN_NONE;
}

// Called with the GIL held: the visit lists processes, which does not block.
void AppendProcess(void* context, uint32_t pid, const char* name) {
  PyObject* list = static_cast<PyObject*>(context);
  if (PyErr_Occurred()) return;
  PyObject* text = PyUnicode_DecodeUTF8(name, static_cast<Py_ssize_t>(strlen(name)), "replace");
  PyObject* entry =
      text == nullptr ? nullptr : Py_BuildValue("{s:I,s:N}", "pid", pid, "name", text);
  if (entry == nullptr) return;
  PyList_Append(list, entry);
  Py_DECREF(entry);
}

PyObject* Alive(PyObject* self, PyObject*) {
  PyObject* list = PyList_New(0);
  if (list == nullptr) return nullptr;
  AsDrainer(self)->drainer->VisitAlive(&AppendProcess, list);
  if (!PyErr_Occurred()) return list;
  Py_DECREF(list);
  return nullptr;
}

PyObject* Stats(PyObject* self, PyObject*) {
  const trace::DirectoryStats stats = AsDrainer(self)->drainer->stats();
  return Py_BuildValue("{s:K,s:K,s:K,s:K,s:K,s:K,s:L,s:I,s:L,s:L,s:I,s:K,s:K,s:L}", "events",
                       static_cast<unsigned long long>(stats.drain.events), "bytes",
                       static_cast<unsigned long long>(stats.bytes), "removed",
                       static_cast<unsigned long long>(stats.removed), "chunks",
                       static_cast<unsigned long long>(stats.drain.chunks), "lost",
                       static_cast<unsigned long long>(stats.drain.lost), "rings",
                       static_cast<unsigned long long>(stats.drain.rings), "cpu_ns",
                       static_cast<long long>(stats.cpu_ns), "cut", stats.cut, "cut_ns",
                       static_cast<long long>(stats.cut_ns), "flushed_ns",
                       static_cast<long long>(stats.flushed_ns), "helped", stats.helped,
                       "gone_pages", static_cast<unsigned long long>(stats.gone_pages), "stalls",
                       static_cast<unsigned long long>(stats.stalls), "longest_stall_ns",
                       static_cast<long long>(stats.longest_stall_ns));
}

void Deallocate(PyObject* self) {
  PyTypeObject* type = Py_TYPE(self);
  DrainerObject* object = AsDrainer(self);
  Py_BEGIN_ALLOW_THREADS delete object->drainer;  // stops its thread
  Py_END_ALLOW_THREADS Py_XDECREF(object->directory);
  Py_XDECREF(object->rings);
  type->tp_free(self);
  Py_DECREF(type);
}

PyMethodDef object_methods[] = {
    {"start", reinterpret_cast<PyCFunction>(reinterpret_cast<void (*)()>(Start)),
     METH_VARARGS | METH_KEYWORDS, nullptr},
    {"set_recording", SetRecording, METH_O, nullptr},
    {"end_program", EndProgram, METH_NOARGS, nullptr},
    {"begin_next_files", BeginNextFiles, METH_NOARGS, nullptr},
    {"set_kept_bytes", SetKeptBytes, METH_O, nullptr},
    {"note_in", NoteIn, METH_O, nullptr},
    {"take_source_files", TakeSourceFiles, METH_NOARGS, nullptr},
    {"stop", Stop, METH_NOARGS, nullptr},
    {"alive", Alive, METH_NOARGS, nullptr},
    {"stats", Stats, METH_NOARGS, nullptr},
    {nullptr, nullptr, 0, nullptr}};

PyType_Slot object_slots[] = {
    {Py_tp_doc, const_cast<char*>("Drains the rings of every process of a run into trace files.")},
    {Py_tp_new, reinterpret_cast<void*>(New)},
    {Py_tp_methods, object_methods},
    {Py_tp_dealloc, reinterpret_cast<void*>(Deallocate)},
    {0, nullptr}};

PyType_Spec object_spec = {"rlscope._runtime.Drainer", sizeof(DrainerObject), 0,
                           Py_TPFLAGS_DEFAULT | Py_TPFLAGS_IMMUTABLETYPE, object_slots};

}  // namespace

int AddDrainer(PyObject* module) {
  PyObject* type = PyType_FromModuleAndSpec(module, &object_spec, nullptr);
  if (type == nullptr) return -1;
  StateOf(module)->drainer_type = reinterpret_cast<PyTypeObject*>(type);
  return PyModule_AddObjectRef(module, "Drainer", type);
}

}  // namespace rlscope::python
