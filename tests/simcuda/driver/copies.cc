// Copies of memory, of one dimension and of two, and memsets.
#include "core/clock.h"
#include "core/copy_work.h"
#include "core/timeline.h"
#include "driver/call.h"
#include "driver/copy_rows.h"

namespace simcuda {
namespace {

// Submits to the stream; `wait`: returns when the device is done.
int SubmitWork(Work work, void* handle, bool wait) {
  uint64_t ready_ns = 0;
  {
    Submission submission;
    Stream* stream = FindStream(handle);
    if (stream == nullptr) return kInvalidHandle;
    if (wait && stream->capture != nullptr) return kCaptureUnsupported;
    int status = submission.Add(stream, std::move(work));
    if (status != kSuccess) return status;
    ready_ns = stream->ready_ns;
  }
  if (wait) WaitUntil(ready_ns);
  return kSuccess;
}

int CopyRows(const Rows& rows, void* stream, bool asynchronous) {
  if (rows.width * rows.height == 0) return kSuccess;
  if (rows.source == nullptr || rows.destination == nullptr) return kInvalidValue;
  Work work = CopyWork(rows, asynchronous);
  Direction direction = work.operation.direction;
  bool waits =
      asynchronous ? WaitsForPageable(work) : direction != kDeviceToDevice && direction != kPeer;
  return SubmitWork(std::move(work), stream, waits);
}

int Copy(const void* destination, const void* source, size_t bytes, void* stream,
         bool asynchronous) {
  return CopyRows(OneRow(const_cast<void*>(destination), source, bytes), stream, asynchronous);
}

const void* At(DevicePointer pointer) { return reinterpret_cast<const void*>(pointer); }

int Set(DevicePointer destination, size_t pitch, uint32_t value, size_t element_bytes, size_t width,
        size_t height, void* stream, bool asynchronous) {
  if (width * height == 0) return kSuccess;
  if (destination == 0) return kInvalidValue;
  Work work = MemsetWork(reinterpret_cast<void*>(destination), pitch, value, element_bytes, width,
                         height, asynchronous);
  return SubmitWork(std::move(work), stream, false);
}

}  // namespace
}  // namespace simcuda

using namespace simcuda;  // NOLINT: the rest of the file is the C interface

SIM_STREAM_CALL(cuMemcpy, _ptds, (DevicePointer destination, DevicePointer source, size_t bytes),
                { return Copy(At(destination), At(source), bytes, On(nullptr), false); })

SIM_STREAM_CALL(cuMemcpyHtoD_v2, _ptds,
                (DevicePointer destination, const void* source, size_t bytes),
                { return Copy(At(destination), source, bytes, On(nullptr), false); })

SIM_STREAM_CALL(cuMemcpyDtoH_v2, _ptds, (void* destination, DevicePointer source, size_t bytes),
                { return Copy(destination, At(source), bytes, On(nullptr), false); })

SIM_STREAM_CALL(cuMemcpyDtoD_v2, _ptds,
                (DevicePointer destination, DevicePointer source, size_t bytes),
                { return Copy(At(destination), At(source), bytes, On(nullptr), false); })

SIM_STREAM_CALL(cuMemcpyAsync, _ptsz,
                (DevicePointer destination, DevicePointer source, size_t bytes, void* stream),
                { return Copy(At(destination), At(source), bytes, On(stream), true); })

SIM_STREAM_CALL(cuMemcpyHtoDAsync_v2, _ptsz,
                (DevicePointer destination, const void* source, size_t bytes, void* stream),
                { return Copy(At(destination), source, bytes, On(stream), true); })

SIM_STREAM_CALL(cuMemcpyDtoHAsync_v2, _ptsz,
                (void* destination, DevicePointer source, size_t bytes, void* stream),
                { return Copy(destination, At(source), bytes, On(stream), true); })

SIM_STREAM_CALL(cuMemcpyDtoDAsync_v2, _ptsz,
                (DevicePointer destination, DevicePointer source, size_t bytes, void* stream),
                { return Copy(At(destination), At(source), bytes, On(stream), true); })

SIM_STREAM_CALL(cuMemcpyPeer, _ptds,
                (DevicePointer destination, void*, DevicePointer source, void*, size_t bytes),
                { return Copy(At(destination), At(source), bytes, On(nullptr), false); })

SIM_STREAM_CALL(cuMemcpyPeerAsync, _ptsz,
                (DevicePointer destination, void*, DevicePointer source, void*, size_t bytes,
                 void* stream),
                { return Copy(At(destination), At(source), bytes, On(stream), true); })

SIM_STREAM_CALL(cuMemcpy2D_v2, _ptds, (const Copy2D* copy),
                { return CopyRows(RowsOf(*copy), On(nullptr), false); })

SIM_STREAM_CALL(cuMemcpy2DUnaligned_v2, _ptds, (const Copy2D* copy),
                { return CopyRows(RowsOf(*copy), On(nullptr), false); })

SIM_STREAM_CALL(cuMemcpy2DAsync_v2, _ptsz, (const Copy2D* copy, void* stream),
                { return CopyRows(RowsOf(*copy), On(stream), true); })

SIM_STREAM_CALL(cuMemcpy3D_v2, _ptds, (const Copy3D* copy), {
  return copy->depth > 1 ? kNotSupported : CopyRows(SliceOf(*copy), On(nullptr), false);
})

SIM_STREAM_CALL(cuMemcpy3DAsync_v2, _ptsz, (const Copy3D* copy, void* stream), {
  return copy->depth > 1 ? kNotSupported : CopyRows(SliceOf(*copy), On(stream), true);
})

SIM_STREAM_CALL(cuMemsetD8_v2, _ptds,
                (DevicePointer destination, unsigned char value, size_t count),
                { return Set(destination, 0, value, 1, count, 1, On(nullptr), false); })

SIM_STREAM_CALL(cuMemsetD16_v2, _ptds,
                (DevicePointer destination, unsigned short value, size_t count),
                { return Set(destination, 0, value, 2, count, 1, On(nullptr), false); })

SIM_STREAM_CALL(cuMemsetD32_v2, _ptds, (DevicePointer destination, unsigned value, size_t count),
                { return Set(destination, 0, value, 4, count, 1, On(nullptr), false); })

SIM_STREAM_CALL(cuMemsetD8Async, _ptsz,
                (DevicePointer destination, unsigned char value, size_t count, void* stream),
                { return Set(destination, 0, value, 1, count, 1, On(stream), true); })

SIM_STREAM_CALL(cuMemsetD16Async, _ptsz,
                (DevicePointer destination, unsigned short value, size_t count, void* stream),
                { return Set(destination, 0, value, 2, count, 1, On(stream), true); })

SIM_STREAM_CALL(cuMemsetD32Async, _ptsz,
                (DevicePointer destination, unsigned value, size_t count, void* stream),
                { return Set(destination, 0, value, 4, count, 1, On(stream), true); })

SIM_STREAM_CALL(cuMemsetD2D8_v2, _ptds,
                (DevicePointer destination, size_t pitch, unsigned char value, size_t width,
                 size_t height),
                { return Set(destination, pitch, value, 1, width, height, On(nullptr), false); })

SIM_STREAM_CALL(cuMemsetD2D8Async, _ptsz,
                (DevicePointer destination, size_t pitch, unsigned char value, size_t width,
                 size_t height, void* stream),
                { return Set(destination, pitch, value, 1, width, height, On(stream), true); })
