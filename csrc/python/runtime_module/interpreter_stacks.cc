#include "python/runtime_module/interpreter_stacks.h"

#define PY_SSIZE_T_CLEAN
#include <Python.h>
#include <frameobject.h>
#include <unistd.h>

#include <memory>
#include <vector>

#include "native_calls/owned.h"
#include "python/runtime_module/call_sites.h"
#include "python/runtime_module/name_text.h"
#include "runtime/rlscope.h"
#include "runtime/syscalls.h"
#include "trace/drain/stack_numbers.h"
#include "trace/drain/stack_reader.h"
#include "trace/layout/interpreter_layout.h"

extern "C" void rlscope_fill_interpreter_layout(rlscope_interpreter_layout* layout);

namespace rlscope::python {
namespace {

using native_calls::Owned;
using trace::StackNumbers;
using trace::StackReader;

#if PY_VERSION_HEX >= 0x030B0000
constexpr char kName[] = "co_qualname";
#else
constexpr char kName[] = "co_name";
#endif

uint32_t Enter(StackNumbers* numbers, uint32_t parent, PyObject* frame) {
  auto* const entered = reinterpret_cast<PyFrameObject*>(frame);
  const Owned code(reinterpret_cast<PyObject*>(PyFrame_GetCode(entered)));
  const Owned name(PyObject_GetAttrString(code.get(), kName));
  if (!name) return 0;
  auto* const object = reinterpret_cast<PyCodeObject*>(code.get());
  const NameText file_text(object->co_filename), name_text(name.get());
  const uint32_t function =
      numbers->Function({file_text.data(), file_text.size()}, {name_text.data(), name_text.size()},
                        static_cast<uint32_t>(object->co_firstlineno));
  const int line = PyFrame_GetLineNumber(entered);
  return numbers->Node(parent, function, line < 0 ? 0 : static_cast<uint32_t>(line));
}

// Where the running thread is, as the interpreter says it.
uint32_t NodeOfThread(StackNumbers* numbers) {
  std::vector<Owned> frames;
  PyObject* frame = reinterpret_cast<PyObject*>(PyThreadState_GetFrame(PyThreadState_Get()));
  while (frame != nullptr) {
    frames.emplace_back(frame);
    frame = reinterpret_cast<PyObject*>(PyFrame_GetBack(reinterpret_cast<PyFrameObject*>(frame)));
  }
  uint32_t node = 0;
  for (size_t left = frames.size(); left > 0; left--) {
    node = Enter(numbers, node, frames[left - 1].get());
    if (node == 0) return 0;
  }
  return node;
}

// Where the running thread is, as another process reads it.
uint32_t ReadNode(const rlscope_interpreter_layout& layout, StackNumbers* numbers) {
  const auto reader =
      std::make_unique<StackReader>(static_cast<uint32_t>(getpid()), layout, numbers);
  if (!reader->Begin()) return 0;
  const auto own = static_cast<uint32_t>(runtime::SysGetTid());
  uint32_t os_tid;
  while (reader->Next(&os_tid)) {
    if (os_tid == own) return reader->Read();
  }
  return 0;
}

}  // namespace

void DescribeInterpreter() {
  rlscope_interpreter_layout layout;
  rlscope_fill_interpreter_layout(&layout);
  if (!StackReader::IsPlausible(layout)) return;
  const native_calls::ErrorAside aside;
  StackNumbers numbers;
  const uint32_t node = NodeOfThread(&numbers);
  if (node == 0 || ReadNode(layout, &numbers) != node) return;
  rlscope_describe_interpreter(&layout);
  if (layout.has_frame_objects == 0) FindCallSites(layout);
}

}  // namespace rlscope::python
