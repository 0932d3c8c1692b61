// Perfetto's packets, as far as the export writes them, in protobuf's wire format. The numbers are
// those of perfetto/trace/trace_packet.proto and track_event/*.proto; a test compares them with the
// official messages (tests/support/files/perfetto_trace.py reads them).
#ifndef RLSCOPE_EXPORTERS_PERFETTO_PACKET_H_
#define RLSCOPE_EXPORTERS_PERFETTO_PACKET_H_

#include <stdint.h>
#include <string.h>

#include <string>
#include <string_view>

#include "base/wire.h"

namespace rlscope::exporters {

struct TraceField {
  enum : uint32_t { kPacket = 1 };
};
struct PacketField {
  enum : uint32_t {
    kClockSnapshot = 6,
    kTimestamp = 8,
    kSequenceId = 10,
    kTrackEvent = 11,
    kInternedData = 12,
    kSequenceFlags = 13,
    kClockId = 58,
    kDefaults = 59,
    kTrackDescriptor = 60,
    kFirstOnSequence = 87,
  };
};
struct SequenceFlag {
  enum : uint32_t { kStateCleared = 1, kNeedsState = 2 };
};
struct DefaultsField {
  enum : uint32_t { kTrackEvent = 11, kClockId = 58 };
};
struct SnapshotField {
  enum : uint32_t { kClock = 1 };
};
struct ClockField {
  enum : uint32_t { kId = 1, kTimestamp = 2, kIsIncremental = 3 };
};
struct DescriptorField {
  enum : uint32_t {
    kUuid = 1,
    kName = 2,
    kProcess = 3,
    kThread = 4,
    kParent = 5,
    kCounter = 8,
    kChildOrdering = 11,
    kRank = 12,
  };
};
struct ProcessField {
  enum : uint32_t { kPid = 1, kName = 6, kStart = 7, kLabel = 8 };
};
struct ThreadField {
  enum : uint32_t { kPid = 1, kTid = 2, kName = 5 };
};
struct CounterField {
  enum : uint32_t { kUnit = 3, kUnitName = 6 };
};
struct InternedField {
  enum : uint32_t { kCategory = 1, kName = 2, kAnnotationName = 3, kAnnotationText = 29 };
};
struct TextField {  // of all interned texts
  enum : uint32_t { kId = 1, kText = 2 };
};
struct EventField {
  enum : uint32_t {
    kCategory = 3,
    kAnnotation = 4,
    kType = 9,
    kName = 10,
    kTrack = 11,
    kValue = 44,
    kFlow = 47,
  };
};
enum class EventType : uint32_t { kBegin = 1, kEnd = 2, kCounter = 4 };
struct AnnotationField {
  enum : uint32_t { kName = 1, kInteger = 4, kText = 17 };
};

constexpr uint64_t kBootTimeClock = 6;  // the trace's own, to which Perfetto takes all times
constexpr uint64_t kDeltaClock = 64;    // the first one that belongs to a sequence alone
constexpr uint64_t kBytesUnit = 3;
constexpr uint64_t kExplicitOrder = 3;

// Appends fields to a text. A field is written even if it is 0: these messages are proto2, in which
// a field with 0 is not a missing one.
class Fields {
 public:
  explicit Fields(std::string* out) : out_(out) {}

  void Number(uint32_t field, uint64_t value) {
    uint8_t bytes[2 * base::kMaxVarintBytes];
    uint8_t* end = base::PutTag(bytes, field, base::WireType::kVarint);
    Append(bytes, base::PutVarint(end, value));
  }
  void Fixed(uint32_t field, uint64_t value) {
    uint8_t bytes[base::kMaxVarintBytes + sizeof value];
    uint8_t* end = base::PutTag(bytes, field, base::WireType::kFixed64);
    Append(bytes, base::PutFixed64(end, value));
  }
  void Real(uint32_t field, double value) {
    uint64_t bits;
    memcpy(&bits, &value, sizeof bits);
    Fixed(field, bits);
  }
  // A text or a message.
  void Bytes(uint32_t field, std::string_view bytes) {
    uint8_t head[2 * base::kMaxVarintBytes];
    Append(head, base::PutLength(head, field, bytes.size()));
    out_->append(bytes);
  }

 private:
  void Append(const uint8_t* begin, const uint8_t* end) {
    out_->append(reinterpret_cast<const char*>(begin), static_cast<size_t>(end - begin));
  }

  std::string* const out_;
};

}  // namespace rlscope::exporters

#endif  // RLSCOPE_EXPORTERS_PERFETTO_PACKET_H_
