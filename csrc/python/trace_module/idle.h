// Time by reason as a relation with the columns of rlscope/_trace.pyi.
#ifndef RLSCOPE_PYTHON_TRACE_MODULE_IDLE_H_
#define RLSCOPE_PYTHON_TRACE_MODULE_IDLE_H_

#include "analysis/idle/idle_times.h"
#include "python/trace_module/columns.h"

namespace rlscope::python {

Relations MakeIdleRelations(const analysis::IdleResult& result);

}  // namespace rlscope::python

#endif  // RLSCOPE_PYTHON_TRACE_MODULE_IDLE_H_
