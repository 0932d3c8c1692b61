// What nvcc writes for a kernel, by hand: its registration, and the stub behind <<<>>> of CUDA 12
// and of CUDA 13.
#ifndef SIMCUDA_PROGRAMS_LAUNCH_STUBS_H_
#define SIMCUDA_PROGRAMS_LAUNCH_STUBS_H_

#include <cstddef>
#include <cstdint>

struct Dim3 {
  unsigned x = 1, y = 1, z = 1;
};

extern "C" {
void** __cudaRegisterFatBinary(void* binary);
void __cudaRegisterFatBinaryEnd(void** handle);
void __cudaRegisterFunction(void** handle, const char* host, char* device, const char* name, int,
                            void*, void*, void*, void*, int*);
unsigned __cudaPushCallConfiguration(Dim3 grid, Dim3 block, size_t shared_bytes, void* stream);
int __cudaPopCallConfiguration(Dim3* grid, Dim3* block, size_t* shared_bytes, void* stream);
int __cudaGetKernel(void** kernel, const void* host);
int __cudaLaunchKernel(void* kernel, Dim3 grid, Dim3 block, void** arguments, size_t shared_bytes,
                       void* stream);
int cudaLaunchKernel(const void* host, Dim3 grid, Dim3 block, void** arguments, size_t shared_bytes,
                     void* stream);

int cudaGetDeviceCount(int* count);
int cudaMalloc(void** pointer, size_t bytes);
int cudaFree(void* pointer);
int cudaMallocHost(void** pointer, size_t bytes);
int cudaFreeHost(void* pointer);
int cudaMemcpyAsync(void* destination, const void* source, size_t bytes, int kind, void* stream);
int cudaMemsetAsync(void* destination, int value, size_t count, void* stream);
int cudaStreamCreateWithFlags(void** stream, unsigned flags);
int cudaStreamSynchronize(void* stream);
int cudaStreamWaitEvent(void* stream, void* event, unsigned flags);
int cudaStreamBeginCapture(void* stream, int mode);
int cudaStreamEndCapture(void* stream, void** graph);
int cudaGraphInstantiate(void** exec, void* graph, unsigned long long flags);
int cudaGraphLaunch(void* exec, void* stream);
int cudaEventCreateWithFlags(void** event, unsigned flags);
int cudaEventRecord(void* event, void* stream);
int cudaDeviceSynchronize();
}

// A kernel of one 64-bit argument.
template <int kTag>
struct Kernel {
  static void Host(uint64_t argument) { static_cast<void>(Stub(argument)); }

  static void Register(void** handle, const char* name) {
    __cudaRegisterFunction(handle, reinterpret_cast<const char*>(&Host), nullptr, name, -1, nullptr,
                           nullptr, nullptr, nullptr, nullptr);
  }

  // kernel<<<grid, block, shared_bytes, stream>>>(argument)
  static int Launch(Dim3 grid, Dim3 block, size_t shared_bytes, void* stream, uint64_t argument) {
    if (__cudaPushCallConfiguration(grid, block, shared_bytes, stream) != 0) return 1;
    return Stub(argument);
  }

 private:
  static int Stub(uint64_t argument) {
    Dim3 grid;
    Dim3 block;
    size_t shared_bytes = 0;
    void* stream = nullptr;
    void* arguments[] = {&argument};
    if (__cudaPopCallConfiguration(&grid, &block, &shared_bytes, &stream) != 0) return 1;
#if SIMCUDA_MAJOR == 12
    return cudaLaunchKernel(reinterpret_cast<const void*>(&Host), grid, block, arguments,
                            shared_bytes, stream);
#else
    static void* kernel = nullptr;
    static const int found = __cudaGetKernel(&kernel, reinterpret_cast<const void*>(&Host));
    return found != 0 ? found
                      : __cudaLaunchKernel(kernel, grid, block, arguments, shared_bytes, stream);
#endif
  }
};

#endif  // SIMCUDA_PROGRAMS_LAUNCH_STUBS_H_
