#include "native_calls/gil_waits.h"

#define PY_SSIZE_T_CLEAN
#include <Python.h>
#include <link.h>
#include <pthread.h>

#include "native_calls/call.h"
#include "native_calls/imported_functions.h"
#include "native_calls/wait_names.h"
#include "native_calls/waits.h"
#include "runtime/hot.h"

namespace rlscope::native_calls {
namespace {

uint32_t word = 0;

// Runs without the GIL, on any thread of the program.
int TimedWait(pthread_cond_t* condition, pthread_mutex_t* mutex, const struct timespec* until) {
  const uint64_t start = runtime::ReadTicks();
  const int result = pthread_cond_timedwait(condition, mutex, until);
  const uint64_t end = runtime::ReadTicks();
  if (end - start >= runtime::TicksOf(kShortestWaitNs)) RecordGilWait(word, start, end);
  return result;
}

// The shared object, or the program, that holds the interpreter.
struct Interpreter {
  uintptr_t address;
  WatchedRange range;
};

int LookAt(struct dl_phdr_info* info, size_t, void* wanted) {
  auto* interpreter = static_cast<Interpreter*>(wanted);
  bool holds = false;
  const void* dynamic = nullptr;
  for (int i = 0; i < info->dlpi_phnum; ++i) {
    const auto& header = info->dlpi_phdr[i];
    const uintptr_t begin = info->dlpi_addr + header.p_vaddr;
    if (header.p_type == PT_LOAD) {
      holds |= interpreter->address >= begin && interpreter->address < begin + header.p_memsz;
    } else if (header.p_type == PT_DYNAMIC) {
      dynamic = reinterpret_cast<const void*>(begin);
    }
  }
  if (!holds) return 0;
  interpreter->range.base = info->dlpi_addr;
  interpreter->range.dynamic = dynamic;
  return 1;
}

}  // namespace

bool PatchGil() {
#ifdef Py_GIL_DISABLED
  return false;
#else
  Interpreter interpreter = {};
  interpreter.address = reinterpret_cast<uintptr_t>(&PyEval_SaveThread);
  if (dl_iterate_phdr(LookAt, &interpreter) == 0) return false;
  word = WordOfWait("gil", "the interpreter");
  if (word == 0) return false;
  auto* hook = reinterpret_cast<void*>(&TimedWait);
  return HookImports(interpreter.range, {{"pthread_cond_timedwait", hook}}) > 0;
#endif
}

}  // namespace rlscope::native_calls
