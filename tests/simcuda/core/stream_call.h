// Functions on a stream, of the driver and of the runtime: each has a variant for programs whose
// default stream is the thread's own.
#ifndef SIMCUDA_CORE_STREAM_CALL_H_
#define SIMCUDA_CORE_STREAM_CALL_H_

// Both functions; in the body, On(stream) is the stream meant. Needs SIM_CALL of driver/call.h or
// runtime/call.h.
#define SIM_STREAM_CALL(name, suffix, parameters, ...)               \
  SIM_EXPORT int name parameters {                                   \
    [[maybe_unused]] auto On = [](void* stream) { return stream; };  \
    SIM_CALL(__VA_ARGS__);                                           \
  }                                                                  \
  SIM_EXPORT int name##suffix parameters {                           \
    [[maybe_unused]] auto On = [](void* stream) {                    \
      return stream == nullptr ? simcuda::kPerThreadHandle : stream; \
    };                                                               \
    SIM_CALL(__VA_ARGS__);                                           \
  }

#endif  // SIMCUDA_CORE_STREAM_CALL_H_
