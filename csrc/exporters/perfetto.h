// Encodes a trace for Perfetto: processes, tracks, slices, flows and counters as TrackEvents.
//
// Each lane of a track is a packet sequence of its own, as if a thread had written it: its times
// are differences, and its texts are numbers. The packet that first uses a number explains it. So
// memory holds one track only.
#ifndef RLSCOPE_EXPORTERS_PERFETTO_H_
#define RLSCOPE_EXPORTERS_PERFETTO_H_

#include <stddef.h>
#include <stdint.h>

#include <string>
#include <vector>

#include "exporters/lanes.h"

namespace rlscope::exporters {

// Texts that slices name by their places.
struct SliceTexts {
  std::vector<std::string> categories;
  std::vector<std::string> names;
  std::vector<std::string> operations;  // paths
};

struct Slice {
  uint64_t track;  // uuid
  int64_t start_ns;
  int64_t end_ns;
  size_t category;
  size_t name;
  uint64_t flow;  // what has the same one is joined by an arrow; 0: none
  // Told where they are not -1:
  int64_t operation;  // place of its path
  int64_t correlation;
  int64_t bytes;
  int64_t graph;
  // The interval of which the slice is a part; told where they differ.
  int64_t whole_start_ns;
  int64_t whole_end_ns;
};

// A packet sequence: one lane, or one counter.
struct PacketSequence {
  uint64_t id;
  int64_t last_ns;
  std::vector<bool> told[4];  // texts, by kind and place
};

class PerfettoEncoder {
 public:
  // Times are not before `origin_ns`.
  PerfettoEncoder(int64_t origin_ns, SliceTexts texts);

  // Each returns the uuid of what it describes.
  uint64_t AddProcess(int32_t pid, const std::string& name, const std::string& label,
                      int64_t start_ns);
  uint64_t AddThread(int32_t pid, int64_t tid, const std::string& name);
  // `parent` 0: of no process. Tracks of one parent are shown by rank.
  uint64_t AddTrack(uint64_t parent, const std::string& name, int32_t rank);
  uint64_t AddCounter(uint64_t parent, const std::string& name, const std::string& unit);

  // Slices of one track come one after the other, as Lanes wants them. Throws
  // std::invalid_argument: times go back; std::out_of_range: there is no such text.
  void Add(const Slice& slice);
  // Readings of one counter, by time.
  void BeginCounter(uint64_t counter);
  void AddReading(int64_t time_ns, double value);
  // Ends the last track.
  void Finish();

  // What was encoded since it was last asked.
  std::string Take();

 private:
  uint64_t Describe(const std::string& descriptor_fields, const std::string& name);
  PacketSequence BeginSequence(uint64_t track);
  void BeginTrack(uint64_t track);
  PacketSequence* SequenceOf(size_t lane);
  void Close(size_t lane, int64_t end_ns);
  void AddAnnotations(const Slice& slice, PacketSequence* sequence);
  void Annotate(size_t name, int64_t value, PacketSequence* sequence);
  void AnnotateOperation(size_t place, PacketSequence* sequence);
  uint64_t TextId(uint32_t kind, size_t place, PacketSequence* sequence);
  void PutEvent(int64_t time_ns, PacketSequence* sequence);
  void PutPacket(const std::string& packet);

  const int64_t origin_ns_;
  const SliceTexts texts_;
  std::string out_;
  std::vector<std::string> names_;  // by uuid, from 1
  uint64_t last_sequence_ = 1;      // the first one has the descriptions of tracks

  uint64_t track_ = 0;  // of which slices come; 0: of none yet
  Lanes lanes_;
  std::vector<PacketSequence> sequences_;  // by lane
  PacketSequence counter_ = {};

  // Parts of a packet in the making.
  std::string event_;
  std::string interned_;
  std::string packet_;
  std::string part_;
};

}  // namespace rlscope::exporters

#endif  // RLSCOPE_EXPORTERS_PERFETTO_H_
