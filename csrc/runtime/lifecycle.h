// Begin and end of a process image.
#ifndef RLSCOPE_RUNTIME_LIFECYCLE_H_
#define RLSCOPE_RUNTIME_LIFECYCLE_H_

#include "runtime/process_events.h"

namespace rlscope::runtime {

// Fills the process's identity: pid, parent, start time, name, began_ns.
void Identify();

// Fork handlers, exit handlers and the wiped state page; once per process.
void WatchProcess();

// The exit path: closes the image, ends the helper, writes kEnded. Nothing in a vfork child and
// the second time. `status`: exit code, or kUnknownStatus.
void EndProcess(int status);

// The same without kEnded being the last word of the process: the end of a rls.profile.
void EndImage();

}  // namespace rlscope::runtime

#endif  // RLSCOPE_RUNTIME_LIFECYCLE_H_
