#include "python/trace_module/events.h"

#include <algorithm>
#include <iterator>
#include <unordered_map>
#include <utility>

#include "analysis/cuda/cuda_relations.h"
#include "analysis/events/instances.h"
#include "analysis/events/intervals.h"
#include "analysis/keys/layer_ranks.h"
#include "analysis/sweep/trace_source.h"
#include "analysis/threads/thread_states.h"
#include "trace/layout/layer.h"

namespace rlscope::python {
namespace {

using analysis::IntervalKind;
using analysis::RecordedInterval;

std::shared_ptr<const Dictionary> MakeDictionary(std::vector<std::string> words) {
  return std::make_shared<const Dictionary>(std::move(words));
}

// ---- numbers of a process as ids of the run -----------------------------------------------------

class ThreadIds {
 public:
  ThreadIds(const trace::ProcessImage& image, int64_t first) {
    for (const analysis::ThreadLife& life : analysis::FindLives(image)) {
      ids_.emplace(life.thread.thread, first + static_cast<int64_t>(ids_.size()));
    }
  }
  int64_t Of(uint32_t thread) const { return ids_.at(thread); }

 private:
  std::unordered_map<uint32_t, int64_t> ids_;
};

// A pass over the threads numbers the paths of operations as they come; which they are in the run,
// their texts say.
class OperationIds {
 public:
  OperationIds(const std::vector<KnownOperation>& known, const analysis::OperationPaths& paths)
      : known_(known), paths_(paths) {
    for (size_t i = 0; i < known.size(); ++i)
      rows_.emplace(Key(known[i].path, known[i].automatic), i);
  }

  static constexpr size_t kNone = SIZE_MAX;

  // Place among the known ones, of a path that no sweep found (too many of them) that of (other);
  // kNone: of no operation.
  size_t RowOf(uint32_t path) {
    if (path >= row_of_path_.size()) row_of_path_.resize(path + 1, kNotFoundYet);
    if (row_of_path_[path] == kNotFoundYet) row_of_path_[path] = Find(path);
    return row_of_path_[path];
  }
  // In the run; -1 of no operation.
  int64_t IdOf(uint32_t path) {
    const size_t row = RowOf(path);
    return row == kNone ? -1 : known_[row].id;
  }

 private:
  static constexpr size_t kNotFoundYet = SIZE_MAX - 1;
  static std::string Key(const std::string& path, bool automatic) {
    return path + (automatic ? '\1' : '\0');
  }
  size_t Find(uint32_t path) const {
    if (!analysis::IsOperation(path)) return kNone;
    for (const uint32_t wanted : {path, analysis::kOtherPath}) {
      const auto found = rows_.find(Key(paths_.Text(wanted), paths_.node(wanted).automatic));
      if (found != rows_.end()) return found->second;
    }
    return kNone;
  }

  const std::vector<KnownOperation>& known_;
  const analysis::OperationPaths& paths_;
  std::unordered_map<std::string, size_t> rows_;
  std::vector<size_t> row_of_path_;
};

// ---- event --------------------------------------------------------------------------------------

// By IntervalKind; of the last one the kinds of the GPU follow.
constexpr const char* kThreadKinds[] = {"operation", "call", "wait", "callback", "cuda_call"};
static_assert(std::size(kThreadKinds) == static_cast<size_t>(IntervalKind::kGpu));

size_t WordOf(const RecordedInterval& interval) {
  return static_cast<size_t>(interval.kind) + static_cast<size_t>(interval.gpu_kind);
}
std::vector<std::string> LayerWords() {
  return {std::begin(trace::kLayerNames), std::end(trace::kLayerNames)};
}
size_t WordOf(trace::Layer layer) { return static_cast<size_t>(layer); }

// Texts of names by place in one dictionary: nothing, the names of the process, the operations.
class EventNames {
 public:
  EventNames(const std::vector<trace::Name>& names, const std::vector<KnownOperation>& operations)
      : codes_(analysis::FunctionLayers(names)) {
    words_.push_back("");
    for (const trace::Name& name : names) {
      if (places_.emplace(name.id, words_.size()).second) words_.push_back(name.text);
    }
    first_operation_ = words_.size();
    for (const KnownOperation& operation : operations) words_.push_back(operation.path);
  }

  std::vector<std::string> TakeWords() { return std::move(words_); }
  size_t OfName(uint32_t id) const {
    const auto found = places_.find(id);
    return found == places_.end() ? 0 : found->second;
  }
  size_t OfOperation(size_t row) const {
    return row == OperationIds::kNone ? 0 : first_operation_ + row;
  }
  uint32_t LayerOf(uint32_t function) const {
    const uint32_t code = function < codes_.size() ? codes_[function] : 0;
    return analysis::LayerOfRank(analysis::RankOfFunction(code));
  }

 private:
  const std::vector<uint8_t> codes_;
  std::vector<std::string> words_;
  std::unordered_map<uint32_t, size_t> places_;
  size_t first_operation_ = 0;
};

// One pass of a reader: what it needs of the process, read once.
struct EventPass {
  EventPass(std::shared_ptr<trace::Directory> opened, RowOptions wanted)
      : directory(std::move(opened)),
        options(std::move(wanted)),
        image(directory->processes()[options.process]),
        input(analysis::MakeInput(image)),
        threads(image, options.first_thread),
        names(input.names, options.operations) {
    input.most_paths = options.most_paths;
    input.reached_ns = options.reached_ns.get();
  }

