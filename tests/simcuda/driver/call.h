// How every exported driver function is written: a body between enter and exit of an API call.
#ifndef SIMCUDA_DRIVER_CALL_H_
#define SIMCUDA_DRIVER_CALL_H_

#include "core/api_call.h"
#include "core/functions.h"
#include "core/machine_devices.h"
#include "core/status.h"
#include "core/stream_call.h"
#include "driver/driver.h"

namespace simcuda {

// kSuccess after cuInit; kNotInitialized before it and in the child of a fork.
int DriverReady();

// Devices that the process sees.
inline int DeviceCount() { return static_cast<int>(VisibleDevices().size()); }

template <class Body>
int Traced(const ApiFunction& function, const char* symbol, Body body) {
  ApiCall call{};
  call.function = &function;
  call.symbol = symbol;
  BeginCall(&call);
  int status = body();
  EndCall(&call, status);
  return status;
}

}  // namespace simcuda

// SIM_CALL({ ... return status; }): the rest of an exported function; needs cuInit.
#define SIM_CALL(...) SIM_CALL_OF(nullptr, __VA_ARGS__)
// The same for one that launches the kernel called `symbol`.
#define SIM_CALL_OF(symbol, ...)                                                       \
  do {                                                                                 \
    static const simcuda::ApiFunction& sim_function = simcuda::FindFunction(__func__); \
    return simcuda::Traced(sim_function, symbol, [&]() -> int {                        \
      int sim_ready = simcuda::DriverReady();                                          \
      if (sim_ready != simcuda::kSuccess) return sim_ready;                            \
      return [&]()->int __VA_ARGS__();                                                 \
    });                                                                                \
  } while (false)
// The same for one that works before cuInit.
#define SIM_CALL_ANYTIME(...)                                                          \
  do {                                                                                 \
    static const simcuda::ApiFunction& sim_function = simcuda::FindFunction(__func__); \
    return simcuda::Traced(sim_function, nullptr, [&]()->int __VA_ARGS__);             \
  } while (false)

#endif  // SIMCUDA_DRIVER_CALL_H_
