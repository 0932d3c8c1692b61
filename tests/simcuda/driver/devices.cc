// Devices: H200s, as many as SIMCUDA_DEVICES asks for and CUDA_VISIBLE_DEVICES leaves.
#include <algorithm>
#include <cstdio>
#include <cstring>

#include "core/machine_devices.h"
#include "core/memory.h"
#include "driver/call.h"

namespace simcuda {
namespace {

struct Attribute {
  int number;  // CUdevice_attribute
  int value;
};

constexpr Attribute kAttributes[] = {
    {1, 1024},                       // threads per block
    {2, 1024},                       // block x
    {3, 1024},                       // block y
    {4, 64},                         // block z
    {5, 2147483647},                 // grid x
    {6, 65535},                      // grid y
    {7, 65535},                      // grid z
    {8, 49152},                      // shared memory per block
    {9, 65536},                      // constant memory
    {10, 32},                        // warp
    {11, 2147483647},                // pitch
    {12, 65536},                     // registers per block
    {13, 1980000},                   // clock, kHz
    {14, 512},                       // texture alignment
    {15, 1},                         // copy and compute overlap
    {16, 132},                       // multiprocessors
    {19, 1},                         // maps host memory
    {30, 512},                       // surface alignment
    {31, 1},                         // concurrent kernels
    {36, 3201000},                   // memory clock, kHz
    {37, 6144},                      // memory bus, bits
    {38, 62914560},                  // L2
    {39, 2048},                      // threads per multiprocessor
    {40, 3},                         // copy engines
    {41, 1},                         // unified addressing
    {51, 32},                        // texture pitch alignment
    {75, 9},                         // compute capability
    {76, 0},          {78, 1},       // stream priorities
    {79, 1},                         // caches in L1
    {80, 1},          {81, 233472},  // shared memory per multiprocessor
    {82, 65536},                     // registers per multiprocessor
    {83, 1},                         // managed memory
    {86, 1},                         // native atomics
    {88, 1},                         // pageable memory access
    {89, 1},                         // concurrent managed access
    {90, 1},                         // compute preemption
    {95, 1},                         // cooperative launch
    {97, 232448},                    // shared memory per block, opt-in
    {99, 1},                         // registers host memory
    {106, 32},                       // blocks per multiprocessor
    {111, 1024},                     // reserved shared memory per block
    {115, 1},                        // memory pools
    {120, 1},                        // clusters
};

bool IsDevice(int device) { return device >= 0 && device < DeviceCount(); }

int MachineNumber(int device) { return VisibleDevices()[static_cast<size_t>(device)]; }

void WriteUuid(int device, void* uuid) {
  memset(uuid, 0x51, 16);
  static_cast<unsigned char*>(uuid)[15] = static_cast<unsigned char>(MachineNumber(device));
}

}  // namespace
}  // namespace simcuda

using namespace simcuda;  // NOLINT: the rest of the file is the C interface

SIM_EXPORT int cuDeviceGetCount(int* count) {
  SIM_CALL({
    *count = DeviceCount();
    return kSuccess;
  });
}

SIM_EXPORT int cuDeviceGet(int* device, int ordinal) {
  SIM_CALL({
    if (!IsDevice(ordinal)) return kInvalidDevice;
    *device = ordinal;
    return kSuccess;
  });
}

SIM_EXPORT int cuDeviceGetName(char* name, int size, int device) {
  SIM_CALL({
    if (!IsDevice(device)) return kInvalidDevice;
    snprintf(name, static_cast<size_t>(size), "Simulated H200");
    return kSuccess;
  });
}

SIM_EXPORT int cuDeviceTotalMem_v2(size_t* bytes, int device) {
  SIM_CALL({
    if (!IsDevice(device)) return kInvalidDevice;
    *bytes = kDeviceBytes;
    return kSuccess;
  });
}

SIM_EXPORT int cuDeviceGetUuid(void* uuid, int device) {
  SIM_CALL({
    if (!IsDevice(device)) return kInvalidDevice;
    WriteUuid(device, uuid);
    return kSuccess;
  });
}

SIM_EXPORT int cuDeviceGetUuid_v2(void* uuid, int device) {
  SIM_CALL({
    if (!IsDevice(device)) return kInvalidDevice;
    WriteUuid(device, uuid);
    return kSuccess;
  });
}

SIM_EXPORT int cuDeviceGetAttribute(int* value, int attribute, int device) {
  SIM_CALL({
    if (!IsDevice(device)) return kInvalidDevice;
    *value = attribute == 33 ? MachineNumber(device) + 1 : 0;  // the PCI bus
    for (const Attribute& row : kAttributes) {
      if (row.number == attribute) *value = row.value;
    }
    return kSuccess;
  });
}

SIM_EXPORT int cuDeviceComputeCapability(int* major, int* minor, int device) {
  SIM_CALL({
    if (!IsDevice(device)) return kInvalidDevice;
    *major = 9;
    *minor = 0;
    return kSuccess;
  });
}

SIM_EXPORT int cuDeviceGetPCIBusId(char* text, int size, int device) {
  SIM_CALL({
    if (!IsDevice(device)) return kInvalidDevice;
    snprintf(text, static_cast<size_t>(size), "0000:%02x:00.0",
             static_cast<unsigned>(MachineNumber(device) + 1));
    return kSuccess;
  });
}

SIM_EXPORT int cuDeviceGetByPCIBusId(int* device, const char* text) {
  SIM_CALL({
    unsigned bus = 0;
    bool read = sscanf(text, "%*x:%x:", &bus) == 1 || sscanf(text, "%x:", &bus) == 1;
    const std::vector<int>& devices = VisibleDevices();
    auto found = std::find(devices.begin(), devices.end(), static_cast<int>(bus) - 1);
    if (!read || found == devices.end()) return kInvalidDevice;
    *device = static_cast<int>(found - devices.begin());
    return kSuccess;
  });
}

SIM_EXPORT int cuDeviceCanAccessPeer(int* can, int device, int peer) {
  SIM_CALL({
    if (!IsDevice(device) || !IsDevice(peer)) return kInvalidDevice;
    *can = device != peer;
    return kSuccess;
  });
}

SIM_EXPORT int cuDeviceGetP2PAttribute(int* value, int, int device, int peer) {
  SIM_CALL({
    if (!IsDevice(device) || !IsDevice(peer)) return kInvalidDevice;
    *value = device != peer;
    return kSuccess;
  });
}
