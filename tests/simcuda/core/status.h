// Result codes; the driver's and the runtime's numbers are the same for all that the test double
// returns.
#ifndef SIMCUDA_CORE_STATUS_H_
#define SIMCUDA_CORE_STATUS_H_

namespace simcuda {

enum Status : int {
  kSuccess = 0,
  kInvalidValue = 1,
  kOutOfMemory = 2,
  kNotInitialized = 3,
  kInvalidConfiguration = 9,    // runtime only
  kInvalidSymbol = 13,          // runtime only
  kInsufficientDriver = 35,     // runtime only
  kMissingConfiguration = 52,   // runtime only
  kInvalidDeviceFunction = 98,  // runtime only
  kNoDevice = 100,
  kInvalidDevice = 101,
  kInvalidContext = 201,
  kInvalidHandle = 400,
  kNotFound = 500,
  kNotReady = 600,
  kHostMemoryAlreadyRegistered = 712,
  kHostMemoryNotRegistered = 713,
  kNotSupported = 801,
  kCaptureUnsupported = 900,
  kCaptureUnmatched = 903,
  kCaptureUnjoined = 904,
  kCaptureIsolation = 905,
  kCapturedEvent = 907,
};

// "CUDA_ERROR_..." and "cudaError..." names and a few words; null for a number that is none of the
// above.
const char* DriverStatusName(int status);
const char* RuntimeStatusName(int status);
const char* StatusText(int status);

}  // namespace simcuda

#endif  // SIMCUDA_CORE_STATUS_H_
