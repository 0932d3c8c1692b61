// Graphs: made node by node or by capture, instantiated, launched.
#include <algorithm>
#include <cstring>
#include <unordered_map>

#include "core/copy_work.h"
#include "core/graph.h"
#include "core/kernels.h"
#include "core/timeline.h"
#include "driver/call.h"
#include "driver/copy_rows.h"

namespace simcuda {
namespace {

// Adds a node under the lock.
int Add(void** node, void* handle, void* const* dependencies, size_t count, Work work,
        Graph* child = nullptr) {
  std::lock_guard<std::mutex> guard(ModelLock());
  auto* graph = static_cast<Graph*>(handle);
  if (!IsGraph(graph)) return kInvalidHandle;
  auto* first = reinterpret_cast<GraphNode* const*>(dependencies);
  std::vector<GraphNode*> nodes(first, first + count);
  for (const GraphNode* dependency : nodes) {
    if (!IsNode(dependency) || dependency->graph != graph) return kInvalidValue;
  }
  GraphNode* added = AddNode(graph, std::move(work), nodes);
  added->child = child;
  *node = added;
  return kSuccess;
}

int AddKernel(void** node, void* graph, void* const* dependencies, size_t count,
              const KernelNode& kernel) {
  void* function = kernel.function != nullptr ? kernel.function : kernel.kernel;
  if (!IsKernel(function)) return kInvalidHandle;
  Shape shape = {};
  memcpy(shape.grid, kernel.grid, sizeof(shape.grid));
  memcpy(shape.block, kernel.block, sizeof(shape.block));
  shape.shared_bytes = kernel.shared_bytes;
  return Add(node, graph, dependencies, count,
             LaunchWork(*static_cast<Kernel*>(function), shape, kernel.arguments, kernel.extra));
}

int AddMemset(void** node, void* graph, void* const* dependencies, size_t count,
              const MemsetNode& set) {
  return Add(node, graph, dependencies, count,
             MemsetWork(reinterpret_cast<void*>(set.destination), set.pitch, set.value,
                        set.element_bytes, set.width, set.height, true));
}

int AddHost(void** node, void* graph, void* const* dependencies, size_t count,
            const HostNode& host) {
  Work work;
  work.type = NodeType::kHost;
  work.operation.kind = OperationKind::kHostFunction;
  work.function = [host] { host.function(host.data); };
  return Add(node, graph, dependencies, count, std::move(work));
}

// A graph with the same nodes; what is done to either later does not touch the other.
Graph* Clone(const Graph& graph) {
  Graph* clone = CreateGraph();
  std::unordered_map<const GraphNode*, GraphNode*> twins;
  for (const auto& node : graph.nodes) {
    twins[node.get()] = AddNode(clone, node->work, {});
    twins[node.get()]->child = node->child == nullptr ? nullptr : Clone(*node->child);
  }
  for (const auto& node : graph.nodes) {
    for (const GraphNode* dependency : node->dependencies) {
      twins[node.get()]->dependencies.push_back(twins[dependency]);
    }
  }
  return clone;
}

// The clone of a graph that a program names, or null.
Graph* CloneOf(void* handle) {
  std::lock_guard<std::mutex> guard(ModelLock());
  auto* graph = static_cast<Graph*>(handle);
  return IsGraph(graph) ? Clone(*graph) : nullptr;
}

int AddDependencies(void* handle, void* const* from, void* const* to, size_t count) {
  std::lock_guard<std::mutex> guard(ModelLock());
  for (size_t i = 0; i < count; ++i) {
    auto* before = static_cast<GraphNode*>(from[i]);
    auto* after = static_cast<GraphNode*>(to[i]);
    if (!IsNode(before) || !IsNode(after) || before->graph != handle || after->graph != handle) {
      return kInvalidValue;
    }
    after->dependencies.push_back(before);
  }
  return kSuccess;
}

// CUDA's convention: with no array the count alone is given, else as many as it holds.
int List(void* handle, void** nodes, size_t* count, bool roots) {
  std::lock_guard<std::mutex> guard(ModelLock());
  auto* graph = static_cast<Graph*>(handle);
  if (!IsGraph(graph)) return kInvalidHandle;
  size_t found = 0;
  for (const auto& node : graph->nodes) {
    if (roots && !node->dependencies.empty()) continue;
    if (nodes != nullptr && found < *count) nodes[found] = node.get();
    ++found;
  }
  *count = nodes == nullptr ? found : std::min(found, *count);
  return kSuccess;
}

int MakeReady(void** exec, void* handle) {
  std::lock_guard<std::mutex> guard(ModelLock());
  auto* graph = static_cast<Graph*>(handle);
  if (!IsGraph(graph)) return kInvalidHandle;
  *exec = Instantiate(*graph);
  return *exec == nullptr ? kInvalidValue : kSuccess;
}

int Launch(void* handle, void* stream_handle) {
  Submission submission;
  auto* exec = static_cast<GraphExec*>(handle);
  Stream* stream = FindStream(stream_handle);
  if (!IsExec(exec) || stream == nullptr) return kInvalidHandle;
  return submission.Launch(*exec, stream);
}

}  // namespace
}  // namespace simcuda

