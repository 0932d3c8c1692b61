// Work, and graphs of it. The model lock guards all of this.
#ifndef SIMCUDA_CORE_GRAPH_H_
#define SIMCUDA_CORE_GRAPH_H_

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "core/interface.h"

namespace simcuda {

struct Context;

// A kernel function of a loaded module.
struct Kernel {
  std::string name;   // as the module has it, mangled
  std::string plain;  // demangled, without parameters, templates and namespaces
  uint32_t registers;
  uint32_t static_shared_bytes;
  uint32_t dynamic_shared_limit = 48 << 10;
  bool duration_is_argument;  // sim_spin*: its first argument is its duration in nanoseconds
};

enum class NodeType : int {  // CUDA's numbers of graph node types
  kKernel = 0,
  kMemcpy = 1,
  kMemset = 2,
  kHost = 3,
  kGraph = 4,
  kEmpty = 5,
};

// Something to be done by a stream, or by a node of a graph.
struct Work {
  NodeType type = NodeType::kEmpty;
  DeviceOperation operation{};  // all but where and when
  const Kernel* kernel = nullptr;
  uint64_t duration_ns = 0;          // of a kernel: what its argument asked for
  std::function<void()> effect{};    // the change of memory, made when the work is submitted
  std::function<void()> function{};  // a host function, called when its time has come
};

struct Graph;

struct GraphNode {
  Graph* graph;
  uint64_t id;
  Work work;
  std::vector<GraphNode*> dependencies;
  Graph* child = nullptr;
};

struct Graph {
  uint32_t id;
  std::vector<std::unique_ptr<GraphNode>> nodes{};
};

// A graph made ready: its nodes, children's among them, in an order in which each follows its
// dependencies.
struct GraphExec {
  struct Node {
    Work work;
    std::vector<size_t> dependencies;  // positions in `nodes`
  };
  uint32_t id;
  bool traced = false;  // launches of graphs were traced when it was made ready
  std::vector<Node> nodes{};
};

Graph* CreateGraph();
void DestroyGraph(Graph* graph);
bool IsGraph(const Graph* graph);
GraphNode* AddNode(Graph* graph, Work work, std::vector<GraphNode*> dependencies);
bool IsNode(const GraphNode* node);

// Null: the dependencies form a circle.
GraphExec* Instantiate(const Graph& graph);
void DestroyExec(GraphExec* exec);
bool IsExec(const GraphExec* exec);

}  // namespace simcuda

#endif  // SIMCUDA_CORE_GRAPH_H_
