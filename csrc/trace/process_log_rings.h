// The note in DIR/processes.log that says where a run's rings lie when that is not DIR/rings. The
// control page says so too; the note is there when that page is not. Libc only.
#ifndef RLSCOPE_TRACE_PROCESS_LOG_RINGS_H_
#define RLSCOPE_TRACE_PROCESS_LOG_RINGS_H_

namespace rlscope::trace {

// Appends the kRings records of folder `rings`, which fits ControlPage::trace_rings, in one write.
// 0 or an errno.
int LogRings(const char* directory, const char* rings);

}  // namespace rlscope::trace

#endif  // RLSCOPE_TRACE_PROCESS_LOG_RINGS_H_
