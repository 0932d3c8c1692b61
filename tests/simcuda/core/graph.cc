#include "core/graph.h"

#include <unordered_map>
#include <unordered_set>

namespace simcuda {
namespace {

struct Handles {
  std::unordered_set<const void*> graphs;
  std::unordered_set<const void*> nodes;
  std::unordered_set<const void*> execs;
  uint32_t last_graph = 0;  // graphs and executable graphs share CUPTI's numbers
  uint64_t last_node = 0;
};

Handles& All() {
  static Handles& handles = *new Handles;
  return handles;
}

// Lays nodes out depth first, dependencies before dependents.
class Layout {
 public:
  explicit Layout(GraphExec* exec) : exec_(exec) {}

  bool AddGraph(const Graph& graph, const std::vector<size_t>& after, std::vector<size_t>* leaves) {
    std::unordered_set<const GraphNode*> with_dependents;
    for (const auto& node : graph.nodes) {
      if (!AddNode(*node, after)) return false;
      with_dependents.insert(node->dependencies.begin(), node->dependencies.end());
    }
    for (const auto& node : graph.nodes) {
      if (with_dependents.count(node.get()) == 0) Append(ends_[node.get()], leaves);
    }
    return true;
  }

 private:
  static void Append(const std::vector<size_t>& from, std::vector<size_t>* to) {
    to->insert(to->end(), from.begin(), from.end());
  }

  bool AddNode(const GraphNode& node, const std::vector<size_t>& after) {
    if (ends_.count(&node) != 0) return true;
    if (!open_.insert(&node).second) return false;
    std::vector<size_t> dependencies = after;
    for (const GraphNode* dependency : node.dependencies) {
      if (!AddNode(*dependency, after)) return false;
      Append(ends_[dependency], &dependencies);
    }
    std::vector<size_t> ends;
    if (node.child != nullptr) {
      if (!AddGraph(*node.child, dependencies, &ends)) return false;
      if (ends.empty()) ends = dependencies;
    } else {
      ends.push_back(exec_->nodes.size());
      exec_->nodes.push_back({node.work, dependencies});
    }
    ends_[&node] = ends;
    return true;
  }

  GraphExec* exec_;
  std::unordered_map<const GraphNode*, std::vector<size_t>>
      ends_;  // where what follows a node begins
  std::unordered_set<const GraphNode*> open_;
};

}  // namespace

Graph* CreateGraph() {
  auto* graph = new Graph{++All().last_graph};
  All().graphs.insert(graph);
  return graph;
}

void DestroyGraph(Graph* graph) {
  for (const auto& node : graph->nodes) All().nodes.erase(node.get());
  All().graphs.erase(graph);
  delete graph;
}

bool IsGraph(const Graph* graph) { return All().graphs.count(graph) != 0; }

GraphNode* AddNode(Graph* graph, Work work, std::vector<GraphNode*> dependencies) {
  graph->nodes.emplace_back(
      new GraphNode{graph, ++All().last_node, std::move(work), std::move(dependencies)});
  All().nodes.insert(graph->nodes.back().get());
  return graph->nodes.back().get();
}

bool IsNode(const GraphNode* node) { return All().nodes.count(node) != 0; }

GraphExec* Instantiate(const Graph& graph) {
  const bool traced = simcuda_core()->tools.traces_graphs;
  auto exec = std::make_unique<GraphExec>(GraphExec{++All().last_graph, traced});
  std::vector<size_t> leaves;
  if (!Layout(exec.get()).AddGraph(graph, {}, &leaves)) return nullptr;
  All().execs.insert(exec.get());
  return exec.release();
}

void DestroyExec(GraphExec* exec) {
  All().execs.erase(exec);
  delete exec;
}

bool IsExec(const GraphExec* exec) { return All().execs.count(exec) != 0; }

}  // namespace simcuda
