// Memory: host memory stands in for the device's. Sorted ranges know which address is what.
#ifndef SIMCUDA_CORE_MEMORY_H_
#define SIMCUDA_CORE_MEMORY_H_

#include <cstddef>
#include <cstdint>

#include "core/interface.h"

namespace simcuda {

constexpr uint64_t kDeviceBytes = 141ull << 30;  // of each simulated device

struct MemoryRange {
  uintptr_t start;
  size_t bytes;
  MemoryKind kind;
  int device;
  bool registered;  // the program's own memory, pinned by cuMemHostRegister
};

// All of it: [MT], no lock needed.
// Null: more than the device has left, or the machine refuses.
void* AllocateMemory(size_t bytes, MemoryKind kind, int device);
// False: not the start of an allocation of one of these kinds.
bool FreeMemory(void* pointer, bool pinned);
bool RegisterMemory(void* pointer, size_t bytes);
bool UnregisterMemory(void* pointer);
// What holds the address; kind kPageable with no bytes: memory that CUDA does not know.
MemoryRange FindMemory(const void* pointer);
uint64_t FreeBytes(int device);

}  // namespace simcuda

#endif  // SIMCUDA_CORE_MEMORY_H_
