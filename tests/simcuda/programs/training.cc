// A program as nvcc makes them, and the shape of a training loop: threads with two streams each,
// copies from pinned memory, kernels that wait for each other by events, and a captured graph.
//
//   training ROUNDS THREADS [kill [MILLISECONDS]|exit|fork]
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <thread>
#include <vector>

#include "programs/launch_stubs.h"

namespace {

using Spin = Kernel<1>;
using Policy = Kernel<2>;
using Join = Kernel<3>;

constexpr unsigned kNonBlocking = 1;
constexpr unsigned kNoTiming = 2;
constexpr int kToDevice = 1;
constexpr int kToHost = 2;

void Check(int status, const char* what) {
  if (status == 0) return;
  fprintf(stderr, "%s: %d\n", what, status);
  exit(1);
}

__attribute__((constructor)) void Register() {
  void** handle = __cudaRegisterFatBinary(nullptr);
  Spin::Register(handle, "_Z15sim_spin_kernelm");
  Policy::Register(handle, "_Z14policy_forwardm");
  Join::Register(handle, "_Z4joinm");
  __cudaRegisterFatBinaryEnd(handle);
}

struct Worker {
  void* streams[2];
  void* event;
  void* device;
  void* host;

  Worker() {
    for (void*& stream : streams) Check(cudaStreamCreateWithFlags(&stream, kNonBlocking), "stream");
    Check(cudaEventCreateWithFlags(&event, kNoTiming), "event");
    Check(cudaMalloc(&device, 1 << 16), "malloc");
    Check(cudaMallocHost(&host, 1 << 16), "malloc host");
  }

  void Round(int round) {
    Check(cudaMemcpyAsync(device, host, 1 << 16, kToDevice, streams[0]), "copy in");
    Check(Spin::Launch({4}, {128}, 64, streams[0], 3000 + 100 * static_cast<uint64_t>(round % 50)),
          "spin");
    Check(cudaEventRecord(event, streams[0]), "record");
    Check(cudaStreamWaitEvent(streams[1], event, 0), "wait");
    Check(Policy::Launch({1}, {64, 2}, 0, streams[1], 0), "policy");
    Check(cudaMemsetAsync(device, 7, 4096, streams[1]), "memset");
    Check(cudaMemcpyAsync(host, device, 4096, kToHost, streams[1]), "copy out");
    if (round % 10 == 9) Check(cudaStreamSynchronize(streams[1]), "synchronize");
  }
};

void Work(int rounds) {
  Worker worker;
  for (int round = 0; round < rounds; ++round) worker.Round(round);
  for (void* stream : worker.streams) Check(cudaStreamSynchronize(stream), "synchronize");
  Check(cudaFree(worker.device), "free");
  Check(cudaFreeHost(worker.host), "free host");
}

// One kernel, two beside each other on two streams, one that waits for both.
void* CaptureForkAndJoin(void* first, void* second) {
  void* fork = nullptr;
  void* joined = nullptr;
  void* graph = nullptr;
  void* exec = nullptr;
  Check(cudaEventCreateWithFlags(&fork, kNoTiming), "event");
  Check(cudaEventCreateWithFlags(&joined, kNoTiming), "event");
  Check(cudaStreamBeginCapture(first, 0), "begin capture");
  Check(Spin::Launch({1}, {32}, 0, first, 4000), "spin");
  Check(cudaEventRecord(fork, first), "record");
  Check(cudaStreamWaitEvent(second, fork, 0), "fork");
  Check(Spin::Launch({1}, {32}, 0, first, 9000), "long branch");
  Check(Spin::Launch({1}, {32}, 0, second, 2000), "short branch");
  Check(cudaEventRecord(joined, second), "record");
  Check(cudaStreamWaitEvent(first, joined, 0), "join");
  Check(Join::Launch({1}, {32}, 0, first, 0), "join kernel");
  Check(cudaStreamEndCapture(first, &graph), "end capture");
  Check(cudaGraphInstantiate(&exec, graph, 0), "instantiate");
  return exec;
}

void ReplayGraph() {
  void* streams[2];
  for (void*& stream : streams) Check(cudaStreamCreateWithFlags(&stream, kNonBlocking), "stream");
  void* exec = CaptureForkAndJoin(streams[0], streams[1]);
  for (int i = 0; i < 5; ++i) Check(cudaGraphLaunch(exec, streams[0]), "graph");
  Check(cudaDeviceSynchronize(), "synchronize");
}

// In the child of a fork CUDA does not work: 3, "initialization error".
void UseInChild() {
  pid_t child = fork();
  if (child == 0) {
    void* pointer = nullptr;
    _exit(cudaMalloc(&pointer, 64));
  }
  int status = 0;
  waitpid(child, &status, 0);
  printf("child %d\n", WEXITSTATUS(status));
}

}  // namespace

int main(int count, char** words) {
  int rounds = count > 1 ? atoi(words[1]) : 20;
  int threads = count > 2 ? atoi(words[2]) : 2;
  const char* ending = count > 3 ? words[3] : "";
  int devices = 0;
  Check(cudaGetDeviceCount(&devices), "devices");
  std::vector<std::thread> workers;
  for (int i = 0; i < threads; ++i) workers.emplace_back(Work, rounds);
  if (strcmp(ending, "kill") == 0) {
    usleep(1000 * static_cast<unsigned>(count > 4 ? atoi(words[4]) : 100));
    raise(SIGKILL);
  }
  for (std::thread& worker : workers) worker.join();
  ReplayGraph();
  if (strcmp(ending, "fork") == 0) UseInChild();
  puts("done");
  if (strcmp(ending, "exit") == 0) _exit(0);
  return 0;
}
