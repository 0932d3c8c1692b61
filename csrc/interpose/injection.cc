// InitializeInjection: the CUDA driver loads the library that CUDA_INJECTION64_PATH names inside
// cuInit() and calls this. rlscope sets that variable, so that it is there before the first CUDA
// call whichever way the program starts. This version records nothing of CUDA: it only lets
// cuInit() go on. 1 is success; anything else, or no such symbol, would be an error to the driver.
#include "runtime/rlscope.h"

extern "C" RLSCOPE_EXPORT int InitializeInjection(void) { return 1; }
