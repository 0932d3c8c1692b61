#include "core/capture.h"

#include <algorithm>
#include <unordered_set>

#include "core/status.h"

namespace simcuda {
namespace {

void Leave(Capture* capture) {
  for (Stream* stream : capture->streams) {
    stream->capture = nullptr;
    stream->frontier.clear();
  }
}

// Everything that `nodes` follow, themselves included.
std::unordered_set<const GraphNode*> Reached(const std::vector<GraphNode*>& nodes) {
  std::unordered_set<const GraphNode*> reached;
  std::vector<const GraphNode*> open(nodes.begin(), nodes.end());
  while (!open.empty()) {
    const GraphNode* node = open.back();
    open.pop_back();
    if (!reached.insert(node).second) continue;
    open.insert(open.end(), node->dependencies.begin(), node->dependencies.end());
  }
  return reached;
}

bool Joined(const Capture& capture) {
  auto reached = Reached(capture.origin->frontier);
  for (const Stream* stream : capture.streams) {
    for (const GraphNode* node : stream->frontier) {
      if (reached.count(node) == 0) return false;
    }
  }
  return true;
}

}  // namespace

int BeginCapture(Stream* stream, Graph* into, std::vector<GraphNode*> dependencies) {
  static uint64_t last_id = 0;
  if (stream->capture != nullptr || stream == stream->context->legacy) return kCaptureUnsupported;
  Graph* graph = into == nullptr ? CreateGraph() : into;
  stream->capture = new Capture{++last_id, graph, stream, {stream}};
  stream->frontier = std::move(dependencies);
  return kSuccess;
}

int EndCapture(Stream* stream, Graph** graph) {
  Capture* capture = stream->capture;
  *graph = nullptr;
  if (capture == nullptr || capture->origin != stream) return kCaptureUnmatched;
  bool joined = Joined(*capture);
  Leave(capture);
  if (joined) {
    *graph = capture->graph;
  } else {
    DestroyGraph(capture->graph);
  }
  capture->graph = nullptr;
  return joined ? kSuccess : kCaptureUnjoined;
}

int CaptureWork(Stream* stream, Work work) {
  stream->frontier = {AddNode(stream->capture->graph, std::move(work), stream->frontier)};
  return kSuccess;
}

int CaptureWait(Stream* stream, const Event& event) {
  if (event.capture == nullptr) return kCaptureIsolation;
  if (event.capture->graph == nullptr) return kCapturedEvent;
  if (stream->capture == nullptr) {
    stream->capture = event.capture;
    event.capture->streams.push_back(stream);
  }
  if (stream->capture != event.capture) return kCaptureIsolation;
  for (GraphNode* node : event.frontier) {
    auto& frontier = stream->frontier;
    if (std::find(frontier.begin(), frontier.end(), node) == frontier.end())
      frontier.push_back(node);
  }
  return kSuccess;
}

}  // namespace simcuda