using namespace simcuda;  // NOLINT: the rest of the file is the C interface

SIM_EXPORT int cuGraphCreate(void** graph, unsigned) {
  SIM_CALL({
    std::lock_guard<std::mutex> guard(ModelLock());
    *graph = CreateGraph();
    return kSuccess;
  });
}

SIM_EXPORT int cuGraphDestroy(void* graph) {
  SIM_CALL({
    std::lock_guard<std::mutex> guard(ModelLock());
    if (!IsGraph(static_cast<Graph*>(graph))) return kInvalidHandle;
    DestroyGraph(static_cast<Graph*>(graph));
    return kSuccess;
  });
}

SIM_EXPORT int cuGraphClone(void** clone, void* graph) {
  SIM_CALL({
    *clone = CloneOf(graph);
    return *clone == nullptr ? kInvalidHandle : kSuccess;
  });
}

SIM_EXPORT int cuGraphAddKernelNode_v2(void** node, void* graph, void* const* dependencies,
                                       size_t count, const KernelNode* kernel) {
  SIM_CALL({ return AddKernel(node, graph, dependencies, count, *kernel); });
}

SIM_EXPORT int cuGraphAddMemcpyNode(void** node, void* graph, void* const* dependencies,
                                    size_t count, const Copy3D* copy, void*) {
  SIM_CALL({
    if (copy->depth > 1) return kNotSupported;
    return Add(node, graph, dependencies, count, CopyWork(SliceOf(*copy), true));
  });
}

SIM_EXPORT int cuGraphAddMemsetNode(void** node, void* graph, void* const* dependencies,
                                    size_t count, const MemsetNode* memset, void*) {
  SIM_CALL({ return AddMemset(node, graph, dependencies, count, *memset); });
}

SIM_EXPORT int cuGraphAddHostNode(void** node, void* graph, void* const* dependencies, size_t count,
                                  const HostNode* host) {
  SIM_CALL({ return AddHost(node, graph, dependencies, count, *host); });
}

SIM_EXPORT int cuGraphAddEmptyNode(void** node, void* graph, void* const* dependencies,
                                   size_t count) {
  SIM_CALL({ return Add(node, graph, dependencies, count, Work{}); });
}

SIM_EXPORT int cuGraphAddChildGraphNode(void** node, void* graph, void* const* dependencies,
                                        size_t count, void* child) {
  SIM_CALL({
    Graph* clone = CloneOf(child);
    if (clone == nullptr) return kInvalidHandle;
    Work work;
    work.type = NodeType::kGraph;
    return Add(node, graph, dependencies, count, std::move(work), clone);
  });
}

SIM_EXPORT int cuGraphAddDependencies(void* graph, void* const* from, void* const* to,
                                      size_t count) {
  SIM_CALL({ return AddDependencies(graph, from, to, count); });
}

SIM_EXPORT int cuGraphAddDependencies_v2(void* graph, void* const* from, void* const* to,
                                         const void*, size_t count) {
  SIM_CALL({ return AddDependencies(graph, from, to, count); });
}

SIM_EXPORT int cuGraphGetNodes(void* graph, void** nodes, size_t* count) {
  SIM_CALL({ return List(graph, nodes, count, false); });
}

SIM_EXPORT int cuGraphGetRootNodes(void* graph, void** nodes, size_t* count) {
  SIM_CALL({ return List(graph, nodes, count, true); });
}

SIM_EXPORT int cuGraphNodeGetType(void* node, int* type) {
  SIM_CALL({
    std::lock_guard<std::mutex> guard(ModelLock());
    if (!IsNode(static_cast<GraphNode*>(node))) return kInvalidValue;
    *type = static_cast<int>(static_cast<GraphNode*>(node)->work.type);
    return kSuccess;
  });
}

SIM_EXPORT int cuGraphInstantiateWithFlags(void** exec, void* graph, unsigned long long) {
  SIM_CALL({ return MakeReady(exec, graph); });
}

SIM_STREAM_CALL(cuGraphInstantiateWithParams, _ptsz, (void** exec, void* graph, void*),
                { return MakeReady(exec, graph); })

SIM_EXPORT int cuGraphExecDestroy(void* exec) {
  SIM_CALL({
    std::lock_guard<std::mutex> guard(ModelLock());
    if (!IsExec(static_cast<GraphExec*>(exec))) return kInvalidHandle;
    DestroyExec(static_cast<GraphExec*>(exec));
    return kSuccess;
  });
}

SIM_STREAM_CALL(cuGraphLaunch, _ptsz, (void* exec, void* stream),
                { return Launch(exec, On(stream)); })

SIM_STREAM_CALL(cuGraphUpload, _ptsz, (void* exec, void*), {
  std::lock_guard<std::mutex> guard(ModelLock());
  return IsExec(static_cast<GraphExec*>(exec)) ? kSuccess : kInvalidHandle;
})
