#include "python/trace_module/row_stream.h"

#include <errno.h>

#include <algorithm>
#include <exception>
#include <string_view>
#include <utility>
#include <vector>

#include "base/utf8.h"
#include "python/trace_module/arrow_abi.h"
#include "python/trace_module/columns.h"
#include "python/trace_module/error.h"

namespace nb = nanobind;

namespace rlscope::python {

Dictionary::Dictionary(const std::vector<std::string>& words) {
  for (const std::string& word : words) {
    bytes_ += word;
    offsets_.push_back(static_cast<int32_t>(bytes_.size()));
    const size_t begin = bytes_.size() - word.size();
    base::ReplaceInvalidUtf8(reinterpret_cast<uint8_t*>(&bytes_[begin]), word.size());
  }
}

// ---- between two threads ------------------------------------------------------------------------

bool BatchQueue::Put(std::unique_ptr<RowBatch> batch) {
  std::unique_lock<std::mutex> lock(mutex_);
  changed_.wait(lock, [&] { return abandoned_ || batches_.size() < kMost; });
  if (abandoned_) return false;
  batches_.push_back(std::move(batch));
  changed_.notify_all();
  return true;
}

void BatchQueue::Finish(const std::string& error) {
  std::lock_guard<std::mutex> lock(mutex_);
  finished_ = true;
  error_ = error;
  changed_.notify_all();
}

std::unique_ptr<RowBatch> BatchQueue::Take(std::string* error) {
  std::unique_lock<std::mutex> lock(mutex_);
  changed_.wait(lock, [&] { return finished_ || !batches_.empty(); });
  if (batches_.empty()) {
    *error = error_;
    return nullptr;
  }
  std::unique_ptr<RowBatch> batch = std::move(batches_.front());
  batches_.pop_front();
  changed_.notify_all();
  return batch;
}

void BatchQueue::Abandon() {
  std::lock_guard<std::mutex> lock(mutex_);
  abandoned_ = true;
  batches_.clear();
  changed_.notify_all();
}

RowWriter::RowWriter(const Fields& fields, BatchQueue* queue) : fields_(fields), queue_(queue) {
  BeginBatch();
}

void RowWriter::BeginBatch() {
  batch_ = std::make_unique<RowBatch>();
  batch_->columns.resize(fields_.size());
  for (size_t i = 0; i < fields_.size(); ++i) {
    batch_->columns[i].Reserve(kBatchRows, fields_[i].words != nullptr);
  }
}

void RowWriter::Flush() {
  if (batch_->rows == 0) return;
  if (!queue_->Put(std::move(batch_))) throw Abandoned();
  BeginBatch();
}

namespace {

// ---- schema -------------------------------------------------------------------------------------

struct SchemaParts {
  std::string name;
  std::vector<std::unique_ptr<ArrowSchema>> children;
  std::vector<ArrowSchema*> child_pointers;
  std::unique_ptr<ArrowSchema> dictionary;
};

void ReleaseSchema(ArrowSchema* schema) {
  auto* const parts = static_cast<SchemaParts*>(schema->private_data);
  for (const auto& child : parts->children) {
    if (child->release != nullptr) child->release(child.get());
  }
  if (parts->dictionary != nullptr && parts->dictionary->release != nullptr) {
    parts->dictionary->release(parts->dictionary.get());
  }
  delete parts;
  schema->release = nullptr;
}

void FillSchema(const char* format, const std::string& name, ArrowSchema* schema) {
  auto* const parts = new SchemaParts;
  parts->name = name;
  *schema = {format,  parts->name.c_str(), nullptr, kArrowNullable, 0, nullptr,
             nullptr, &ReleaseSchema,      parts};
}

void FillField(const Field& field, ArrowSchema* schema) {
  FillSchema(field.words == nullptr ? "l" : "i", field.name, schema);
  if (field.words == nullptr) return;
  auto* const parts = static_cast<SchemaParts*>(schema->private_data);
  parts->dictionary = std::make_unique<ArrowSchema>();
  FillSchema("u", "", parts->dictionary.get());
  schema->dictionary = parts->dictionary.get();
}

void FillTable(const Fields& fields, ArrowSchema* schema) {
  FillSchema("+s", "", schema);
  auto* const parts = static_cast<SchemaParts*>(schema->private_data);
  for (const Field& field : fields) {
    parts->children.push_back(std::make_unique<ArrowSchema>());
    FillField(field, parts->children.back().get());
    parts->child_pointers.push_back(parts->children.back().get());
  }
  schema->n_children = static_cast<int64_t>(fields.size());
  schema->children = parts->child_pointers.data();
}

// ---- rows ---------------------------------------------------------------------------------------

struct ArrayParts {
  std::shared_ptr<const RowBatch> batch;
  std::shared_ptr<const Dictionary> words;
  const void* buffers[3] = {};
  std::vector<std::unique_ptr<ArrowArray>> children;
  std::vector<ArrowArray*> child_pointers;
  std::unique_ptr<ArrowArray> dictionary;
};

void ReleaseArray(ArrowArray* array) {
  auto* const parts = static_cast<ArrayParts*>(array->private_data);
  for (const auto& child : parts->children) {
    if (child->release != nullptr) child->release(child.get());
  }
  if (parts->dictionary != nullptr && parts->dictionary->release != nullptr) {
    parts->dictionary->release(parts->dictionary.get());
  }
  delete parts;
  array->release = nullptr;
}

ArrayParts* FillArray(size_t length, size_t nulls, int64_t buffers, ArrowArray* array) {
  auto* const parts = new ArrayParts;
  *array = {static_cast<int64_t>(length),
            static_cast<int64_t>(nulls),
            0,
            buffers,
            0,
            parts->buffers,
            nullptr,
            nullptr,
            &ReleaseArray,
            parts};
  return parts;
}

void FillWords(const std::shared_ptr<const Dictionary>& words, ArrowArray* array) {
  ArrayParts* const parts = FillArray(words->size(), 0, 3, array);
  parts->words = words;
  parts->buffers[1] = words->offsets();
  parts->buffers[2] = words->bytes();
}

void FillColumn(const Field& field, const std::shared_ptr<const RowBatch>& batch, size_t column,
                ArrowArray* array) {
  const Cells& cells = batch->columns[column];
  ArrayParts* const parts = FillArray(batch->rows, cells.nulls(), 2, array);
  parts->batch = batch;
  parts->buffers[0] = cells.valid();
  parts->buffers[1] = cells.values();
  if (field.words == nullptr) return;
  parts->dictionary = std::make_unique<ArrowArray>();
  FillWords(field.words, parts->dictionary.get());
  array->dictionary = parts->dictionary.get();
}

void FillBatch(const Fields& fields, std::shared_ptr<const RowBatch> batch, ArrowArray* array) {
  ArrayParts* const parts = FillArray(batch->rows, 0, 1, array);
  for (size_t i = 0; i < fields.size(); ++i) {
    parts->children.push_back(std::make_unique<ArrowArray>());
    FillColumn(fields[i], batch, i, parts->children.back().get());
    parts->child_pointers.push_back(parts->children.back().get());
  }
  array->n_children = static_cast<int64_t>(fields.size());
  array->children = parts->child_pointers.data();
}

// ---- stream -------------------------------------------------------------------------------------

// One pass over the rows. Knows nothing of Python: a reader may use and release it in any thread.
class Pass {
 public:
  explicit Pass(RowSource source) : source_(std::move(source)), thread_([this] { Make(); }) {}
  ~Pass() {
    queue_.Abandon();
    thread_.join();
  }

