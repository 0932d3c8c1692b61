// Advice on managed memory. A location is a struct of two ints, which travels as one number.
#include "runtime/call.h"

namespace simcuda {
namespace {

DevicePointer Address(const void* pointer) { return reinterpret_cast<DevicePointer>(pointer); }

}  // namespace
}  // namespace simcuda

using namespace simcuda;  // NOLINT: the rest of the file is the C interface

SIM_STREAM_CALL(cudaStreamAttachMemAsync, _ptsz,
                (void* stream, void* pointer, size_t bytes, unsigned flags), {
                  return DRIVER(cuStreamAttachMemAsync)(On(stream), Address(pointer), bytes, flags);
                })

#if SIMCUDA_MAJOR == 12
SIM_EXPORT int cudaMemAdvise(const void* pointer, size_t bytes, int advice, int device) {
  SIM_CALL({ return DRIVER(cuMemAdvise)(Address(pointer), bytes, advice, device); });
}

SIM_EXPORT int cudaMemAdvise_v2(const void* pointer, size_t bytes, int advice, uint64_t location) {
  SIM_CALL({ return DRIVER(cuMemAdvise_v2)(Address(pointer), bytes, advice, location); });
}

SIM_STREAM_CALL(cudaMemPrefetchAsync, _ptsz,
                (const void* pointer, size_t bytes, int device, void* stream),
                { return DRIVER(cuMemPrefetchAsync)(Address(pointer), bytes, device, On(stream)); })

SIM_STREAM_CALL(
    cudaMemPrefetchAsync_v2, _ptsz,
    (const void* pointer, size_t bytes, uint64_t location, unsigned flags, void* stream),
    { return DRIVER(cuMemPrefetchAsync_v2)(Address(pointer), bytes, location, flags, On(stream)); })
#else
SIM_EXPORT int cudaMemAdvise(const void* pointer, size_t bytes, int advice, uint64_t location) {
  SIM_CALL({ return DRIVER(cuMemAdvise_v2)(Address(pointer), bytes, advice, location); });
}

SIM_STREAM_CALL(
    cudaMemPrefetchAsync, _ptsz,
    (const void* pointer, size_t bytes, uint64_t location, unsigned flags, void* stream),
    { return DRIVER(cuMemPrefetchAsync_v2)(Address(pointer), bytes, location, flags, On(stream)); })
#endif
