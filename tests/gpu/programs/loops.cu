// Known work by the CUDA runtime library, one loop after the other; says what was made.
//
//   loops [LAUNCHES]     LAUNCHES: that many launches and nothing else
//
// What a device or a driver does not have is listed as unsupported, and nothing of it is made.
#include <cooperative_groups.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include <map>
#include <string>
#include <thread>
#include <vector>

namespace {

constexpr int kBytes = 1 << 16;
constexpr int kThreads = 8;

struct Made {
  std::map<std::string, long> kernels, copies;
  long copied_bytes = 0, sets = 0, set_bytes = 0, graphs = 0;
  std::vector<std::string> unsupported;
};
Made made;

void Check(cudaError_t status, const char* what) {
  if (status == cudaSuccess) return;
  fprintf(stderr, "%s: %s\n", what, cudaGetErrorString(status));
  exit(1);
}
#define CHECK(call) Check(call, #call)

// True if the first call of a loop works; else the loop is unsupported.
bool Works(const char* loop, cudaError_t status) {
  if (status == cudaSuccess) return true;
  made.unsupported.push_back(std::string(loop) + ": " + cudaGetErrorString(status));
  cudaGetLastError();
  return false;
}

__global__ void Launched(float* x) { x[threadIdx.x] += 1; }
__global__ void Streamed(float* x) { x[threadIdx.x] += 2; }
__global__ void Threaded(float* x) { x[threadIdx.x] += 3; }
__global__ void Pooled(float* x) { x[threadIdx.x] += 4; }
__global__ void Captured(float* x) { x[threadIdx.x] += 5; }
__global__ void Clustered(float* x) { x[threadIdx.x] += 6; }
__global__ void Cooperating(float* x) {
  cooperative_groups::this_grid().sync();
  x[threadIdx.x] += 7;
}

float* DeviceMemory() {
  float* memory = nullptr;
  CHECK(cudaMalloc(&memory, kBytes));
  return memory;
}

void Launches(long count) {
  float* memory = DeviceMemory();
  for (long i = 0; i < count; i++) Launched<<<1, 32>>>(memory);
  CHECK(cudaDeviceSynchronize());
  made.kernels["Launched"] += count;
}

// Streams that wait for each other by events.
void Streams() {
  constexpr int kStreams = 8, kRounds = 250;
  float* memory = DeviceMemory();
  cudaStream_t streams[kStreams];
  cudaEvent_t events[kStreams];
  for (auto& stream : streams) CHECK(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
  for (auto& event : events) CHECK(cudaEventCreateWithFlags(&event, cudaEventDisableTiming));
  for (int round = 0; round < kRounds; round++) {
    for (int i = 0; i < kStreams; i++) {
      Streamed<<<2, 64, 0, streams[i]>>>(memory);
      CHECK(cudaEventRecord(events[i], streams[i]));
      CHECK(cudaStreamWaitEvent(streams[(i + 1) % kStreams], events[i], 0));
    }
  }
  for (auto& stream : streams) CHECK(cudaStreamSynchronize(stream));
  made.kernels["Streamed"] += kStreams * kRounds;
}

void Threads() {
  constexpr int kLaunches = 1000;
  std::vector<std::thread> threads;
  for (int i = 0; i < kThreads; i++) {
    threads.emplace_back([] {
      cudaStream_t stream;
      CHECK(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
      float* memory = DeviceMemory();
      for (int j = 0; j < kLaunches; j++) Threaded<<<1, 32, 0, stream>>>(memory);
      CHECK(cudaStreamSynchronize(stream));
    });
  }
  for (auto& thread : threads) thread.join();
  made.kernels["Threaded"] += kThreads * kLaunches;
}

// Copies from pageable and pinned memory, both ways, whole and by rows, and on the device; sets.
void Copies() {
  constexpr int kRounds = 100;
  float* device = DeviceMemory();
  float* other = DeviceMemory();
  float* pinned = nullptr;
  std::vector<char> pageable(kBytes);
  CHECK(cudaMallocHost(&pinned, kBytes));
  for (int i = 0; i < kRounds; i++) {
    CHECK(cudaMemcpy(device, pageable.data(), kBytes, cudaMemcpyHostToDevice));
    CHECK(cudaMemcpyAsync(device, pinned, kBytes, cudaMemcpyHostToDevice, 0));
    CHECK(cudaMemcpy2DAsync(pinned, 512, device, 512, 256, 64, cudaMemcpyDeviceToHost, 0));
    CHECK(cudaMemcpyAsync(other, device, kBytes, cudaMemcpyDeviceToDevice, 0));
    CHECK(cudaMemcpy(pageable.data(), other, kBytes, cudaMemcpyDeviceToHost));
    CHECK(cudaMemset(device, 0, kBytes));
    CHECK(cudaMemsetAsync(other, 0, kBytes / 2, 0));
  }
  CHECK(cudaDeviceSynchronize());
  made.copies["HtoD"] += 2 * kRounds;
  made.copies["DtoH"] += 2 * kRounds;
  made.copies["DtoD"] += kRounds;
  made.copied_bytes += static_cast<long>(kRounds) * (4 * kBytes + 256 * 64);
  made.sets += 2 * kRounds;
  made.set_bytes += static_cast<long>(kRounds) * (kBytes + kBytes / 2);
}

// Stream-ordered allocation.
void Pool() {
  constexpr int kRounds = 500;
  cudaStream_t stream;
  CHECK(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
  for (int i = 0; i < kRounds; i++) {
    float* memory = nullptr;
    const cudaError_t status = cudaMallocAsync(&memory, kBytes, stream);
    if (i == 0 && !Works("stream-ordered allocation", status)) return;
    CHECK(status);
    Pooled<<<1, 32, 0, stream>>>(memory);
    CHECK(cudaFreeAsync(memory, stream));
  }
  CHECK(cudaStreamSynchronize(stream));
  made.kernels["Pooled"] += kRounds;
}

// A graph of kernels, a copy and a set, captured once and launched often. Its launches are counted:
// what it consists of has no records of its own.
void Graph() {
  constexpr int kLaunches = 200;
  float* memory = DeviceMemory();
  cudaStream_t stream;
  cudaGraph_t graph;
  cudaGraphExec_t executable;
  CHECK(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
  CHECK(cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal));
  for (int i = 0; i < 5; i++) Captured<<<1, 32, 0, stream>>>(memory);
  CHECK(cudaMemsetAsync(memory, 0, 1024, stream));
  CHECK(cudaMemcpyAsync(memory + 512, memory, 1024, cudaMemcpyDeviceToDevice, stream));
  CHECK(cudaStreamEndCapture(stream, &graph));
  CHECK(cudaGraphInstantiate(&executable, graph, 0));
  for (int i = 0; i < kLaunches; i++) CHECK(cudaGraphLaunch(executable, stream));
  CHECK(cudaStreamSynchronize(stream));
  made.graphs += kLaunches;
}

void Cooperative() {
  constexpr int kLaunches = 100;
  float* memory = DeviceMemory();
  void* arguments[] = {&memory};
  for (int i = 0; i < kLaunches; i++) {
    const cudaError_t status = cudaLaunchCooperativeKernel(
        reinterpret_cast<void*>(&Cooperating), dim3(4), dim3(32), arguments, 0, nullptr);
    if (i == 0 && !Works("cooperative launch", status)) return;
    CHECK(status);
  }
  CHECK(cudaDeviceSynchronize());
  made.kernels["Cooperating"] += kLaunches;
}

void Clusters() {
  constexpr int kLaunches = 100;
  float* memory = DeviceMemory();
  cudaLaunchAttribute attribute = {};
  attribute.id = cudaLaunchAttributeClusterDimension;
  attribute.val.clusterDim.x = 2;
  attribute.val.clusterDim.y = attribute.val.clusterDim.z = 1;
  cudaLaunchConfig_t shape = {};
  shape.gridDim = dim3(4);
  shape.blockDim = dim3(32);
  shape.attrs = &attribute;
  shape.numAttrs = 1;
  for (int i = 0; i < kLaunches; i++) {
    const cudaError_t status = cudaLaunchKernelEx(&shape, Clustered, memory);
    if (i == 0 && !Works("cluster launch", status)) return;
    CHECK(status);
  }
  CHECK(cudaDeviceSynchronize());
  made.kernels["Clustered"] += kLaunches;
}

void Say(const char* name, const std::map<std::string, long>& counts) {
  printf("\"%s\": {", name);
  const char* comma = "";
  for (const auto& [key, count] : counts) {
    printf("%s\"%s\": %ld", comma, key.c_str(), count);
    comma = ", ";
  }
  printf("}, ");
}

}  // namespace

int main(int count, char** words) {
  if (count > 1) {
    Launches(atol(words[1]));
  } else {
    Launches(10000);
    Streams();
    Threads();
    Copies();
    Pool();
    Graph();
    Cooperative();
    Clusters();
  }
  printf("{\"pid\": %d, ", static_cast<int>(getpid()));
  Say("kernels", made.kernels);
  Say("copies", made.copies);
  printf("\"copied_bytes\": %ld, \"sets\": %ld, \"set_bytes\": %ld, \"graphs\": %ld, ",
         made.copied_bytes, made.sets, made.set_bytes, made.graphs);
  printf("\"unsupported\": [");
  for (size_t i = 0; i < made.unsupported.size(); i++)
    printf("%s\"%s\"", i ? ", " : "", made.unsupported[i].c_str());
  printf("]}\n");
  return 0;
}
