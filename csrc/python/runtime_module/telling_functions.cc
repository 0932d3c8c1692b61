#include "python/runtime_module/telling_functions.h"

#include <algorithm>

#include "python/runtime_module/frames.h"

namespace rlscope::python {

namespace {

constexpr int kMostFrames = 256;

std::string_view TextOf(PyObject* name) {
  if (!PyUnicode_IS_ASCII(name)) return {};
  return {reinterpret_cast<const char*>(PyUnicode_1BYTE_DATA(name)),
          static_cast<size_t>(PyUnicode_GET_LENGTH(name))};
}

}  // namespace

bool TellingFunction::IsRunning() const {
  PyObject* codes[kMostFrames];
  PyObject** const end = codes + rlscope_codes_of_thread(codes, kMostFrames);
  return std::find(codes, end, code_) != end;
}

std::string_view NameOfFunction(PyCodeObject* code) { return TextOf(code->co_name); }

std::string_view NameWithClass(PyCodeObject* code) {
#if PY_VERSION_HEX >= 0x030B0000
  const std::string_view name = TextOf(code->co_qualname);
#else
  const std::string_view name = TextOf(code->co_name);
#endif
  const size_t last = name.rfind('.');
  if (last == name.npos) return name;
  const size_t before = last == 0 ? name.npos : name.rfind('.', last - 1);
  const std::string_view owner = name.substr(before + 1, last - before - 1);
  return name.substr(owner == "<locals>" ? last + 1 : before + 1);
}

}  // namespace rlscope::python
