// Columns on their way to Python: built without the GIL, then handed over as numpy arrays (numbers)
// and lists of str (text).
#ifndef RLSCOPE_PYTHON_TRACE_MODULE_COLUMNS_H_
#define RLSCOPE_PYTHON_TRACE_MODULE_COLUMNS_H_

#include <nanobind/nanobind.h>
#include <stdint.h>

#include <string>
#include <utility>
#include <variant>
#include <vector>

namespace rlscope::python {

// A column of few different texts, repeated.
struct Words {
  std::vector<std::string> words;
  std::vector<uint8_t> index;
};

// A column that the source cannot fill.
struct Nulls {
  size_t count;
};

// A bool as numpy stores it; std::vector<bool> is packed.
enum Bool : uint8_t { kFalse = 0, kTrue = 1 };

class Columns {
 public:
  using Values =
      std::variant<std::vector<int64_t>, std::vector<int32_t>, std::vector<uint64_t>,
                   std::vector<double>, std::vector<Bool>, std::vector<std::string>, Words, Nulls>;

  void Add(const char* name, Values values) { columns_.emplace_back(name, std::move(values)); }

  // The columns as {name: array or list}. Needs the GIL; leaves this empty.
  nanobind::dict TakeDict();

 private:
  std::vector<std::pair<const char*, Values>> columns_;
};

using Relations = std::vector<std::pair<const char*, Columns>>;

// A column of `count` values function(0), function(1), ...
template <class T, class Function>
std::vector<T> MakeColumn(size_t count, Function function) {
  std::vector<T> values(count);
  for (size_t i = 0; i < count; ++i) values[i] = static_cast<T>(function(i));
  return values;
}

// A str from bytes that may be no UTF-8.
nanobind::str ToStr(const std::string& text);

}  // namespace rlscope::python

#endif  // RLSCOPE_PYTHON_TRACE_MODULE_COLUMNS_H_
