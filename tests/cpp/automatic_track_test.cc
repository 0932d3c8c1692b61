// What the sweep learns about a thread's automatic track before it gets there.
#include "analysis/threads/automatic_track.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "sweep_process.h"

namespace rlscope::analysis {
namespace {

using trace::kAutoAfter;
using trace::kAutoAside;
using trace::kAutoBackprop;
using trace::kAutoBetween;
using trace::kAutoBlock;
using trace::kAutoInference;
using trace::kAutoInside;
using trace::kAutoKeepAll;
using trace::kAutoNothing;
using trace::kAutoSimulation;
using trace::kAutoTail;
using trace::kAutoTarget;
using trace::WithAutoFate;

MemoryItem Segment(int64_t t, uint32_t state) { return {t, trace::kAutoSegment, state}; }
MemoryItem Resolve(int64_t t, uint32_t resolve) { return {t, trace::kAutoResolve, resolve}; }

// The columns of a thread and how many batches of them were read.
struct Thread {
  explicit Thread(const std::vector<MemoryItem>& items) {
    for (const MemoryItem& item : items) columns.Add(item);
    process.end_ns = INT64_C(1) << 40;
  }

  class Counting : public CpuSource {
   public:
    explicit Counting(Thread* thread) : thread_(thread), source_(thread->columns) {}
    const trace::CpuBatch* Next() override {
      ++thread_->batches_read;
      return source_.Next();
    }

   private:
    Thread* thread_;
    CpuFromMemory source_;
  };

  // One letter for each record of the track: what runs behind it, in capitals if it begins there.
  std::string Names() {
    const History history(process.start_ns, process.end_ns, {}, {});
    AutomaticTrack track(std::make_unique<Counting>(this), process, history);
    std::string names;
    for (const uint32_t what : columns.what) {
      const uint32_t kind = trace::WhatKind(what);
      if (kind != trace::kAutoSegment && kind != trace::kAutoResolve) continue;
      const AutomaticTrack::Change change = track.Next();
      const bool named = change.operation > trace::kAutoEvaluation;
      const char letter = !change.any ? '=' : named ? 'c' : "-ibs......t....re"[change.operation];
      names += change.begins && letter != '-' ? static_cast<char>(letter - 'a' + 'A') : letter;
    }
    return names;
  }

