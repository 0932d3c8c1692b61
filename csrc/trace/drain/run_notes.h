// Notes in DIR/processes.log that are of the run, not of one of its processes. Libc only.
#ifndef RLSCOPE_TRACE_DRAIN_RUN_NOTES_H_
#define RLSCOPE_TRACE_DRAIN_RUN_NOTES_H_

namespace rlscope::trace {

// Makes the log, empty. Nothing else does, so that no process writes one into a directory that was
// removed and is somebody else's by now. 0 or an errno.
int MakeLog(const char* directory);

// Where the run's rings lie when that is not DIR/rings. The control page says so too; the note is
// there when that page is not. `rings` fits ControlPage::trace_rings; one write. 0 or an errno.
int LogRings(const char* directory, const char* rings);

// That the calling process, which belongs to the run in `directory`, begins the run in `nested`. A
// longer path is cut at 4,080 bytes. 0 or an errno.
int LogNested(const char* directory, const char* nested);

// The new state of the run's window: kWindowWaits, kWindowStarts or kWindowStops. Processes that
// record follow it in their records; one that never does is cut to it by the reader.
int LogWindow(const char* directory, const char* change);

}  // namespace rlscope::trace

#endif  // RLSCOPE_TRACE_DRAIN_RUN_NOTES_H_
