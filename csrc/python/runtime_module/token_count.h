// How many tokens the generations of this process wrote, as far as they were recorded.
#ifndef RLSCOPE_PYTHON_RUNTIME_MODULE_TOKEN_COUNT_H_
#define RLSCOPE_PYTHON_RUNTIME_MODULE_TOKEN_COUNT_H_

#define PY_SSIZE_T_CLEAN
#include <Python.h>
#include <stdint.h>

#include "python/runtime_module/token_run.h"

namespace rlscope::python {

// `begins`: they are the first ones of a generation. Any thread.
void AddTokens(uint64_t tokens, bool begins);

// A library's own call has returned this: asks count(result, *arguments, **keywords) of
// count_tokens(count). The program sees no failure.
void AddTokensOf(PyObject* result, const Arguments& call);

// count_tokens(count), written_tokens() -> (tokens, generations).
PyObject* CountTokens(PyObject*, PyObject* count);
PyObject* WrittenTokens(PyObject*, PyObject*);

}  // namespace rlscope::python

#endif  // RLSCOPE_PYTHON_RUNTIME_MODULE_TOKEN_COUNT_H_
