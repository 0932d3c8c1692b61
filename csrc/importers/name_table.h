// The names of one process, each with the number that it gets in the trace file. Bounded: names
// beyond the limits are `(other)`, as the recorder has it.
#ifndef RLSCOPE_IMPORTERS_NAME_TABLE_H_
#define RLSCOPE_IMPORTERS_NAME_TABLE_H_

#include <stddef.h>
#include <stdint.h>

#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "importers/rows.h"
#include "trace/format/name_kind.h"
#include "trace/layout/layer.h"

namespace rlscope::importers {

class NameTable {
 public:
  static constexpr size_t kMostNames = 65'536;
  static constexpr size_t kMostBytes = 32 << 20;

  explicit NameTable(size_t most_bytes = kMostBytes) : most_bytes_(most_bytes) {}

  // From 1 on, in order of first appearance. Only functions have a layer.
  uint32_t Find(trace::NameKind kind, trace::Layer layer, std::string_view text);

  // The text of a number that Find() returned.
  std::string_view Text(uint32_t number) const {
    return std::string_view(*in_order_[number - 1]).substr(2);
  }

  // Calls visit(kind, layer, text), in the order of the numbers.
  template <class Visit>
  void Each(Visit visit) const {
    for (const std::string* key : in_order_) {
      visit(static_cast<trace::NameKind>((*key)[0]), static_cast<trace::Layer>((*key)[1]),
            std::string_view(*key).substr(2));
    }
  }

  // How often a name had no room.
  uint64_t refused() const { return refused_; }

 private:
  uint32_t Add();

  const size_t most_bytes_;
  std::string key_;  // kind, layer and text
  std::unordered_map<std::string, Place> numbers_;
  std::vector<const std::string*> in_order_;  // keys of numbers_
  size_t bytes_ = 0;
  uint64_t refused_ = 0;
};

}  // namespace rlscope::importers

#endif  // RLSCOPE_IMPORTERS_NAME_TABLE_H_
