// Names of functions as their source spells them.
#ifndef RLSCOPE_PYTHON_TRACE_MODULE_FUNCTION_NAMES_H_
#define RLSCOPE_PYTHON_TRACE_MODULE_FUNCTION_NAMES_H_

#include <set>
#include <string>
#include <unordered_map>

namespace rlscope::python {

// Mangled name of C++ -> the name as its source spells it. Names that are none of C++ are left out,
// and those that would be very long.
//
// A mangled name names its own parts again, so that 200 bytes of a damaged trace, or of a
// stranger's, may stand for gigabytes. Those that may are demangled in a child process, which is
// given a quarter of a second of CPU time.
std::unordered_map<std::string, std::string> Demangle(const std::set<std::string>& names);

}  // namespace rlscope::python

#endif  // RLSCOPE_PYTHON_TRACE_MODULE_FUNCTION_NAMES_H_
