#include "core/api_call.h"
#include "core/clock.h"
#include "core/context.h"
#include "core/interface.h"
#include "core/truth.h"

namespace simcuda {
namespace {

uint32_t StreamId(void* handle) {
  std::lock_guard<std::mutex> guard(ModelLock());
  const Stream* stream = FindStream(handle);
  return stream == nullptr ? 0 : stream->id;
}

// 0: none is current, or it was destroyed.
uint32_t ContextId(void* handle) {
  auto* context = handle == nullptr ? CurrentContext() : static_cast<Context*>(handle);
  if (context == nullptr) return 0;
  std::lock_guard<std::mutex> guard(ModelLock());
  return IsContext(context) ? context->id : 0;
}

Core* CreateCore() {
  auto* core = new Core{};
  core->now_ns = NowNs;
  core->thread_id = ThreadId;
  core->forked = Forked;
  core->begin_call = BeginCall;
  core->end_call = EndCall;
  core->stream_id = StreamId;
  core->context_id = ContextId;
  core->device_clock_ns = DeviceClockNs;
  core->write_truth = WriteTruth;
  OpenTruth();
  return core;
}

}  // namespace
}  // namespace simcuda

simcuda::Core* simcuda_core() {
  static simcuda::Core* const core = simcuda::CreateCore();
  return core;
}
