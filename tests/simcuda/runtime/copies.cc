// Copies and memsets. Which driver function does a copy depends on its kind, as in CUDA.
#include "runtime/call.h"
#include "runtime/registration.h"

namespace simcuda {
namespace {

enum Kind { kHostToHostKind, kToDevice, kToHost, kOnDevice, kDefault };  // cudaMemcpyKind

constexpr int kInvalidDirection = 21;  // cudaErrorInvalidMemcpyDirection

DevicePointer Address(const void* pointer) { return reinterpret_cast<DevicePointer>(pointer); }

int CopyAsync(void* destination, const void* source, size_t bytes, int kind, void* stream) {
  switch (kind) {
    case kToDevice:
      return DRIVER(cuMemcpyHtoDAsync_v2)(Address(destination), source, bytes, stream);
    case kToHost:
      return DRIVER(cuMemcpyDtoHAsync_v2)(destination, Address(source), bytes, stream);
    case kOnDevice:
      return DRIVER(cuMemcpyDtoDAsync_v2)(Address(destination), Address(source), bytes, stream);
    case kHostToHostKind:
    case kDefault:
      return DRIVER(cuMemcpyAsync)(Address(destination), Address(source), bytes, stream);
    default:
      return kInvalidDirection;
  }
}

int CopyOnLegacy(void* destination, const void* source, size_t bytes, int kind) {
  switch (kind) {
    case kToDevice:
      return DRIVER(cuMemcpyHtoD_v2)(Address(destination), source, bytes);
    case kToHost:
      return DRIVER(cuMemcpyDtoH_v2)(destination, Address(source), bytes);
    case kOnDevice:
      return DRIVER(cuMemcpyDtoD_v2)(Address(destination), Address(source), bytes);
    case kHostToHostKind:
    case kDefault:
      return DRIVER(cuMemcpy)(Address(destination), Address(source), bytes);
    default:
      return kInvalidDirection;
  }
}

int CopyOnOwn(void* destination, const void* source, size_t bytes, int kind) {
  switch (kind) {
    case kToDevice:
      return DRIVER(cuMemcpyHtoD_v2_ptds)(Address(destination), source, bytes);
    case kToHost:
      return DRIVER(cuMemcpyDtoH_v2_ptds)(destination, Address(source), bytes);
    case kOnDevice:
      return DRIVER(cuMemcpyDtoD_v2_ptds)(Address(destination), Address(source), bytes);
    case kHostToHostKind:
    case kDefault:
      return DRIVER(cuMemcpy_ptds)(Address(destination), Address(source), bytes);
    default:
      return kInvalidDirection;
  }
}

// Copies and returns when the driver's synchronous copy does. `stream`: null or the thread's own.
int Copy(void* destination, const void* source, size_t bytes, int kind, void* stream) {
  return stream == nullptr ? CopyOnLegacy(destination, source, bytes, kind)
                           : CopyOnOwn(destination, source, bytes, kind);
}

Copy2D Describe(void* destination, size_t destination_pitch, const void* source,
                size_t source_pitch, size_t width, size_t height) {
  constexpr uint32_t kUnified = 4;
  Copy2D copy{};
  copy.source_type = copy.destination_type = kUnified;
  copy.source_device = Address(source);
  copy.source_pitch = source_pitch;
  copy.destination_device = Address(destination);
  copy.destination_pitch = destination_pitch;
  copy.width_bytes = width;
  copy.height = height;
  return copy;
}

int Copy2(const Copy2D& copy, void* stream) {
  return stream == nullptr ? DRIVER(cuMemcpy2D_v2)(&copy) : DRIVER(cuMemcpy2D_v2_ptds)(&copy);
}

int PrimaryOf(int device, void** context) {
  return DRIVER(cuDevicePrimaryCtxRetain)(context, device);
}

template <class Body>
int Between(int to, int from, Body body) {
  void* to_context = nullptr;
  void* from_context = nullptr;
  int status = PrimaryOf(to, &to_context);
  if (status == kSuccess) status = PrimaryOf(from, &from_context);
  return status == kSuccess ? body(to_context, from_context) : status;
}

// The place `offset` bytes into a variable.
int Place(const void* symbol, size_t offset, char** place) {
  void* start = nullptr;
  int status = DeviceAddress(symbol, &start);
  *place = static_cast<char*>(start) + offset;
  return status;
}

unsigned char Byte(int value) { return static_cast<unsigned char>(value); }

}  // namespace
}  // namespace simcuda

using namespace simcuda;  // NOLINT: the rest of the file is the C interface

SIM_STREAM_CALL(cudaMemcpy, _ptds, (void* destination, const void* source, size_t bytes, int kind),
                { return Copy(destination, source, bytes, kind, On(nullptr)); })

SIM_STREAM_CALL(cudaMemcpyAsync, _ptsz,
                (void* destination, const void* source, size_t bytes, int kind, void* stream),
                { return CopyAsync(destination, source, bytes, kind, On(stream)); })

