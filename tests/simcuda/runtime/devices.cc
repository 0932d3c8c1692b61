// Devices: which there are, which is current, and what the runtime keeps for each.
#include "runtime/call.h"

using namespace simcuda;  // NOLINT: the file is the C interface

SIM_EXPORT int cudaGetDeviceCount(int* count) {
  *count = 0;
  SIM_CALL_ANYTIME({ return DRIVER(cuDeviceGetCount)(count); });
}

SIM_EXPORT int cudaGetDevice(int* device) {
  SIM_CALL_ANYTIME({
    *device = CurrentDevice();
    return kSuccess;
  });
}

SIM_EXPORT int cudaSetDevice(int device) {
  SIM_CALL_ANYTIME({ return SetCurrentDevice(device); });
}

SIM_EXPORT int cudaInitDevice(int device, unsigned, unsigned) {
  SIM_CALL_ANYTIME({
    void* context = nullptr;
    return DRIVER(cuDevicePrimaryCtxRetain)(&context, device);
  });
}

SIM_EXPORT int cudaChooseDevice(int* device, const void*) {
  SIM_CALL_ANYTIME({
    *device = 0;
    return kSuccess;
  });
}

SIM_EXPORT int cudaSetValidDevices(int*, int) {
  SIM_CALL_ANYTIME({ return kSuccess; });
}

SIM_EXPORT int cudaSetDeviceFlags(unsigned) {
  SIM_CALL_ANYTIME({ return kSuccess; });
}

SIM_EXPORT int cudaGetDeviceFlags(unsigned* flags) {
  SIM_CALL_ANYTIME({
    *flags = 0;
    return kSuccess;
  });
}

SIM_EXPORT int cudaDeviceGetAttribute(int* value, int attribute, int device) {
  SIM_CALL_ANYTIME({ return DRIVER(cuDeviceGetAttribute)(value, attribute, device); });
}

SIM_EXPORT int cudaDeviceSynchronize() {
  SIM_CALL({ return DRIVER(cuCtxSynchronize)(); });
}

SIM_EXPORT int cudaDeviceReset() {
  SIM_CALL({ return DRIVER(cuDevicePrimaryCtxReset_v2)(CurrentDevice()); });
}

SIM_EXPORT int cudaDeviceGetLimit(size_t* value, int limit) {
  SIM_CALL({ return DRIVER(cuCtxGetLimit)(value, limit); });
}

SIM_EXPORT int cudaDeviceSetLimit(int limit, size_t value) {
  SIM_CALL({ return DRIVER(cuCtxSetLimit)(limit, value); });
}

SIM_EXPORT int cudaDeviceGetCacheConfig(int* config) {
  SIM_CALL({
    *config = 0;
    return kSuccess;
  });
}

SIM_EXPORT int cudaDeviceSetCacheConfig(int) {
  SIM_CALL({ return kSuccess; });
}

SIM_EXPORT int cudaDeviceGetStreamPriorityRange(int* least, int* greatest) {
  SIM_CALL({ return DRIVER(cuCtxGetStreamPriorityRange)(least, greatest); });
}

SIM_EXPORT int cudaDeviceGetPCIBusId(char* text, int size, int device) {
  SIM_CALL_ANYTIME({ return DRIVER(cuDeviceGetPCIBusId)(text, size, device); });
}

SIM_EXPORT int cudaDeviceGetByPCIBusId(int* device, const char* text) {
  SIM_CALL_ANYTIME({ return DRIVER(cuDeviceGetByPCIBusId)(device, text); });
}

SIM_EXPORT int cudaDeviceCanAccessPeer(int* can, int device, int peer) {
  SIM_CALL_ANYTIME({ return DRIVER(cuDeviceCanAccessPeer)(can, device, peer); });
}

SIM_EXPORT int cudaDeviceEnablePeerAccess(int peer, unsigned flags) {
  SIM_CALL({
    void* context = nullptr;
    int status = DRIVER(cuDevicePrimaryCtxRetain)(&context, peer);
    return status == kSuccess ? DRIVER(cuCtxEnablePeerAccess)(context, flags) : status;
  });
}

SIM_EXPORT int cudaDeviceDisablePeerAccess(int peer) {
  SIM_CALL({
    void* context = nullptr;
    int status = DRIVER(cuDevicePrimaryCtxRetain)(&context, peer);
    return status == kSuccess ? DRIVER(cuCtxDisablePeerAccess)(context) : status;
  });
}

SIM_EXPORT int cudaProfilerStart() {
  SIM_CALL({ return DRIVER(cuProfilerStart)(); });
}

SIM_EXPORT int cudaProfilerStop() {
  SIM_CALL({ return DRIVER(cuProfilerStop)(); });
}
