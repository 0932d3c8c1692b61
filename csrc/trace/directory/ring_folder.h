// Where the rings of a run lie: the log and the control page of a directory name a folder
// elsewhere, and either may be damaged or a stranger's.
#ifndef RLSCOPE_TRACE_DIRECTORY_RING_FOLDER_H_
#define RLSCOPE_TRACE_DIRECTORY_RING_FOLDER_H_

#include <string>
#include <vector>

#include "trace/layout/shared_pages.h"
#include "trace/read/reader.h"

namespace rlscope::trace {

// The content of DIR/rings/control; zeros where that is no control page.
ControlPage ReadControl(const std::string& directory);

// The folder of a run's rings: what the log of processes says (TakeRunNotes), which has checksums,
// without that what the control page says, else DIR/rings. Another folder is believed if its name
// and its owner are those of a folder of rings.
std::string FindRings(const std::string& directory, const ControlPage& control,
                      const std::string& logged, std::vector<Problem>* problems);

}  // namespace rlscope::trace

#endif  // RLSCOPE_TRACE_DIRECTORY_RING_FOLDER_H_
