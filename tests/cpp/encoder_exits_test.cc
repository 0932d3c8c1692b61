// What the encoder says an exit closes, and what the reader makes of it.
#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <random>
#include <utility>
#include <vector>

#include "decoded_items.h"
#include "memory_trace.h"
#include "trace/write/encoder.h"
#include "trace/write/window_changes.h"

namespace rlscope::trace {
namespace {

// The encoder's ends and the decoder's agree on random programs: improper nesting, recursion,
// tasks, unmatched exits, gaps, windows, more open operations than are tracked.
TEST(Encoder, InnermostExitsMeanTheSameToTheReader) {
  std::mt19937 random(7);
  for (int round = 0; round < 200; ++round) {
    MemoryTrace trace;
    trace.Process();
    std::vector<Item> items;
    const bool deep = round % 10 == 0;
    const uint32_t length = deep ? 6000 : 300;
    for (uint32_t i = 0; i < length; ++i) {
      const uint32_t dice = random() % 100;
      const uint32_t name = 1 + random() % 4;
      if (dice < (deep ? 60u : 45u)) {
        items.push_back({kOperationEnter, name, i});
      } else if (dice < 90) {
        items.push_back({kOperationExit, name, i});
      } else if (dice < 98) {
        items.push_back({kTask, static_cast<uint32_t>(random() % 3), i});
      } else if (dice < 99) {
        items.push_back({kGap, 0, i, 0, 1});
      } else {
        items.push_back({kWindowStop, 0, i});
      }
    }
    trace.Items(1, items);
    // A reader with an unbounded stack, closing by name and by END, side by side.
    std::vector<std::pair<uint32_t, uint32_t>> by_name, by_file;  // task, name
    uint32_t task = 0;
    const auto close = [&](auto* open, uint32_t name, bool innermost) {
      for (const uint32_t where : {task, 0u}) {
        for (size_t i = open->size(); i-- > 0;) {
          if ((*open)[i].first != where) continue;
          if (innermost || (*open)[i].second == name) {
            open->erase(open->begin() + static_cast<long>(i));
            return;
          }
        }
        if (innermost) return;
      }
    };
    const std::vector<Decoded> decoded = ReadThread(*trace.Trace());
    ASSERT_EQ(decoded.size(), items.size());
    for (size_t i = 0; i < items.size(); ++i) {
      if (items[i].kind == kTask) task = items[i].id;
      if (items[i].kind == kGap || items[i].kind == kWindowStop) {
        by_name.clear();
        by_file.clear();
      }
      if (items[i].kind == kOperationEnter) {
        by_name.push_back({task, items[i].id});
        by_file.push_back({task, decoded[i].id});
      }
      if (items[i].kind == kOperationExit) {
        close(&by_name, items[i].id, false);
        close(&by_file, decoded[i].id, decoded[i].id == 0);
      }
      ASSERT_EQ(by_name, by_file) << "round " << round << ", item " << i;
    }
  }
}

// A window change of the process, which other threads' rings tell of.
struct Change {
  uint64_t ticks;
  bool starts;
};

// The reader's side of one thread: closes by name, or what the file says.
class Closing {
 public:
  explicit Closing(std::vector<std::pair<uint32_t, uint32_t>>* open) : open_(open) {}

  void Apply(uint32_t kind, uint32_t id) {
    if (kind == kTask) task_ = id;
    if (kind == kOperationEnter) open_->push_back({task_, id});
    if (kind == kOperationExit && !Close(task_, id) && id != 0) Close(0, id);
  }

 private:
  bool Close(uint32_t task, uint32_t id) {
    for (size_t i = open_->size(); i-- > 0;) {
      if ((*open_)[i].first != task || (id != 0 && (*open_)[i].second != id)) continue;
      open_->erase(open_->begin() + static_cast<long>(i));
      return true;
    }
    return false;
  }

