// The record, which a producer writes into its thread's ring, 16 bytes at a time.
//
//   slot      0        8          12        16
//             +--------+----------+---------+
//   first     | tsc    | duration | word    |      word = id << 6 | kind << 1 | lap
//             +--------+----------+---------+
//   further   | payload           | more    | word |   where SlotsOf() says so; word = kContinued
//
// A slot is valid when the lap bit of its word equals the lap of its position, so pages may be
// recycled without clearing them. The word of the first slot is stored last, with release order;
// further slots are written before it. A record never crosses the end of a ring: kPads fill the
// slots that are left over.
//
// Annotations and native calls of a thread lie in its ring; CUDA calls in a second one, because
// they may begin before, and end after, what the first one says of the thread; GPU work of the
// process in one of its own (RingUse, shared_pages.h).
#ifndef RLSCOPE_TRACE_LAYOUT_RECORD_H_
#define RLSCOPE_TRACE_LAYOUT_RECORD_H_

#include <stdint.h>

namespace rlscope::trace {

struct Slot {
  uint64_t tsc;       // ticks of the trace's clock (base/clock.h); payload in a further slot
  uint32_t duration;  // ticks, complete calls only; payload in a further slot
  uint32_t word;      // id, kind and lap
};
static_assert(sizeof(Slot) == 16);

// One row per kind: enumerator, number, slots, meaning of id (and of the second slot).
#define RLSCOPE_RECORD_KINDS(X)                                                                   \
  X(kNone, 0, 1, "never written")                                                                 \
  X(kOperationEnter, 1, 1, "id = name of the operation")                                          \
  X(kOperationExit, 2, 1, "id = name of the operation")                                           \
  X(kPhase, 3, 1, "id = name of the phase that begins, 0 = none")                                 \
  X(kIteration, 4, 1, "an iteration begins; id = IterationFlags")                                 \
  X(kTask, 5, 1, "the thread now runs task id (contextvars.Context); 0 = outside any task")       \
  X(kProgressTotal, 6, 2, "payload = total, IEEE double")                                         \
  X(kProgressDone, 7, 2, "payload = done, IEEE double; ends a progress report")                   \
  X(kWindowStart, 8, 1, "recording starts; first one of a process: it did not record before")     \
  X(kWindowStop, 9, 1, "recording stops; first one of a process: it recorded from its start")     \
  X(kThreadBegin, 10, 1, "id = thread; it begins: nothing is open")                               \
  X(kThreadEnd, 11, 1, "the thread ended")                                                        \
  X(kRingEnd, 12, 1, "the thread went on in the ring numbered id")                                \
  X(kGap, 13, 2, "records were lost before this one; payload = how many")                         \
  X(kWait, 14, 2, "the producer waited for room; payload = ticks it waited")                      \
  X(kCall, 15, 1, "complete native call; id = function, duration in ticks")                       \
  X(kCallBegin, 16, 1, "native call with records inside; id = function; tsc = its start")         \
  X(kCallEnd, 17, 1, "the open native call returned")                                             \
  X(kCallbackBegin, 18, 1, "native code called into Python")                                      \
  X(kCallbackEnd, 19, 1, "and Python returned to it")                                             \
  X(kAutoSegment, 20, 1, "the automatic track goes on in a segment of state id (AutoState)")      \
  X(kAutoResolve, 21, 1, "gives unresolved segments other states; id: WithAutoFate()")            \
  X(kCudaCall, 22, 2, "complete CUDA call; id = name; cuda_record.h")                             \
  X(kGpuWork, 23, 5, "interval on a GPU; id = name; cuda_record.h")                               \
  X(kProbe, 24, 1, "a probe; tsc = its end; id = ProbeKind, duration in ticks")                   \
  X(kProbeRecord, 25, 1, "how long, in ticks, the call or operation of a probe was recorded")     \
  X(kShortWaits, 26, 2, "waits too short for a record, since the one before; payload = how many") \
  X(kLineCudaCall, 27, 3, "kCudaCall whose line is known; cuda_record.h")                         \
  X(kContinued, 30, 1, "further slot of a record")                                                \
  X(kPad, 31, 1, "skip to the start of the ring")

enum Kind : uint32_t {
#define RLSCOPE_RECORD_KIND(name, number, slots, meaning) name = number,
  RLSCOPE_RECORD_KINDS(RLSCOPE_RECORD_KIND)
#undef RLSCOPE_RECORD_KIND
};

// Bits of the id of kIteration.
enum IterationFlags : uint32_t {
  kIterationAutomatic = 1,
  // Some GPU work of the iteration that ends here was not recorded (--gpu-share).
  kIterationBeforeUnseen = 2
};

// Automatic operations. A thread's automatic track is the base of its stack of operations: a chain
// of segments, each from its kAutoSegment to the next record of the track. What a segment is called
// turns out later, so it has a state, and a resolve gives those of one state another one:
//
//   kAutoSegment  5      6      5      6            5    7        2    8
//   -------|------|------|------|------|----...-----|----|--------|----|------
//    none  |inside|betw. |inside|betw. |    none    |in. |after   |back|tail
//                                      ^ kAutoResolve(5 -> 1, 6 -> 1)   ^ and here 5, 7 -> 2
//
// A resolve concerns every segment of the thread that still is in the state, the running one
// included. No resolve touches states that are final. A running segment that a resolve makes final
// ends there, and nothing runs; one that it moves to an open state runs on. Segments of one final
// state that touch are one instance. If some are unresolved at the end of the stream, at a gap or
// at a window's stop, inside and aside are inference, and the others are nothing.
//
// A segment from kAutoNamed on is final too: the operation whose name has the id state -
// kAutoNamed.
//
// A resolve may also say that a stretch begins here that may be an evaluation, or what became of
// the last such stretch (AutoStretch). If it was one, all segments from its beginning to its last
// one of kAutoSimulation, with the time between them, are kAutoEvaluation. Without such a one, they
// are so to the last forward (IsAutoForward) that began before that resolve. What no resolve
// decides up to the end of the stream, a gap or a window's stop is none.
enum AutoState : uint32_t {
  kAutoNothing = 0,
  kAutoInference = 1,
  kAutoBackprop = 2,
  kAutoSimulation = 3,
  kAutoFirstOpen = 4,
  kAutoBlock = 4,    // in a no-grad block, without a forward so far
  kAutoInside = 5,   // in a forward with gradients, or in a block that began with one
  kAutoBetween = 6,  // after a forward, none of them with gradients so far; converting for one
  kAutoAfter = 7,    // after a forward, one of them with gradients
  kAutoTail = 8,     // after a backward or an optimizer step, or before one that may come
  kAutoAside = 9,    // in a forward without gradients, or in a block that began with one
  kAutoLastOpen = 9,
  kAutoTarget = 10,
  kAutoGeneration = 11,
  kAutoAdvantage = 12,
  kAutoReference = 13,
  kAutoReward = 14,
  kAutoReplay = 15,
  kAutoStates = 16,
  kAutoNamed = 16,
  kAutoEvaluation = 16,  // in no record: no name has the id 0
};
constexpr bool IsAutoOpen(uint32_t state) {
  return state >= kAutoFirstOpen && state <= kAutoLastOpen;
}
constexpr bool IsAutoFinal(uint32_t state) { return !IsAutoOpen(state); }
// What a forward was by then, or a generation.
constexpr bool IsAutoForward(uint32_t state) {
  return state == kAutoInference || state == kAutoGeneration || state == kAutoInside ||
         state == kAutoAside;
}

// Id of a resolve: 4 bits for each open state, lowest first, that say what becomes of it.
constexpr uint32_t kAutoFateBits = 4;
constexpr uint32_t kAutoFateMask = (1u << kAutoFateBits) - 1;
constexpr uint32_t AutoFateOf(uint32_t resolve, uint32_t state) {
  return resolve >> kAutoFateBits * (state - kAutoFirstOpen) & kAutoFateMask;
}
constexpr uint32_t kAutoKeepAll = kAutoBlock | kAutoInside << 4 | kAutoBetween << 8 |
                                  kAutoAfter << 12 | kAutoTail << 16 | kAutoAside << 20;
// Above these bits.
enum AutoStretch : uint32_t {
  kAutoStretchKeeps = 0,  // nothing is said of one
  kAutoStretchBegins = 1,
  kAutoStretchWasNone = 2,
  kAutoStretchWasEvaluation = 3,
};
constexpr uint32_t kAutoStretchShift = kAutoFateBits * (kAutoLastOpen - kAutoFirstOpen + 1);
constexpr uint32_t AutoStretchOf(uint32_t resolve) { return resolve >> kAutoStretchShift & 3; }
constexpr uint32_t WithAutoStretch(uint32_t resolve, uint32_t stretch) {
  return resolve | stretch << kAutoStretchShift;
}
// The resolve that, besides what `resolve` does, moves `state` to `target`.
constexpr uint32_t WithAutoFate(uint32_t resolve, uint32_t state, uint32_t target) {
  const uint32_t shift = kAutoFateBits * (state - kAutoFirstOpen);
  return (resolve & ~(kAutoFateMask << shift)) | target << shift;
}

// A probe measures what the recorder costs, where the program is: the time of one thing that leaves
// records, or of the same thing without them (runtime/probe.h). The operation that it enters is
// kProbeOperation, which is no name's id: no reader sees its records.
enum ProbeKind : uint32_t {
  kProbeEmpty = 0,  // nothing: two readings of the clock
  kProbePlainCall = 1,
  kProbeRecordedCall = 2,
  kProbeIdleOperation = 3,  // as in a process that never records
  kProbeRecordedOperation = 4,
  kProbeWait = 5,       // of a wait of the program: what it took before and after its interval
  kProbeShortWait = 6,  // the same of one that left no record
  kProbeKinds = 7,
};

constexpr uint32_t kLapMask = 1;
constexpr uint32_t kKindShift = 1;
constexpr uint32_t kKindMask = 31;
constexpr uint32_t kIdShift = 6;
constexpr uint32_t kMaxId = (1u << 26) - 1;
constexpr uint32_t kProbeOperation = kMaxId;

constexpr uint32_t MakeWord(uint32_t kind, uint32_t id, uint32_t lap) {
  return id << kIdShift | kind << kKindShift | lap;
}
constexpr uint32_t KindOf(uint32_t word) { return word >> kKindShift & kKindMask; }
constexpr uint32_t IdOf(uint32_t word) { return word >> kIdShift; }
// Kinds of a thread's own ring that have a second slot.
constexpr bool HasTwoSlots(uint32_t kind) {
  return kind == kProgressTotal || kind == kProgressDone || kind == kGap || kind == kWait ||
         kind == kShortWaits;
}
// Kinds whose duration is a probe's.
constexpr bool IsOfProbe(uint32_t kind) { return kind == kProbe || kind == kProbeRecord; }
constexpr uint32_t kMostSlots = 5;
constexpr uint32_t SlotsOf(uint32_t kind) {
  return kind == kGpuWork                         ? 5
         : kind == kLineCudaCall                  ? 3
         : HasTwoSlots(kind) || kind == kCudaCall ? 2
                                                  : 1;
}

// Lap bit of the slot numbered `position` (counted from the ring's creation) in a ring of
// `capacity` slots, a power of two. Starts at 1, so that zero-filled pages hold no valid slot.
constexpr uint32_t LapOf(uint64_t position, uint64_t capacity) {
  return static_cast<uint32_t>(~(position / capacity) & 1);
}

}  // namespace rlscope::trace

#endif  // RLSCOPE_TRACE_LAYOUT_RECORD_H_
