// Whether code objects whose addresses were kept are still those: another one may be made where one
// was freed, as by `exec` and in notebooks.
#ifndef RLSCOPE_PYTHON_RUNTIME_MODULE_FREED_CODE_H_
#define RLSCOPE_PYTHON_RUNTIME_MODULE_FREED_CODE_H_

#include <stdint.h>

namespace rlscope::python {

// `code` lives. From now on its end changes FreedCode(). Any thread, no lock.
void RememberCode(uint64_t code);

// Changes when a code object ends that was remembered, and sometimes when another one does.
uint64_t FreedCode();

}  // namespace rlscope::python

#endif  // RLSCOPE_PYTHON_RUNTIME_MODULE_FREED_CODE_H_