  std::vector<std::pair<uint32_t, uint32_t>>* open_;
  uint32_t task_ = 0;
};

// Chunks of random length; the drainer knows all changes before the chunk's last item, but perhaps
// not yet the very last one.
void EncodeBesideChanges(const std::vector<Item>& items, const std::vector<Change>& changes,
                         std::mt19937* random, Sink* sink) {
  auto encoder = std::make_unique<CpuEncoder>();
  ThreadStream stream;
  stream.Reset(1);
  WindowChanges known;
  for (size_t next = 0; next < items.size();) {
    const size_t end = std::min(items.size(), next + 1 + (*random)() % 20);
    size_t count = known.end();
    while (count < changes.size() && changes[count].ticks < items[end - 1].ticks) ++count;
    if (count > known.end() && (*random)() % 2 == 0) --count;
    while (known.end() < count)
      known.Append(changes[known.end()].ticks, changes[known.end()].starts);
    encoder->Begin(&stream, 1, next, &known);
    for (; next < end; ++next) {
      encoder->Add({items[next].ticks, 0, MakeWord(items[next].kind, items[next].id, 1)}, nullptr);
    }
    ASSERT_EQ(0, encoder->Finish(sink));
  }
}

// As above, with windows that other threads start and stop, which this thread's items do not show;
// between a stop and a start the reader ignores it. With `burst` more changes than a page keeps.
void CompareBesideChanges(uint32_t seed, bool burst) {
  std::mt19937 random(seed);
  std::vector<Item> items;
  std::vector<Change> changes;
  for (uint32_t i = 1; i <= 400; ++i) {
    const uint32_t dice = random() % 100;
    const uint32_t name = 1 + random() % 3;
    const uint64_t ticks = 1000 * i;
    if (dice < 45) {
      items.push_back({kOperationEnter, name, ticks});
    } else if (dice < 85) {
      items.push_back({kOperationExit, name, ticks});
    } else {
      items.push_back({kTask, static_cast<uint32_t>(random() % 3), ticks});
    }
    const uint32_t some = random() % 10 != 0 ? 0 : burst ? 1 + random() % 90 : 1;
    for (uint32_t j = 1; j <= some; ++j) {
      changes.push_back({ticks + 2 * j, changes.size() % 2 == 1});
    }
  }
  MemoryTrace trace;
  trace.Process();
  EncodeBesideChanges(items, changes, &random, trace.sink());
  const std::vector<Decoded> decoded = ReadThread(*trace.Trace());
  ASSERT_EQ(decoded.size(), items.size());
  std::vector<std::pair<uint32_t, uint32_t>> by_name, by_file;  // task, name
  Closing name_closes(&by_name), file_closes(&by_file);
  size_t change = 0;
  bool recording = true;
  for (size_t i = 0; i < items.size(); ++i) {
    for (; change < changes.size() && changes[change].ticks < items[i].ticks; ++change) {
      recording = changes[change].starts;
      by_name.clear();
      by_file.clear();
    }
    if (!recording) continue;
    name_closes.Apply(items[i].kind, items[i].id);
    file_closes.Apply(decoded[i].kind, decoded[i].id);
    ASSERT_EQ(by_name, by_file) << "seed " << seed << ", item " << i;
  }
}

TEST(Encoder, ExitsMeanTheSameWhateverOtherThreadsDoToTheWindow) {
  for (uint32_t seed = 0; seed < 400; ++seed) CompareBesideChanges(seed, /*burst=*/false);
}

TEST(Encoder, ExitsMeanTheSameAfterMoreChangesThanAreKept) {
  for (uint32_t seed = 0; seed < 400; ++seed) CompareBesideChanges(seed, /*burst=*/true);
}

TEST(Encoder, ASnapshotHoldsNothingThatAWindowClosed) {
  MemorySink sink;
  auto encoder = std::make_unique<CpuEncoder>();
  ThreadStream stream;
  stream.Reset(1);
  WindowChanges changes;
  encoder->Begin(&stream, 1, 0, &changes);
  encoder->Add({100, 0, MakeWord(kOperationEnter, 7, 1)}, nullptr);
  ASSERT_EQ(0, encoder->Finish(&sink));
  const size_t first = sink.bytes();
  changes.Append(110, false);
  changes.Append(120, true);
  encoder->Begin(&stream, 1, 1, &changes);
  encoder->Add({130, 0, MakeWord(kOperationEnter, 8, 1)}, nullptr);
  ASSERT_EQ(0, encoder->Finish(&sink));
  CpuHeader header;
  std::vector<OpenOperation> open;
  ASSERT_TRUE(ParseCpuHeader(sink.data() + first + 16, sink.bytes() - first - 16, &header));
  ASSERT_TRUE(DecodeOpen(header, &open));
  EXPECT_EQ(header.task, 0u) << "all that is open is known";
  EXPECT_TRUE(open.empty());
}

}  // namespace
}  // namespace rlscope::trace
