// How every exported runtime function is written: the driver loaded, then a body between enter and
// exit.
#ifndef SIMCUDA_RUNTIME_CALL_H_
#define SIMCUDA_RUNTIME_CALL_H_

#include "core/functions.h"
#include "core/status.h"
#include "core/stream_call.h"
#include "driver/driver.h"

namespace simcuda {

// Loads libcuda.so.1 and initialises it, once; like CUDA's runtime, not before the first call that
// needs it. Returns the status of that: kInsufficientDriver without a driver or with an older one
// than the runtime's.
int LoadDriver();

// The driver's core, or null before LoadDriver.
Core* LoadedCore();

// The driver's function of this name.
void* DriverEntry(const char* name);

// Makes the calling thread's device current in the driver, where nothing is.
int BindDevice();
int CurrentDevice();
int SetCurrentDevice(int device);

// Keeps the status for cudaGetLastError and returns it.
int Remember(int status);

template <class Body>
int Traced(const ApiFunction& function, const char* symbol, Body body) {
  ApiCall call{};
  call.function = &function;
  call.symbol = symbol;
  LoadedCore()->begin_call(&call);
  int status = Remember(body());
  LoadedCore()->end_call(&call, status);
  return status;
}

inline void* const kPerThreadHandle = reinterpret_cast<void*>(2);

}  // namespace simcuda

// The driver's function, typed: DRIVER(cuMemAlloc_v2)(pointer, bytes).
#define DRIVER(name)                                                                             \
  ([] {                                                                                          \
    static auto* const entry = reinterpret_cast<decltype(::name)*>(simcuda::DriverEntry(#name)); \
    return entry;                                                                                \
  }())

// SIM_CALL({ ... return status; }): the rest of an exported function that works on the current
// device.
#define SIM_CALL(...) SIM_CALL_OF(nullptr, __VA_ARGS__)
// The same for one that launches the kernel called `symbol`.
#define SIM_CALL_OF(symbol, ...)                                                       \
  do {                                                                                 \
    static const simcuda::ApiFunction& sim_function = simcuda::FindFunction(__func__); \
    int sim_loaded = simcuda::LoadDriver();                                            \
    if (sim_loaded != simcuda::kSuccess) return simcuda::Remember(sim_loaded);         \
    return simcuda::Traced(sim_function, symbol, [&]() -> int {                        \
      int sim_bound = simcuda::BindDevice();                                           \
      if (sim_bound != simcuda::kSuccess) return sim_bound;                            \
      return [&]()->int __VA_ARGS__();                                                 \
    });                                                                                \
  } while (false)
// The same for one that needs the driver, but no device.
#define SIM_CALL_ANYTIME(...)                                                          \
  do {                                                                                 \
    static const simcuda::ApiFunction& sim_function = simcuda::FindFunction(__func__); \
    int sim_loaded = simcuda::LoadDriver();                                            \
    if (sim_loaded != simcuda::kSuccess) return simcuda::Remember(sim_loaded);         \
    return simcuda::Traced(sim_function, nullptr, [&]()->int __VA_ARGS__);             \
  } while (false)

#endif  // SIMCUDA_RUNTIME_CALL_H_
