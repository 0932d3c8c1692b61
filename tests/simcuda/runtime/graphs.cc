// Graphs.
#include <cstring>

#include "runtime/call.h"
#include "runtime/copy_3d.h"
#include "runtime/registration.h"

namespace simcuda {
namespace {

// cudaKernelNodeParams.
struct KernelParameters {
  void* kernel;
  uint32_t grid[3];
  uint32_t block[3];
  uint32_t shared_bytes;
  void** arguments;
  void** extra;
};
static_assert(sizeof(KernelParameters) == 56, "cudaKernelNodeParams of driver_types.h");

int AddKernel(void** node, void* graph, void* const* dependencies, size_t count,
              const KernelParameters& parameters) {
  RegisteredKernel* kernel = FindRegistered(parameters.kernel);
  if (kernel == nullptr) return kInvalidDeviceFunction;
  KernelNode launch{};
  int status = DriverFunction(kernel, &launch.function);
  if (status != kSuccess) return status;
  memcpy(launch.grid, parameters.grid, sizeof(launch.grid));
  memcpy(launch.block, parameters.block, sizeof(launch.block));
  launch.shared_bytes = parameters.shared_bytes;
  launch.arguments = parameters.arguments;
  launch.extra = parameters.extra;
  return DRIVER(cuGraphAddKernelNode_v2)(node, graph, dependencies, count, &launch);
}

int AddCopy(void** node, void* graph, void* const* dependencies, size_t count, const Copy3D& copy) {
  void* context = nullptr;
  int status = DRIVER(cuCtxGetCurrent)(&context);
  if (status != kSuccess) return status;
  return DRIVER(cuGraphAddMemcpyNode)(node, graph, dependencies, count, &copy, context);
}

}  // namespace
}  // namespace simcuda

using namespace simcuda;  // NOLINT: the rest of the file is the C interface

SIM_EXPORT int cudaGraphCreate(void** graph, unsigned flags) {
  SIM_CALL({ return DRIVER(cuGraphCreate)(graph, flags); });
}

SIM_EXPORT int cudaGraphDestroy(void* graph) {
  SIM_CALL({ return DRIVER(cuGraphDestroy)(graph); });
}

SIM_EXPORT int cudaGraphClone(void** clone, void* graph) {
  SIM_CALL({ return DRIVER(cuGraphClone)(clone, graph); });
}

SIM_EXPORT int cudaGraphAddKernelNode(void** node, void* graph, void* const* dependencies,
                                      size_t count, const KernelParameters* kernel) {
  SIM_CALL({ return AddKernel(node, graph, dependencies, count, *kernel); });
}

SIM_EXPORT int cudaGraphAddMemcpyNode1D(void** node, void* graph, void* const* dependencies,
                                        size_t count, void* destination, const void* source,
                                        size_t bytes, int) {
  SIM_CALL(
      { return AddCopy(node, graph, dependencies, count, OneRow(destination, source, bytes)); });
}

SIM_EXPORT int cudaGraphAddMemcpyNode(void** node, void* graph, void* const* dependencies,
                                      size_t count, const Copy3DParameters* copy) {
  SIM_CALL({ return AddCopy(node, graph, dependencies, count, Describe(*copy)); });
}

SIM_EXPORT int cudaGraphAddMemsetNode(void** node, void* graph, void* const* dependencies,
                                      size_t count, const MemsetNode* memset) {
  SIM_CALL(
      { return DRIVER(cuGraphAddMemsetNode)(node, graph, dependencies, count, memset, nullptr); });
}

SIM_EXPORT int cudaGraphAddHostNode(void** node, void* graph, void* const* dependencies,
                                    size_t count, const HostNode* host) {
  SIM_CALL({ return DRIVER(cuGraphAddHostNode)(node, graph, dependencies, count, host); });
}

SIM_EXPORT int cudaGraphAddEmptyNode(void** node, void* graph, void* const* dependencies,
                                     size_t count) {
  SIM_CALL({ return DRIVER(cuGraphAddEmptyNode)(node, graph, dependencies, count); });
}

SIM_EXPORT int cudaGraphAddChildGraphNode(void** node, void* graph, void* const* dependencies,
                                          size_t count, void* child) {
  SIM_CALL({ return DRIVER(cuGraphAddChildGraphNode)(node, graph, dependencies, count, child); });
}

#if SIMCUDA_MAJOR == 12
SIM_EXPORT int cudaGraphAddDependencies(void* graph, void* const* from, void* const* to,
                                        size_t count) {
  SIM_CALL({ return DRIVER(cuGraphAddDependencies_v2)(graph, from, to, nullptr, count); });
}

SIM_EXPORT int cudaGraphAddDependencies_v2(void* graph, void* const* from, void* const* to,
                                           const void* edges, size_t count) {
  SIM_CALL({ return DRIVER(cuGraphAddDependencies_v2)(graph, from, to, edges, count); });
}
#else
SIM_EXPORT int cudaGraphAddDependencies(void* graph, void* const* from, void* const* to,
                                        const void* edges, size_t count) {
  SIM_CALL({ return DRIVER(cuGraphAddDependencies_v2)(graph, from, to, edges, count); });
}
#endif

SIM_EXPORT int cudaGraphGetNodes(void* graph, void** nodes, size_t* count) {
  SIM_CALL({ return DRIVER(cuGraphGetNodes)(graph, nodes, count); });
}

SIM_EXPORT int cudaGraphGetRootNodes(void* graph, void** nodes, size_t* count) {
  SIM_CALL({ return DRIVER(cuGraphGetRootNodes)(graph, nodes, count); });
}

SIM_EXPORT int cudaGraphNodeGetType(void* node, int* type) {
  SIM_CALL({ return DRIVER(cuGraphNodeGetType)(node, type); });
}

SIM_EXPORT int cudaGraphInstantiate(void** exec, void* graph, unsigned long long flags) {
  SIM_CALL({ return DRIVER(cuGraphInstantiateWithFlags)(exec, graph, flags); });
}

SIM_EXPORT int cudaGraphInstantiateWithFlags(void** exec, void* graph, unsigned long long flags) {
  SIM_CALL({ return DRIVER(cuGraphInstantiateWithFlags)(exec, graph, flags); });
}

SIM_STREAM_CALL(cudaGraphInstantiateWithParams, _ptsz, (void** exec, void* graph, void*),
                { return DRIVER(cuGraphInstantiateWithFlags)(exec, graph, 0); })

SIM_EXPORT int cudaGraphExecDestroy(void* exec) {
  SIM_CALL({ return DRIVER(cuGraphExecDestroy)(exec); });
}

SIM_STREAM_CALL(cudaGraphLaunch, _ptsz, (void* exec, void* stream),
                { return DRIVER(cuGraphLaunch)(exec, On(stream)); })

SIM_STREAM_CALL(cudaGraphUpload, _ptsz, (void* exec, void* stream),
                { return DRIVER(cuGraphUpload)(exec, On(stream)); })