  const std::shared_ptr<trace::Directory> directory;
  const RowOptions options;
  const trace::ProcessImage& image;
  analysis::ProcessInput input;
  const ThreadIds threads;
  EventNames names;
};

Fields EventFields(EventNames* names) {
  return {{"thread_id", nullptr},
          {"kind", MakeDictionary(EventKinds())},
          {"layer", MakeDictionary(LayerWords())},
          {"name", MakeDictionary(names->TakeWords())},
          {"start_ns", nullptr},
          {"duration_ns", nullptr},
          {"correlation_id", nullptr},
          {"device", nullptr},
          {"stream", nullptr},
          {"bytes", nullptr},
          {"graph", nullptr},
          {"operation_id", nullptr},
          {"iteration", nullptr}};
}

// In the order of EventFields.
class EventRows : public analysis::IntervalSink {
 public:
  EventRows(const EventPass& pass, const analysis::OperationPaths& paths, RowWriter* writer)
      : pass_(pass), operations_(pass.options.operations, paths), writer_(writer) {}

  void Add(const RecordedInterval& interval) override {
    const bool of_gpu = interval.OfGpu();
    of_gpu ? writer_->Null() : writer_->Number(pass_.threads.Of(interval.thread));
    writer_->Word(WordOf(interval));
    AddLayer(interval);
    writer_->Word(NameOf(interval));
    writer_->Number(interval.start_ns);
    writer_->Number(interval.duration_ns);
    writer_->NumberOrNull(of_gpu || interval.kind == IntervalKind::kCudaCall, interval.correlation);
    AddPlace(interval);
    const bool has_path = interval.operation < analysis::kUnlinkedPath;
    const int64_t operation = has_path ? operations_.IdOf(interval.operation) : -1;
    writer_->NumberOrNull(operation >= 0, operation);
    writer_->NumberOrNull(interval.iteration >= 0, interval.iteration);
    writer_->EndRow();
  }

 private:
  void AddLayer(const RecordedInterval& interval) {
    switch (interval.kind) {
      case IntervalKind::kOperation:
        return writer_->Null();
      case IntervalKind::kCall:
      case IntervalKind::kWait:
        return writer_->Word(pass_.names.LayerOf(interval.name));
      case IntervalKind::kCallback:
        return writer_->Word(WordOf(trace::Layer::kPython));
      case IntervalKind::kCudaCall:
        return writer_->Word(WordOf(trace::Layer::kCudaApi));
      default:
        return writer_->Word(WordOf(trace::Layer::kGpu));
    }
  }

  size_t NameOf(const RecordedInterval& interval) {
    switch (interval.kind) {
      case IntervalKind::kOperation:
        return pass_.names.OfOperation(operations_.RowOf(interval.name));
      case IntervalKind::kCallback:
        return 0;
      default:
        return pass_.names.OfName(interval.name);
    }
  }

  // Device, stream, bytes, graph.
  void AddPlace(const RecordedInterval& interval) {
    if (!interval.OfGpu()) {
      for (int i = 0; i < 4; ++i) writer_->Null();
      return;
    }
    const analysis::GpuInput& gpu = pass_.input.gpu[interval.gpu];
    writer_->Number(gpu.device);
    writer_->Number(static_cast<int32_t>(gpu.stream));
    writer_->Number(static_cast<int64_t>(interval.bytes));
    writer_->Number(interval.graph);
  }

  const EventPass& pass_;
  OperationIds operations_;
  RowWriter* const writer_;
};

// ---- operation_instance -------------------------------------------------------------------------

Fields InstanceFields() {
  return {{"thread_id", nullptr},
          {"operation_id", nullptr},
          {"iteration", nullptr},
          {"start_ns", nullptr},
          {"duration_ns", nullptr},
          {"self_ns", nullptr},
          {"ended", MakeDictionary({"exit", "window", "process_end", "thread_end", "gap"})}};
}

class InstanceRows : public analysis::InstanceRowSink {
 public:
  InstanceRows(const EventPass& pass, const analysis::OperationPaths& paths, RowWriter* writer)
      : pass_(pass), operations_(pass.options.operations, paths), writer_(writer) {}

  void Add(const analysis::OperationInstance& instance, int64_t iteration) override {
    writer_->Number(pass_.threads.Of(instance.thread));
    writer_->Number(operations_.IdOf(instance.path));
    writer_->NumberOrNull(iteration >= 0, iteration);
    writer_->Number(instance.start_ns);
    writer_->Number(instance.end_ns - instance.start_ns);
    writer_->Number(instance.self_ns);
    writer_->Word(static_cast<size_t>(instance.ended));
    writer_->EndRow();
  }

 private:
  const EventPass& pass_;
  OperationIds operations_;
  RowWriter* const writer_;
};

}  // namespace

std::vector<std::string> EventKinds() {
  std::vector<std::string> words(std::begin(kThreadKinds), std::end(kThreadKinds));
  for (const analysis::GpuKindRow& kind : analysis::kGpuKinds) words.push_back(kind.name);
  return words;
}

RowStream StreamEvents(std::shared_ptr<trace::Directory> directory, RowOptions options) {
  return RowStream([directory, options] {
    const auto pass = std::make_shared<EventPass>(directory, options);
    return RowSource{EventFields(&pass->names), [pass](RowWriter* writer) {
                       analysis::OperationPaths paths(pass->input.names, pass->input.most_paths);
                       EventRows rows(*pass, paths, writer);
                       analysis::FindIntervals(pass->input, &paths, &rows);
                     }};
  });
}

RowStream StreamInstances(std::shared_ptr<trace::Directory> directory, RowOptions options) {
  return RowStream([directory, options] {
    const auto pass = std::make_shared<EventPass>(directory, options);
    return RowSource{InstanceFields(), [pass](RowWriter* writer) {
                       analysis::OperationPaths paths(pass->input.names, pass->input.most_paths);
                       InstanceRows rows(*pass, paths, writer);
                       analysis::FindInstances(pass->input, &paths, &rows);
                     }};
  });
}

}  // namespace rlscope::python
