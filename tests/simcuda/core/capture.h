// Stream capture: work submitted to a capturing stream becomes nodes of a graph. The model lock
// guards all of this.
#ifndef SIMCUDA_CORE_CAPTURE_H_
#define SIMCUDA_CORE_CAPTURE_H_

#include <vector>

#include "core/context.h"
#include "core/graph.h"

namespace simcuda {

// One capture: from cuStreamBeginCapture on its origin to cuStreamEndCapture there. Never
// destroyed: events recorded in it point here until they are recorded anew.
struct Capture {
  uint64_t id;
  Graph* graph;  // null: the capture has ended
  Stream* origin;
  std::vector<Stream*>
      streams;  // that take part: the origin, and each that waited for an event of the capture
};

int BeginCapture(Stream* stream, Graph* into, std::vector<GraphNode*> dependencies);
// The graph, or an error (and no graph) when a stream that was forked off never joined the origin
// again.
int EndCapture(Stream* stream, Graph** graph);
int CaptureWork(Stream* stream, Work work);
// A wait inside a capture: the stream joins the event's capture.
int CaptureWait(Stream* stream, const Event& event);

}  // namespace simcuda

#endif  // SIMCUDA_CORE_CAPTURE_H_
