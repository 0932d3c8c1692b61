// Advice on managed memory: accepted, and nothing follows from it. It is wherever it is touched,
// and CUPTI has no records of where it goes among those that are simulated.
#include "core/context.h"
#include "core/memory.h"
#include "driver/call.h"

namespace simcuda {
namespace {

int Advise(DevicePointer pointer) {
  MemoryRange range = FindMemory(reinterpret_cast<void*>(pointer));
  return range.kind == MemoryKind::kManaged ? kSuccess : kInvalidValue;
}

int AdviseOn(void* handle, DevicePointer pointer) {
  std::lock_guard<std::mutex> guard(ModelLock());
  return FindStream(handle) == nullptr ? kInvalidHandle : Advise(pointer);
}

}  // namespace
}  // namespace simcuda

using namespace simcuda;  // NOLINT: the rest of the file is the C interface

SIM_EXPORT int cuMemAdvise(DevicePointer pointer, size_t, int, int) {
  SIM_CALL({ return Advise(pointer); });
}

SIM_EXPORT int cuMemAdvise_v2(DevicePointer pointer, size_t, int, uint64_t) {
  SIM_CALL({ return Advise(pointer); });
}

SIM_STREAM_CALL(cuMemPrefetchAsync, _ptsz, (DevicePointer pointer, size_t, int, void* stream),
                { return AdviseOn(On(stream), pointer); })

SIM_STREAM_CALL(cuMemPrefetchAsync_v2, _ptsz,
                (DevicePointer pointer, size_t, uint64_t, unsigned, void* stream),
                { return AdviseOn(On(stream), pointer); })

SIM_STREAM_CALL(cuStreamAttachMemAsync, _ptsz,
                (void* stream, DevicePointer pointer, size_t, unsigned),
                { return AdviseOn(On(stream), pointer); })
