#include "python/runtime_module/import_times.h"

#include <Python.h>
#include <frameobject.h>  // PyFrame_GetBack, before 3.11
#include <time.h>

#include <cstdint>
#include <string>
#include <vector>

#include "base/clock.h"
#include "native_calls/owned.h"
#include "python/runtime_module/name_text.h"
#include "runtime/rlscope.h"
#include "runtime/syscalls.h"

namespace rlscope::python {

namespace {

using native_calls::Owned;

constexpr int64_t kShortestNs = 1'000'000;
constexpr size_t kMostRows = 2000;        // of a process; torch and all that it imports are 300
constexpr size_t kMostTextBytes = 60000;  // of metadata of one key, which may have 64 KiB
constexpr int kMostFrames = 200;          // that are looked through for the code that asked

struct Times {
  int64_t wall_ns;
  int64_t cpu_ns;
};

Times Now() {
  timespec cpu{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &cpu);
  return {static_cast<int64_t>(base::ReadMonotonicNs()),
          int64_t{cpu.tv_sec} * 1'000'000'000 + cpu.tv_nsec};
}

struct Module {
  std::string name;
  Times begun;
  Times inside;  // of the modules that it imported
  bool is_annotated;
};

thread_local std::vector<Module> open_modules;

// Under the GIL, and so is what follows.
std::vector<std::string> rows;  // JSON, not written yet
size_t row_count = 0;
int64_t other_modules = 0;
Times others{};
uint64_t piece = 0;
int owner_pid = 0;

// Characters that JSON would have to escape are "?".
void AddText(const std::string& text, std::string* json) {
  json->push_back('"');
  for (const char byte : text) {
    const bool is_plain = static_cast<unsigned char>(byte) >= 0x20 && byte != '"' && byte != '\\';
    json->push_back(is_plain ? byte : '?');
  }
  json->push_back('"');
}

void AddRow(const std::string& name, const std::string& by, const std::string& asker,
            int64_t start_ns, int64_t total_ns, Times self, int64_t modules) {
  std::string row = "[";
  for (const std::string* text : {&name, &by, &asker}) {
    AddText(*text, &row);
    row.push_back(',');
  }
  for (const int64_t number : {start_ns, total_ns, self.wall_ns, self.cpu_ns}) {
    row += std::to_string(number) + ",";
  }
  rows.push_back(row + std::to_string(modules) + "]");
}

void WritePiece(const std::string& joined) {
  const std::string key = "rlscope.import." + std::to_string(piece++);
  const std::string json = "[" + joined + "]";
  rlscope_add_metadata(key.data(), key.size(), json.data(), json.size());
}

void Write() {
  std::string joined;
  for (const std::string& row : rows) {
    if (joined.size() + row.size() > kMostTextBytes) {
      WritePiece(joined);
      joined.clear();
    }
    joined += (joined.empty() ? "" : ",") + row;
  }
  WritePiece(joined);
  rows.clear();
}

// A fork child has the rows of its parent, which writes them itself.
void ForgetParent() {
  const int pid = runtime::SysGetPid();
  if (owner_pid == pid) return;
  if (owner_pid != 0) {
    rows.clear();
    row_count = 0;
    other_modules = 0;
    others = {};
  }
  owner_pid = pid;
}

std::string NameOf(PyObject* module) {
  Owned name(PyModule_Check(module) ? PyModule_GetNameObject(module)
                                    : PyObject_GetAttrString(module, "name"));
  if (!name || !PyUnicode_Check(name.get())) return "?";
  const NameText text(name.get());
  return std::string(text.data(), text.size());
}

// As rlscope/rundir/own_code.py, which has the same parts.
bool IsLibrary(const std::string& file) {
  if (file.empty() || file.front() == '<') return true;
  for (const char* part : {"/site-packages/", "/dist-packages/", "/lib/python3", "/lib64/python3",
                           "/rlscope/annotations/", "/rlscope/auto/", "/rlscope/capture/",
                           "/rlscope/frameworks/", "/rlscope/recorder/", "/rlscope/registry.py"}) {
    if (file.find(part) != std::string::npos) return true;
  }
  return false;
}

// "train.py:12": the innermost line that is no part of a library; else the innermost one that is no
// part of the import system. `is_outermost`: else the latter is meant at once.
std::string Asker(bool is_outermost) {
  std::string nearest;
  PyObject* frame = reinterpret_cast<PyObject*>(PyEval_GetFrame());
  Py_XINCREF(frame);
  for (int i = 0; frame != nullptr && i < kMostFrames; i++) {
    auto* const current = reinterpret_cast<PyFrameObject*>(frame);
    const Owned held(frame);
    const Owned code(reinterpret_cast<PyObject*>(PyFrame_GetCode(current)));
    const NameText file(reinterpret_cast<PyCodeObject*>(code.get())->co_filename);
    std::string place(file.data(), file.size());
    frame = reinterpret_cast<PyObject*>(PyFrame_GetBack(current));
    if (place.rfind("<frozen ", 0) == 0) continue;
    const bool is_library = IsLibrary(place);
    place += ":" + std::to_string(PyFrame_GetLineNumber(current));
    if (nearest.empty()) nearest = place;
    if (!is_outermost || !is_library) {
      Py_XDECREF(frame);
      return place;
    }
  }
  Py_XDECREF(frame);
  return nearest;
}

}  // namespace

void BeginModule(PyObject* module, bool is_annotated) {
  const native_calls::ErrorAside aside;
  open_modules.push_back({module == nullptr ? "?" : NameOf(module), Now(), {}, is_annotated});
}

void EndModule(bool is_import, bool is_annotated, bool counts) {
  if (open_modules.empty()) return;
  const native_calls::ErrorAside aside;
  const Module ended = open_modules.back();
  open_modules.pop_back();
  const bool is_outermost = open_modules.empty();
  const Times now = Now();
  const Times total{now.wall_ns - ended.begun.wall_ns, now.cpu_ns - ended.begun.cpu_ns};
  const Times self{total.wall_ns - ended.inside.wall_ns, total.cpu_ns - ended.inside.cpu_ns};
  if (!is_outermost) {
    open_modules.back().inside.wall_ns += total.wall_ns;
    open_modules.back().inside.cpu_ns += total.cpu_ns;
  }
  ForgetParent();
  is_import = is_import && ended.is_annotated == is_annotated;
  if (is_import && total.wall_ns >= kShortestNs && row_count < kMostRows) {
    row_count++;
    AddRow(ended.name, is_outermost ? "" : open_modules.back().name, Asker(is_outermost),
           ended.begun.wall_ns, total.wall_ns, self, 1);
  } else if (is_import) {
    other_modules++;
    others.wall_ns += self.wall_ns;
    others.cpu_ns += self.cpu_ns;
  }
  if (!counts) return;
  if (!is_outermost || rows.empty()) return;
  if (other_modules > 0) AddRow("", "", "", ended.begun.wall_ns, 0, others, other_modules);
  other_modules = 0;
  others = {};
  Write();
}

}  // namespace rlscope::python
