// When things happen on the simulated device: submission of work, synchronisation, events, graph
// launches.
#ifndef SIMCUDA_CORE_TIMELINE_H_
#define SIMCUDA_CORE_TIMELINE_H_

#include <mutex>
#include <vector>

#include "core/context.h"
#include "core/graph.h"

namespace simcuda {

// Holds the model's lock; on its end lets go and then makes what was submitted known, to the truth
// file and to CUPTI: a CUPTI client's code never runs under the lock.
class Submission {
 public:
  Submission() : guard_(ModelLock()) {}
  ~Submission();
  Submission(const Submission&) = delete;
  Submission& operator=(const Submission&) = delete;

  // Puts the work at the end of the stream, or into the graph that the stream is capturing. Returns
  // a status.
  int Add(Stream* stream, Work work);
  // Starts every node when its dependencies have ended.
  int Launch(const GraphExec& exec, Stream* stream);
  void Record(Event* event, Stream* stream);
  int WaitEvent(Stream* stream, Event* event);

 private:
  void Place(const Stream& stream, uint64_t earliest_ns, DeviceOperation* operation,
             const Work& work);
  void Keep(const DeviceOperation& operation) { operations_.push_back(operation); }

  std::unique_lock<std::mutex> guard_;
  std::vector<DeviceOperation> operations_;
};

// When all that was submitted to the stream will have ended; for the legacy stream, what it waits
// for included. With the lock held.
uint64_t ReadyNs(const Stream& stream);

// Waits until `ready_ns` and for host functions of the stream (null: of the context), then makes
// the synchronisation known. Without the lock.
void Synchronize(SyncType type, uint64_t ready_ns, const Context& context, uint32_t stream,
                 uint32_t event);

// Writes the operation into the truth file and hands it to CUPTI. Without the lock.
void Publish(const DeviceOperation& operation);

}  // namespace simcuda

#endif  // SIMCUDA_CORE_TIMELINE_H_
