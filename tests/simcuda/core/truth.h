// The truth file (SIMCUDA_TRUTH): what the program called and what the device did, as JSON lines;
// see README.md.
#ifndef SIMCUDA_CORE_TRUTH_H_
#define SIMCUDA_CORE_TRUTH_H_

#include <cstddef>

#include "core/interface.h"

namespace simcuda {

// Opens the file; later calls do nothing. Processes append to one file, also children of a fork.
void OpenTruth();
bool TruthOpen();

// One line, one O_APPEND write: lines of different threads and processes never mix, and a kill
// loses none. [MT]
void WriteTruth(const char* line, size_t size);
void WriteCall(const ApiCall& call);
void WriteOperation(const DeviceOperation& operation);

}  // namespace simcuda

#endif  // SIMCUDA_CORE_TRUTH_H_
