// How many tokens the generations of this process wrote, as far as they were recorded.
#ifndef RLSCOPE_PYTHON_RUNTIME_MODULE_TOKEN_COUNT_H_
#define RLSCOPE_PYTHON_RUNTIME_MODULE_TOKEN_COUNT_H_

#define PY_SSIZE_T_CLEAN
#include <Python.h>
#include <stdint.h>

#include "python/runtime_module/token_run.h"

namespace rlscope::python {

// `begins`: they are the first ones of a generation. Then it may run Python code of ours, which
// sees those before as complete. Any thread that has the GIL.
void AddTokens(uint64_t tokens, bool begins);

// A library's own call has returned this: asks count(result, *arguments, **keywords) of
// count_tokens(count). The program sees no failure.
void AddTokensOf(PyObject* result, const Arguments& call);

// count_tokens(count, changed), written_tokens() -> (tokens, generations). `changed` is called when
// a generation is complete: at its end, or when the next one begins.
PyObject* CountTokens(PyObject*, PyObject* const* arguments, Py_ssize_t count);
PyObject* WrittenTokens(PyObject*, PyObject*);

}  // namespace rlscope::python

#endif  // RLSCOPE_PYTHON_RUNTIME_MODULE_TOKEN_COUNT_H_