  const Fields& fields() const { return source_.fields; }
  const char* error() const { return error_.empty() ? nullptr : error_.c_str(); }
  // Null at the end, and where rows are missing: see error().
  std::unique_ptr<RowBatch> Take() { return queue_.Take(&error_); }
  // 0; an errno value where rows are missing.
  int Next(ArrowArray* array) {
    std::shared_ptr<RowBatch> batch = Take();
    if (batch != nullptr) {
      FillBatch(source_.fields, std::move(batch), array);
      return 0;
    }
    array->release = nullptr;  // the end
    return error_.empty() ? 0 : EIO;
  }

 private:
  void Make() {
    std::string error;
    try {
      RowWriter writer(source_.fields, &queue_);
      source_.make(&writer);
      writer.Flush();
    } catch (const Abandoned&) {
    } catch (const std::exception& failure) {
      error = failure.what();
    }
    queue_.Finish(error);
  }

  const RowSource source_;
  BatchQueue queue_;
  std::string error_;
  std::thread thread_;  // last: it uses all of the above
};

Pass* PassOf(ArrowArrayStream* stream) { return static_cast<Pass*>(stream->private_data); }

int GetSchema(ArrowArrayStream* stream, ArrowSchema* schema) {
  FillTable(PassOf(stream)->fields(), schema);
  return 0;
}
int GetNext(ArrowArrayStream* stream, ArrowArray* array) { return PassOf(stream)->Next(array); }
const char* GetLastError(ArrowArrayStream* stream) { return PassOf(stream)->error(); }
void ReleaseStream(ArrowArrayStream* stream) {
  delete PassOf(stream);
  stream->release = nullptr;
}

constexpr char kCapsuleName[] = "arrow_array_stream";

void DeleteCapsule(PyObject* capsule) {
  auto* const stream = static_cast<ArrowArrayStream*>(PyCapsule_GetPointer(capsule, kCapsuleName));
  if (stream->release != nullptr) {
    Py_BEGIN_ALLOW_THREADS stream->release(stream);
    Py_END_ALLOW_THREADS
  }
  delete stream;
}

// ---- columns ------------------------------------------------------------------------------------

using Batches = std::vector<std::unique_ptr<RowBatch>>;

std::vector<int64_t> Numbers(const Batches& batches, size_t column) {
  std::vector<int64_t> numbers;
  for (const auto& batch : batches) {
    const std::vector<int64_t>& more = batch->columns[column].numbers();
    numbers.insert(numbers.end(), more.begin(), more.end());
  }
  return numbers;
}

nb::object Cell(const Field& field, const Cells& cells, size_t row) {
  if (!cells.IsValid(row)) return nb::none();
  if (field.words == nullptr) return nb::int_(cells.numbers()[row]);
  const std::string_view text = field.words->text(static_cast<size_t>(cells.words()[row]));
  return nb::str(text.data(), text.size());
}

nb::list ToList(const Field& field, const Batches& batches, size_t column) {
  nb::list list;
  for (const auto& batch : batches) {
    for (size_t row = 0; row < batch->rows; ++row) {
      list.append(Cell(field, batch->columns[column], row));
    }
  }
  return list;
}

bool HasNulls(const Batches& batches, size_t column) {
  return std::any_of(batches.begin(), batches.end(),
                     [&](const auto& batch) { return batch->columns[column].nulls() > 0; });
}

}  // namespace

nb::dict RowStream::ToColumns() const {
  Batches batches;
  Fields fields;
  {
    nb::gil_scoped_release release;
    Pass pass(open_());
    fields = pass.fields();
    while (auto batch = pass.Take()) batches.push_back(std::move(batch));
    if (pass.error() != nullptr) throw TraceError(pass.error());
  }
  Columns arrays;
  nb::dict lists;
  for (size_t i = 0; i < fields.size(); ++i) {
    const char* const name = fields[i].name.c_str();
    if (fields[i].words == nullptr && !HasNulls(batches, i)) {
      arrays.Add(name, Numbers(batches, i));
    } else {
      lists[name] = ToList(fields[i], batches, i);
    }
  }
  nb::dict columns = arrays.TakeDict();
  columns.update(lists);
  return columns;
}

nb::object RowStream::ToCapsule() const {
  auto stream = std::make_unique<ArrowArrayStream>();
  {
    nb::gil_scoped_release release;
    *stream = {&GetSchema, &GetNext, &GetLastError, &ReleaseStream, new Pass(open_())};
  }
  PyObject* const capsule = PyCapsule_New(stream.get(), kCapsuleName, &DeleteCapsule);
  if (capsule == nullptr) {
    stream->release(stream.get());
    throw nb::python_error();
  }
  stream.release();
  return nb::steal(capsule);
}

void AddRowStream(nb::module_& module) {
  nb::class_<RowStream>(module, "RowStream")
      .def(
          "__arrow_c_stream__", [](const RowStream& self, nb::object) { return self.ToCapsule(); },
          nb::arg("requested_schema") = nb::none())
      .def("columns", &RowStream::ToColumns);
}

}  // namespace rlscope::python
