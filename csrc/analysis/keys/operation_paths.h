// The tree of operation paths of one process: which names were open around which.
#ifndef RLSCOPE_ANALYSIS_KEYS_OPERATION_PATHS_H_
#define RLSCOPE_ANALYSIS_KEYS_OPERATION_PATHS_H_

#include <stdint.h>

#include <string>
#include <unordered_map>
#include <vector>

#include "trace/format/archive.h"
#include "trace/layout/record.h"
#include "trace/read/reader.h"

namespace rlscope::analysis {

// Paths 0 to 2 always exist; whether (not recorded) and (other) have rows is the caller's affair.
constexpr uint32_t kNoPath = 0;           // (none)
constexpr uint32_t kNotRecordedPath = 1;  // (not recorded)
constexpr uint32_t kOtherPath = 2;        // (other)
constexpr uint32_t kFirstPath = 3;
constexpr uint32_t kMaxPaths = 16384;  // besides those three
// Names of a path: texts of longer ones would make the relations grow with the square of the depth.
constexpr uint32_t kMaxDepth = 512;

// Whether a thread in a state with this path has an open operation.
constexpr bool IsOperation(uint32_t path) { return path >= kOtherPath; }

class OperationPaths {
 public:
  struct Node {
    uint32_t parent;
    uint32_t name;   // index into names()
    uint32_t depth;  // 1 for a root operation, 0 for (none)
    uint64_t instances;
    bool automatic = false;  // rlscope found it by itself
    // loop_names.h
    uint32_t first_name = 0;   // number of the plain first name
    bool around_loop = false;  // by its first name
    bool warm_up = false;      // by its first name
    bool learns = false;       // in the loop
  };

  // Texts of operation names by id; ids that are missing become "(unknown)".
  explicit OperationPaths(const std::vector<trace::Name>& names, uint32_t most_paths = kMaxPaths);

  // Index of the text of a name id; equal texts have equal indices. 0 is "(none)".
  uint32_t NameIndex(uint32_t id) const {
    return id < index_of_id_.size() ? index_of_id_[id] : unknown_name_;
  }

  // Path of an operation that is entered while `parent` is innermost, as another instance.
  // *overflowed when it would be one path or one name too many and became kOtherPath.
  uint32_t Enter(uint32_t parent, uint32_t name, bool* overflowed);
  // The same for one entered directly inside itself.
  uint32_t Reenter(uint32_t path) {
    ++nodes_[path].instances;
    return path;
  }

  // Path of an instance of the automatic operation `operation`, a final state
  // (trace/layout/record.h): not that of an annotated operation of the same name.
  uint32_t EnterAutomatic(uint32_t operation, bool* overflowed);

  uint32_t size() const { return static_cast<uint32_t>(nodes_.size()); }
  const Node& node(uint32_t path) const { return nodes_[path]; }
  const std::string& name(uint32_t path) const { return names_[nodes_[path].name]; }
  // Names from the root joined by "/", with "\" and "/" in a name escaped by "\".
  std::string Text(uint32_t path) const;

  void Carry(trace::Archive* archive);
  // The index of a name: names that are new stand between those of an archive.
  void CarryName(trace::Archive* archive, uint32_t* name) const;

 private:
  struct Slot {
    uint64_t key;  // KeyOf(), plus 1; 0 free
    uint32_t path;
  };
  uint32_t EnterAt(uint64_t key, uint32_t parent, uint32_t name, bool* overflowed);
  uint32_t AddNode(uint32_t parent, uint32_t name);
  void Describe(const std::string& plain_name, Node* root);
  void CarryNames(trace::Archive* archive);
  void CarryNode(trace::Archive* archive, uint32_t path);
  Slot* Find(uint64_t key);
  void GrowSlots();

  const uint32_t most_paths_;
  std::vector<std::string> names_;
  std::vector<uint32_t> index_of_id_;
  uint32_t unknown_name_ = 0;
  uint32_t automatic_names_[trace::kAutoEvaluation + 1];   // of those that are final
  std::unordered_map<std::string, uint32_t> first_names_;  // plain; by number in order of paths
  std::vector<Node> nodes_;
  std::vector<Slot> slots_;                // open addressing, a power of two, at most half full
  std::vector<uint32_t> name_of_archive_;  // index by that in the archive that was read
};

}  // namespace rlscope::analysis

#endif  // RLSCOPE_ANALYSIS_KEYS_OPERATION_PATHS_H_
