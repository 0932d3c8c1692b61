// What the running image tells of itself in processes.log.
#ifndef RLSCOPE_RUNTIME_PROCESS_EVENTS_H_
#define RLSCOPE_RUNTIME_PROCESS_EVENTS_H_

#include <stdint.h>

namespace rlscope::runtime {

// Appends a record of the running image to processes.log; first the kForked record that a fork
// child may still owe.
void LogEvent(uint16_t event, const char* name);

// The kPython record of the interpreter in this process.
void LogPython();

// The kEnded record. `status`: exit code, or kUnknownStatus; `began_ns`: when the exit reached us.
constexpr int kUnknownStatus = -1;
void LogEnd(int status, int64_t began_ns, int64_t end_ns);

}  // namespace rlscope::runtime

#endif  // RLSCOPE_RUNTIME_PROCESS_EVENTS_H_
