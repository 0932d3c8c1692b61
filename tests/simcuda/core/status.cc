#include "core/status.h"

namespace simcuda {
namespace {

struct Row {
  int status;
  const char* driver_name;
  const char* runtime_name;
  const char* text;
};

constexpr Row kRows[] = {
    {kSuccess, "CUDA_SUCCESS", "cudaSuccess", "no error"},
    {kInvalidValue, "CUDA_ERROR_INVALID_VALUE", "cudaErrorInvalidValue", "invalid argument"},
    {kOutOfMemory, "CUDA_ERROR_OUT_OF_MEMORY", "cudaErrorMemoryAllocation", "out of memory"},
    {kNotInitialized, "CUDA_ERROR_NOT_INITIALIZED", "cudaErrorInitializationError",
     "initialization error"},
    {kInvalidConfiguration, nullptr, "cudaErrorInvalidConfiguration",
     "invalid configuration argument"},
    {kInvalidSymbol, nullptr, "cudaErrorInvalidSymbol", "invalid device symbol"},
    {kInsufficientDriver, nullptr, "cudaErrorInsufficientDriver",
     "the CUDA driver is absent or too old"},
    {kMissingConfiguration, nullptr, "cudaErrorMissingConfiguration",
     "launch without a configuration"},
    {kInvalidDeviceFunction, nullptr, "cudaErrorInvalidDeviceFunction", "invalid device function"},
    {kNoDevice, "CUDA_ERROR_NO_DEVICE", "cudaErrorNoDevice", "no CUDA-capable device is detected"},
    {kInvalidDevice, "CUDA_ERROR_INVALID_DEVICE", "cudaErrorInvalidDevice",
     "invalid device ordinal"},
    {kInvalidContext, "CUDA_ERROR_INVALID_CONTEXT", "cudaErrorDeviceUninitialized",
     "invalid device context"},
    {kInvalidHandle, "CUDA_ERROR_INVALID_HANDLE", "cudaErrorInvalidResourceHandle",
     "invalid resource handle"},
    {kNotFound, "CUDA_ERROR_NOT_FOUND", "cudaErrorSymbolNotFound", "named symbol not found"},
    {kNotReady, "CUDA_ERROR_NOT_READY", "cudaErrorNotReady", "device not ready"},
    {kHostMemoryAlreadyRegistered, "CUDA_ERROR_HOST_MEMORY_ALREADY_REGISTERED",
     "cudaErrorHostMemoryAlreadyRegistered", "part or all of the memory is already registered"},
    {kHostMemoryNotRegistered, "CUDA_ERROR_HOST_MEMORY_NOT_REGISTERED",
     "cudaErrorHostMemoryNotRegistered", "the memory is not registered"},
    {kNotSupported, "CUDA_ERROR_NOT_SUPPORTED", "cudaErrorNotSupported",
     "not supported by the simulated CUDA"},
    {kCaptureUnsupported, "CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED",
     "cudaErrorStreamCaptureUnsupported", "not permitted while a stream is capturing"},
    {kCaptureUnmatched, "CUDA_ERROR_STREAM_CAPTURE_UNMATCHED", "cudaErrorStreamCaptureUnmatched",
     "the capture was not begun on this stream"},
    {kCaptureUnjoined, "CUDA_ERROR_STREAM_CAPTURE_UNJOINED", "cudaErrorStreamCaptureUnjoined",
     "the capture has a fork that was not joined"},
    {kCaptureIsolation, "CUDA_ERROR_STREAM_CAPTURE_ISOLATION", "cudaErrorStreamCaptureIsolation",
     "a dependency would cross the border of a capture"},
    {kCapturedEvent, "CUDA_ERROR_CAPTURED_EVENT", "cudaErrorCapturedEvent",
     "not permitted on an event last recorded in a capture"},
};

const Row* Find(int status) {
  for (const Row& row : kRows) {
    if (row.status == status) return &row;
  }
  return nullptr;
}

}  // namespace

const char* DriverStatusName(int status) {
  const Row* row = Find(status);
  return row == nullptr ? nullptr : row->driver_name;
}

const char* RuntimeStatusName(int status) {
  const Row* row = Find(status);
  return row == nullptr ? nullptr : row->runtime_name;
}

const char* StatusText(int status) {
  const Row* row = Find(status);
  return row == nullptr ? nullptr : row->text;
}

}  // namespace simcuda