SIM_STREAM_CALL(cudaMemcpy2D, _ptds,
                (void* destination, size_t destination_pitch, const void* source,
                 size_t source_pitch, size_t width, size_t height, int),
                {
                  return Copy2(
                      Describe(destination, destination_pitch, source, source_pitch, width, height),
                      On(nullptr));
                })

SIM_STREAM_CALL(cudaMemcpy2DAsync, _ptsz,
                (void* destination, size_t destination_pitch, const void* source,
                 size_t source_pitch, size_t width, size_t height, int, void* stream),
                {
                  Copy2D copy =
                      Describe(destination, destination_pitch, source, source_pitch, width, height);
                  return DRIVER(cuMemcpy2DAsync_v2)(&copy, On(stream));
                })

SIM_EXPORT int cudaMemcpyPeer(void* destination, int to, const void* source, int from,
                              size_t bytes) {
  SIM_CALL({
    return Between(to, from, [&](void* to_context, void* from_context) {
      return DRIVER(cuMemcpyPeer)(Address(destination), to_context, Address(source), from_context,
                                  bytes);
    });
  });
}

SIM_EXPORT int cudaMemcpyPeerAsync(void* destination, int to, const void* source, int from,
                                   size_t bytes, void* stream) {
  SIM_CALL({
    return Between(to, from, [&](void* to_context, void* from_context) {
      return DRIVER(cuMemcpyPeerAsync)(Address(destination), to_context, Address(source),
                                       from_context, bytes, stream);
    });
  });
}

SIM_STREAM_CALL(cudaMemcpyToSymbol, _ptds,
                (const void* symbol, const void* source, size_t bytes, size_t offset, int kind), {
                  char* place = nullptr;
                  int status = Place(symbol, offset, &place);
                  return status == kSuccess ? Copy(place, source, bytes, kind, On(nullptr))
                                            : status;
                })

SIM_STREAM_CALL(cudaMemcpyFromSymbol, _ptds,
                (void* destination, const void* symbol, size_t bytes, size_t offset, int kind), {
                  char* place = nullptr;
                  int status = Place(symbol, offset, &place);
                  return status == kSuccess ? Copy(destination, place, bytes, kind, On(nullptr))
                                            : status;
                })

SIM_STREAM_CALL(cudaMemcpyToSymbolAsync, _ptsz,
                (const void* symbol, const void* source, size_t bytes, size_t offset, int kind,
                 void* stream),
                {
                  char* place = nullptr;
                  int status = Place(symbol, offset, &place);
                  return status == kSuccess ? CopyAsync(place, source, bytes, kind, On(stream))
                                            : status;
                })

SIM_STREAM_CALL(cudaMemcpyFromSymbolAsync, _ptsz,
                (void* destination, const void* symbol, size_t bytes, size_t offset, int kind,
                 void* stream),
                {
                  char* place = nullptr;
                  int status = Place(symbol, offset, &place);
                  return status == kSuccess ? CopyAsync(destination, place, bytes, kind, On(stream))
                                            : status;
                })

SIM_EXPORT int cudaGetSymbolAddress(void** address, const void* symbol) {
  SIM_CALL({ return DeviceAddress(symbol, address); });
}

SIM_EXPORT int cudaGetSymbolSize(size_t* bytes, const void* symbol) {
  SIM_CALL({
    const RegisteredVariable* variable = FindVariable(symbol);
    if (variable == nullptr) return kInvalidSymbol;
    *bytes = variable->bytes;
    return kSuccess;
  });
}

SIM_STREAM_CALL(cudaMemset, _ptds, (void* destination, int value, size_t count), {
  return On(nullptr) == nullptr
             ? DRIVER(cuMemsetD8_v2)(Address(destination), Byte(value), count)
             : DRIVER(cuMemsetD8_v2_ptds)(Address(destination), Byte(value), count);
})

SIM_STREAM_CALL(cudaMemsetAsync, _ptsz, (void* destination, int value, size_t count, void* stream),
                {
                  return DRIVER(cuMemsetD8Async)(Address(destination), Byte(value), count,
                                                 On(stream));
                })

SIM_STREAM_CALL(cudaMemset2D, _ptds,
                (void* destination, size_t pitch, int value, size_t width, size_t height), {
                  return On(nullptr) == nullptr
                             ? DRIVER(cuMemsetD2D8_v2)(Address(destination), pitch, Byte(value),
                                                       width, height)
                             : DRIVER(cuMemsetD2D8_v2_ptds)(Address(destination), pitch,
                                                            Byte(value), width, height);
                })

SIM_STREAM_CALL(cudaMemset2DAsync, _ptsz,
                (void* destination, size_t pitch, int value, size_t width, size_t height,
                 void* stream),
                {
                  return DRIVER(cuMemsetD2D8Async)(Address(destination), pitch, Byte(value), width,
                                                   height, On(stream));
                })
