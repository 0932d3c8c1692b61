#include "exporters/perfetto.h"

#include <stdexcept>
#include <utility>

#include "exporters/perfetto_packet.h"

namespace rlscope::exporters {
namespace {

constexpr uint64_t kDescriptions = 1;  // packet sequence of the descriptions of tracks

// Kinds of texts: fields of InternedData, as places in PacketSequence::told.
constexpr uint32_t kTextFields[] = {InternedField::kCategory, InternedField::kName,
                                    InternedField::kAnnotationName, InternedField::kAnnotationText};
enum TextKind : uint32_t { kCategoryText, kNameText, kAnnotationName, kOperationText };

enum AnnotationName : size_t {
  kOperationName,
  kCorrelationName,
  kBytesName,
  kGraphName,
  kWholeStartName,
  kWholeDurationName,
};
const std::vector<std::string>& AnnotationNames() {
  static const std::vector<std::string> names = {
      "operation", "correlation_id", "bytes", "graph", "whole_start_ns", "whole_duration_ns"};
  return names;
}

const std::string& TextOf(const SliceTexts& texts, uint32_t kind, size_t place) {
  switch (kind) {
    case kCategoryText:
      return texts.categories.at(place);
    case kNameText:
      return texts.names.at(place);
    case kAnnotationName:
      return AnnotationNames().at(place);
    default:
      return texts.operations.at(place);
  }
}

}  // namespace

PerfettoEncoder::PerfettoEncoder(int64_t origin_ns, SliceTexts texts)
    : origin_ns_(origin_ns), texts_(std::move(texts)) {}

std::string PerfettoEncoder::Take() { return std::exchange(out_, {}); }

// ---- what there is ------------------------------------------------------------------------------

uint64_t PerfettoEncoder::AddProcess(int32_t pid, const std::string& name, const std::string& label,
                                     int64_t start_ns) {
  std::string process;
  Fields fields(&process);
  fields.Number(ProcessField::kPid, static_cast<uint64_t>(pid));
  fields.Bytes(ProcessField::kName, name);
  fields.Number(ProcessField::kStart, static_cast<uint64_t>(start_ns));
  fields.Bytes(ProcessField::kLabel, label);
  std::string descriptor;
  Fields(&descriptor).Bytes(DescriptorField::kProcess, process);
  Fields(&descriptor).Number(DescriptorField::kChildOrdering, kExplicitOrder);
  return Describe(descriptor, name);
}

uint64_t PerfettoEncoder::AddThread(int32_t pid, int64_t tid, const std::string& name) {
  std::string thread;
  Fields fields(&thread);
  fields.Number(ThreadField::kPid, static_cast<uint64_t>(pid));
  fields.Number(ThreadField::kTid, static_cast<uint64_t>(tid));
  fields.Bytes(ThreadField::kName, name);
  std::string descriptor;
  Fields(&descriptor).Bytes(DescriptorField::kThread, thread);
  return Describe(descriptor, name);
}

uint64_t PerfettoEncoder::AddTrack(uint64_t parent, const std::string& name, int32_t rank) {
  std::string descriptor;
  Fields fields(&descriptor);
  fields.Bytes(DescriptorField::kName, name);
  if (parent != 0) fields.Number(DescriptorField::kParent, parent);
  fields.Number(DescriptorField::kRank, static_cast<uint64_t>(rank));
  return Describe(descriptor, name);
}

uint64_t PerfettoEncoder::AddCounter(uint64_t parent, const std::string& name,
                                     const std::string& unit) {
  std::string counter;
  if (unit == "bytes") {
    Fields(&counter).Number(CounterField::kUnit, kBytesUnit);
  } else {
    Fields(&counter).Bytes(CounterField::kUnitName, unit);
  }
  std::string descriptor;
  Fields fields(&descriptor);
  fields.Bytes(DescriptorField::kName, name);
  if (parent != 0) fields.Number(DescriptorField::kParent, parent);
  fields.Bytes(DescriptorField::kCounter, counter);
  return Describe(descriptor, name);
}

uint64_t PerfettoEncoder::Describe(const std::string& descriptor_fields, const std::string& name) {
  names_.push_back(name);
  const uint64_t uuid = names_.size();
  std::string descriptor;
  Fields(&descriptor).Number(DescriptorField::kUuid, uuid);
  descriptor += descriptor_fields;
  std::string packet;
  Fields(&packet).Number(PacketField::kSequenceId, kDescriptions);
  Fields(&packet).Bytes(PacketField::kTrackDescriptor, descriptor);
  PutPacket(packet);
  return uuid;
}

// ---- sequences ----------------------------------------------------------------------------------

// The first packet of a sequence: which track its events are on, and that their times are the
// differences to the time of the packet before. All of them begin at one time, because Perfetto
// wants a clock to go forward from one packet to the next, whichever sequence it is of.
PacketSequence PerfettoEncoder::BeginSequence(uint64_t track) {
  const auto origin_ns = static_cast<uint64_t>(origin_ns_);
  std::string snapshot;
  for (const uint64_t id : {kBootTimeClock, kDeltaClock}) {
    std::string clock;
    Fields fields(&clock);
    fields.Number(ClockField::kId, id);
    fields.Number(ClockField::kTimestamp, origin_ns);
    if (id == kDeltaClock) fields.Number(ClockField::kIsIncremental, 1);
    Fields(&snapshot).Bytes(SnapshotField::kClock, clock);
  }
  std::string of_events;
  Fields(&of_events).Number(EventField::kTrack, track);
  std::string defaults;
  Fields(&defaults).Bytes(DefaultsField::kTrackEvent, of_events);
  Fields(&defaults).Number(DefaultsField::kClockId, kDeltaClock);

  std::string packet;
  Fields fields(&packet);
  fields.Number(PacketField::kTimestamp, origin_ns);
  fields.Number(PacketField::kClockId, kBootTimeClock);
  fields.Number(PacketField::kSequenceId, ++last_sequence_);
  fields.Number(PacketField::kSequenceFlags, SequenceFlag::kStateCleared);
  fields.Number(PacketField::kFirstOnSequence, 1);
  fields.Bytes(PacketField::kDefaults, defaults);
  fields.Bytes(PacketField::kClockSnapshot, snapshot);
  PutPacket(packet);
  return {last_sequence_, origin_ns_, {}};
}

void PerfettoEncoder::BeginTrack(uint64_t track) {
  Finish();
  track_ = track;
}

PacketSequence* PerfettoEncoder::SequenceOf(size_t lane) {
  if (lane == sequences_.size()) {
    uint64_t track = track_;
    if (lane > 0) {
      const std::string name = names_.at(track_ - 1) + " (" + std::to_string(lane + 1) + ")";
      track = AddTrack(track_, name, static_cast<int32_t>(lane));
    }
    sequences_.push_back(BeginSequence(track));
  }
  return &sequences_[lane];
}

// The number by which a sequence knows a text; told to it where it is new.
uint64_t PerfettoEncoder::TextId(uint32_t kind, size_t place, PacketSequence* sequence) {
  std::vector<bool>& told = sequence->told[kind];
  if (place >= told.size()) told.resize(place + 1);
  const uint64_t id = place + 1;  // 0 is none
  if (!told[place]) {
    told[place] = true;
    std::string text;
    Fields(&text).Number(TextField::kId, id);
    Fields(&text).Bytes(TextField::kText, TextOf(texts_, kind, place));
    Fields(&interned_).Bytes(kTextFields[kind], text);
  }
  return id;
}

// ---- events -------------------------------------------------------------------------------------

void PerfettoEncoder::Add(const Slice& slice) {
  if (slice.track != track_) BeginTrack(slice.track);
  const auto close = [this](size_t lane, int64_t end_ns) { Close(lane, end_ns); };
  PacketSequence* const sequence = SequenceOf(lanes_.Add(slice.start_ns, slice.end_ns, close));
  Fields fields(&event_);
  fields.Number(EventField::kType, static_cast<uint64_t>(EventType::kBegin));
  fields.Number(EventField::kCategory, TextId(kCategoryText, slice.category, sequence));
  fields.Number(EventField::kName, TextId(kNameText, slice.name, sequence));
  if (slice.flow != 0) fields.Fixed(EventField::kFlow, slice.flow);
  AddAnnotations(slice, sequence);
  PutEvent(slice.start_ns, sequence);
}

void PerfettoEncoder::AddAnnotations(const Slice& slice, PacketSequence* sequence) {
  if (slice.operation >= 0) AnnotateOperation(static_cast<size_t>(slice.operation), sequence);
  if (slice.correlation >= 0) Annotate(kCorrelationName, slice.correlation, sequence);
  if (slice.bytes >= 0) Annotate(kBytesName, slice.bytes, sequence);
  if (slice.graph >= 0) Annotate(kGraphName, slice.graph, sequence);
  if (slice.whole_start_ns != slice.start_ns || slice.whole_end_ns != slice.end_ns) {
    Annotate(kWholeStartName, slice.whole_start_ns, sequence);
    Annotate(kWholeDurationName, slice.whole_end_ns - slice.whole_start_ns, sequence);
  }
}

void PerfettoEncoder::Annotate(size_t name, int64_t value, PacketSequence* sequence) {
  part_.clear();
  Fields(&part_).Number(AnnotationField::kName, TextId(kAnnotationName, name, sequence));
  Fields(&part_).Number(AnnotationField::kInteger, static_cast<uint64_t>(value));
  Fields(&event_).Bytes(EventField::kAnnotation, part_);
}

void PerfettoEncoder::AnnotateOperation(size_t place, PacketSequence* sequence) {
  part_.clear();
  Fields(&part_).Number(AnnotationField::kName, TextId(kAnnotationName, kOperationName, sequence));
  Fields(&part_).Number(AnnotationField::kText, TextId(kOperationText, place, sequence));
  Fields(&event_).Bytes(EventField::kAnnotation, part_);
}

void PerfettoEncoder::Close(size_t lane, int64_t end_ns) {
  Fields(&event_).Number(EventField::kType, static_cast<uint64_t>(EventType::kEnd));
  PutEvent(end_ns, &sequences_[lane]);
}

void PerfettoEncoder::BeginCounter(uint64_t counter) {
  Finish();
  counter_ = BeginSequence(counter);
}

void PerfettoEncoder::AddReading(int64_t time_ns, double value) {
  Fields(&event_).Number(EventField::kType, static_cast<uint64_t>(EventType::kCounter));
  Fields(&event_).Real(EventField::kValue, value);
  PutEvent(time_ns, &counter_);
}

void PerfettoEncoder::Finish() {
  lanes_.Finish([this](size_t lane, int64_t end_ns) { Close(lane, end_ns); });
  sequences_.clear();
  track_ = 0;
}

// The event in the making.
void PerfettoEncoder::PutEvent(int64_t time_ns, PacketSequence* sequence) {
  if (time_ns < sequence->last_ns) throw std::invalid_argument("times go back");
  packet_.clear();
  Fields fields(&packet_);
  fields.Number(PacketField::kTimestamp, static_cast<uint64_t>(time_ns - sequence->last_ns));
  fields.Number(PacketField::kSequenceId, sequence->id);
  fields.Number(PacketField::kSequenceFlags, SequenceFlag::kNeedsState);
  if (!interned_.empty()) fields.Bytes(PacketField::kInternedData, interned_);
  fields.Bytes(PacketField::kTrackEvent, event_);
  PutPacket(packet_);
  sequence->last_ns = time_ns;
  event_.clear();
  interned_.clear();
}

void PerfettoEncoder::PutPacket(const std::string& packet) {
  Fields(&out_).Bytes(TraceField::kPacket, packet);
}

}  // namespace rlscope::exporters
