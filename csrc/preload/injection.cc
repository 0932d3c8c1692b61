// InitializeInjection: the CUDA driver loads the library that CUDA_INJECTION64_PATH names inside
// cuInit() and calls this. rlscope sets that variable, so that it is there before the first CUDA
// call whichever way the program starts. 1 is success; anything else, or no such symbol, would be
// an error to the driver.
#include "cupti/attach.h"
#include "runtime/rlscope.h"

extern "C" RLSCOPE_EXPORT int InitializeInjection(void) {
  rlscope::cupti::Attach();
  return 1;
}