  CpuColumns columns;
  ProcessInput process;
  int batches_read = 0;
};

TEST(AutomaticTrack, ForwardsBeforeAStepAreInference) {
  const uint32_t inference =
      WithAutoFate(WithAutoFate(0, kAutoInside, kAutoInference), kAutoBetween, kAutoInference);
  Thread thread({Segment(10, kAutoInside), Segment(20, kAutoBetween), Segment(30, kAutoInside),
                 Segment(40, kAutoBetween), Resolve(50, inference), Segment(50, kAutoSimulation),
                 Segment(60, kAutoNothing)});
  EXPECT_EQ(thread.Names(), "Iiii-S-");
}

TEST(AutomaticTrack, BackpropGoesOnToTheLastOptimizerStep) {
  const uint32_t backprop = WithAutoFate(
      WithAutoFate(WithAutoFate(0, kAutoInside, kAutoBackprop), kAutoAfter, kAutoBackprop),
      kAutoTail, kAutoBackprop);
  Thread thread({Segment(10, kAutoInside), Segment(20, kAutoAfter), Resolve(30, backprop),
                 Segment(30, kAutoBackprop), Segment(40, kAutoTail), Resolve(50, backprop),
                 Segment(50, kAutoTail), Resolve(60, 0), Segment(60, kAutoInside)});
  EXPECT_EQ(thread.Names(), "Bb=bb---I") << "what the resolve at 30 ends goes on";
}

TEST(AutomaticTrack, AForwardWithoutGradientsMayBeATarget) {
  const uint32_t update = WithAutoFate(
      WithAutoFate(WithAutoFate(0, kAutoInside, kAutoBackprop), kAutoAfter, kAutoBackprop),
      kAutoAside, kAutoTarget);
  Thread thread({Segment(10, kAutoAside), Segment(20, kAutoBetween), Segment(30, kAutoInside),
                 Segment(40, kAutoAfter), Segment(50, kAutoAside), Segment(60, kAutoAfter),
                 Resolve(70, update), Segment(70, kAutoBackprop), Segment(80, kAutoTarget),
                 Segment(90, kAutoAside)});
  EXPECT_EQ(thread.Names(), "T-BbTB=bTI") << "and what nothing resolves is inference";
}

TEST(AutomaticTrack, WhatNothingResolvedIsInferenceInsideForwards) {
  Thread thread({Segment(10, kAutoInside), Segment(20, kAutoBetween), Segment(30, kAutoBlock),
                 Resolve(35, WithAutoFate(kAutoKeepAll, kAutoBlock, kAutoInside)),
                 Segment(40, kAutoAfter)});
  EXPECT_EQ(thread.Names(), "I-I=-");
}

TEST(AutomaticTrack, AResolveBehindAGapConcernsNothingBefore) {
  const uint32_t backprop = WithAutoFate(0, kAutoInside, kAutoBackprop);
  Thread thread({Segment(10, kAutoInside), {20, trace::kGap}, Resolve(20, backprop)});
  EXPECT_EQ(thread.Names(), "I=");
}

MemoryItem Stretch(int64_t t, uint32_t stretch) {
  return Resolve(t, trace::WithAutoStretch(kAutoKeepAll, stretch));
}

TEST(AutomaticTrack, AStretchMayTurnOutToBeAnEvaluation) {
  Thread thread({Segment(10, kAutoBackprop), Stretch(20, trace::kAutoStretchBegins),
                 Segment(20, kAutoSimulation), Segment(30, kAutoInference),
                 Segment(40, kAutoSimulation), Segment(50, kAutoInference),
                 Stretch(60, trace::kAutoStretchWasEvaluation), Segment(60, kAutoSimulation)});
  EXPECT_EQ(thread.Names(), "B=EeeI=S") << "up to the end of its last step";
}

TEST(AutomaticTrack, AStretchThatWasNoneKeepsItsNames) {
  Thread thread({Stretch(20, trace::kAutoStretchBegins), Segment(20, kAutoSimulation),
                 Segment(30, kAutoInference), Stretch(40, trace::kAutoStretchWasNone),
                 Segment(40, kAutoBackprop), Stretch(50, trace::kAutoStretchWasEvaluation)});
  EXPECT_EQ(thread.Names(), "=SI=B=");
}

TEST(AutomaticTrack, WhatNothingDecidesIsNoEvaluation) {
  Thread thread({Stretch(20, trace::kAutoStretchBegins),
                 Segment(20, kAutoSimulation),
                 {30, trace::kGap},
                 Stretch(30, trace::kAutoStretchWasEvaluation)});
  EXPECT_EQ(thread.Names(), "=S=");
}

TEST(AutomaticTrack, AResolveInAnEvaluationEndsNothingOfIt) {
  const uint32_t inference = WithAutoFate(kAutoKeepAll, kAutoInside, kAutoInference);
  Thread thread({Segment(10, kAutoInside), Stretch(20, trace::kAutoStretchBegins),
                 Resolve(25, inference), Segment(30, kAutoSimulation), Segment(40, kAutoInside),
                 Resolve(45, inference), Segment(50, kAutoSimulation), Segment(60, kAutoNothing),
                 Stretch(70, trace::kAutoStretchWasEvaluation)});
  EXPECT_EQ(thread.Names(), "I=-Ee=e-=") << "but what was open before it";
}

TEST(AutomaticTrack, AnExplicitEntryEndsIt) {
  Thread thread({Segment(10, kAutoSimulation),
                 {20, trace::kOperationEnter, 1},
                 Segment(30, kAutoSimulation)});
  EXPECT_EQ(thread.Names(), "S=");
}

// Two batches of which the second begins after missing chunks, with something open, and a call.
class WithSnapshot : public CpuSource {
 public:
  WithSnapshot() {
    before_.Add(Segment(10, kAutoSimulation));
    behind_.Add({20, trace::kCall, 1, 25});
    behind_.Add(Segment(30, kAutoSimulation));
  }
  const trace::CpuBatch* Next() override {
    if (++batches_ > 2) return nullptr;
    const CpuColumns& columns = batches_ == 1 ? before_ : behind_;
    batch_.count = static_cast<uint32_t>(columns.what.size());
    batch_.time_ns = columns.time_ns.data();
    batch_.what = columns.what.data();
    batch_.call_end_ns = columns.call_end_ns.data();
    batch_.begins_after_gap = batches_ == 2;
    if (batches_ == 2) batch_.open = {{5, 0, 1}};
    return &batch_;
  }

