// CUPTI's result codes (CUptiResult) that the test double returns.
#ifndef SIMCUDA_CUPTI_STATUS_H_
#define SIMCUDA_CUPTI_STATUS_H_

namespace simcuda {

enum CuptiStatus : int {
  kCuptiSuccess = 0,
  kCuptiInvalidParameter = 1,
  kCuptiInvalidOperation = 7,
  kCuptiMaxLimitReached = 12,
  kCuptiNotCompatible = 14,
  kCuptiNotInitialized = 15,
  kCuptiQueueEmpty = 18,
  kCuptiInvalidKind = 21,
  kCuptiNotSupported = 27,
  kCuptiInsufficientPrivileges = 35,
  kCuptiMultipleSubscribers = 39,
  kCuptiUnknown = 999,
};

}  // namespace simcuda

#endif  // SIMCUDA_CUPTI_STATUS_H_