 private:
  CpuColumns before_, behind_;
  trace::CpuBatch batch_;
  int batches_ = 0;
};

TEST(AutomaticTrack, WhatWasOpenBehindMissingChunksEndsItToo) {
  ProcessInput process;
  process.end_ns = 100;
  const History history(0, 100, {}, {});
  AutomaticTrack track(std::make_unique<WithSnapshot>(), process, history);
  EXPECT_EQ(track.Next().operation, kAutoSimulation);
  EXPECT_FALSE(track.Next().any);
}

TEST(AutomaticTrack, ASegmentThatNamesItsOperationIsFinal) {
  const uint32_t inference =
      WithAutoFate(WithAutoFate(0, kAutoInside, kAutoInference), kAutoBetween, kAutoInference);
  const uint32_t first = trace::kAutoNamed + 1, second = trace::kAutoNamed + 2;
  Thread thread({Segment(10, kAutoInside), Segment(20, kAutoBetween), Segment(30, first),
                 Segment(40, first), Segment(50, second), Segment(60, kAutoBetween),
                 Resolve(70, inference), Segment(70, kAutoSimulation)});
  EXPECT_EQ(thread.Names(), "IiCcCI-S") << "what it interrupts goes on behind it";
}

TEST(AutomaticTrack, IsReadNoFurtherThanToTheName) {
  std::vector<MemoryItem> items;
  for (int64_t t = 0; items.size() < 100 * kMemoryBatch; t += 10) {
    items.push_back(Segment(t, kAutoInside));
    items.push_back(Resolve(t + 5, WithAutoFate(0, kAutoInside, kAutoInference)));
  }
  Thread thread(items);
  const History history(0, thread.process.end_ns, {}, {});
  AutomaticTrack track(std::make_unique<Thread::Counting>(&thread), thread.process, history);
  for (size_t i = 0; i < kMemoryBatch / 2; ++i) {
    EXPECT_EQ(track.Next().operation, i % 2 == 0 ? kAutoInference : kAutoNothing);
  }
  EXPECT_LE(thread.batches_read, 2);
}

// Each block moves its own segment to the state of all before: a program that only infers.
TEST(AutomaticTrack, HalfAMillionSegmentsMayWaitForTheirName) {
  std::vector<MemoryItem> items;
  for (int64_t block = 0; block < 500000; ++block) {
    items.push_back(Segment(10 * block, kAutoBlock));
    items.push_back(Resolve(10 * block + 1, WithAutoFate(kAutoKeepAll, kAutoBlock, kAutoInside)));
    items.push_back(Segment(10 * block + 5, kAutoBetween));
  }
  items.push_back(Resolve(INT64_C(1) << 33, WithAutoFate(WithAutoFate(0, 5, 2), 6, 2)));
  Thread thread(items);
  const size_t records = items.size();
  const std::string names = thread.Names();
  EXPECT_EQ(names.substr(0, 9), "B=bb=bb=b") << "one instance";
  EXPECT_EQ(names.size(), records);
  EXPECT_EQ(names.find_first_not_of("Bb="), names.size() - 1);
}

}  // namespace
}  // namespace rlscope::analysis
