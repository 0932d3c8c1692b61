#include "analysis/keys/operation_paths.h"

#include "analysis/keys/loop_names.h"
#include "trace/format/name_kind.h"
#include "trace/layout/record.h"

namespace rlscope::analysis {
namespace {

constexpr size_t kFirstSlots = 256;
// In the place of the parent of an automatic operation: no path has that number.
constexpr uint32_t kAutomaticRoot = UINT32_MAX;

constexpr uint64_t KeyOf(uint32_t parent, uint32_t name) {
  return (uint64_t{parent} << 32 | name) + 1;
}

uint64_t Hash(uint64_t key) { return key * 0x9e3779b97f4a7c15u; }  // Fibonacci hashing

void AppendEscaped(const std::string& name, std::string* text) {
  for (char c : name) {
    if (c == '\\' || c == '/') text->push_back('\\');
    text->push_back(c);
  }
}

}  // namespace

OperationPaths::OperationPaths(const std::vector<trace::Name>& names, uint32_t most_paths)
    : most_paths_(most_paths), slots_(kFirstSlots) {
  std::unordered_map<std::string, uint32_t> index;
  const auto add = [&](const std::string& text) {
    auto [entry, added] = index.try_emplace(text, names_.size());
    if (added) names_.push_back(text);
    return entry->second;
  };
  const uint32_t special[] = {add("(none)"), add("(not recorded)"), add("(other)")};
  unknown_name_ = add("(unknown)");
  automatic_names_[trace::kAutoNothing] = special[kNoPath];
  automatic_names_[trace::kAutoInference] = add("inference");
  automatic_names_[trace::kAutoBackprop] = add("backprop");
  automatic_names_[trace::kAutoSimulation] = add("simulation");
  automatic_names_[trace::kAutoTarget] = add("target");
  automatic_names_[trace::kAutoGeneration] = add("generation");
  automatic_names_[trace::kAutoAdvantage] = add("advantage");
  automatic_names_[trace::kAutoReference] = add("reference");
  automatic_names_[trace::kAutoReward] = add("reward");
  automatic_names_[trace::kAutoReplay] = add("replay");
  automatic_names_[trace::kAutoEvaluation] = add("evaluation");
  for (const trace::Name& name : names) {
    if (name.kind != static_cast<uint32_t>(trace::NameKind::kOperation)) continue;
    if (name.id > trace::kMaxId) continue;
    if (name.id >= index_of_id_.size()) index_of_id_.resize(name.id + 1, unknown_name_);
    index_of_id_[name.id] = add(name.text);
  }
  nodes_.push_back({kNoPath, special[kNoPath], 0, 0});
  AddNode(kNoPath, special[kNotRecordedPath]);
  AddNode(kNoPath, special[kOtherPath]);
  // An operation that the user calls "(other)" is the row for what is too much; one called
  // "(not recorded)" is not the row of gaps, so that path stays out of the table.
  const uint64_t key = KeyOf(kNoPath, special[kOtherPath]);
  *Find(key) = {key, kOtherPath};
}

uint32_t OperationPaths::AddNode(uint32_t parent, uint32_t name) {
  const Node& above = nodes_[parent];
  Node node = above;
  node.parent = parent;
  node.name = name;
  node.depth = above.depth + 1;
  node.instances = 0;
  node.automatic = false;
  const std::string plain_name = PlainName(names_[name]);
  if (above.depth == 0) Describe(plain_name, &node);
  node.learns |= !node.around_loop && IsLearning(plain_name);
  nodes_.push_back(node);
  return size() - 1;
}

void OperationPaths::Describe(const std::string& plain_name, Node* root) {
  const auto number = static_cast<uint32_t>(first_names_.size());
  root->first_name = first_names_.try_emplace(plain_name, number).first->second;
  root->around_loop = IsAroundLoop(plain_name);
  root->warm_up = IsWarmUp(plain_name);
}

uint32_t OperationPaths::Enter(uint32_t parent, uint32_t name, bool* overflowed) {
  *overflowed = false;
  if (parent == kOtherPath) return Reenter(kOtherPath);
  return EnterAt(KeyOf(parent, name), parent, name, overflowed);
}

uint32_t OperationPaths::EnterAutomatic(uint32_t operation, bool* overflowed) {
  *overflowed = false;
  const uint32_t name = operation <= trace::kAutoEvaluation
                            ? automatic_names_[operation]
                            : NameIndex(operation - trace::kAutoNamed);
  const uint32_t path = EnterAt(KeyOf(kAutomaticRoot, name), kNoPath, name, overflowed);
  if (path != kOtherPath) nodes_[path].automatic = true;
  return path;
}

uint32_t OperationPaths::EnterAt(uint64_t key, uint32_t parent, uint32_t name, bool* overflowed) {
  Slot* slot = Find(key);
  if (slot->key == key) return Reenter(slot->path);
  if (size() >= kFirstPath + most_paths_ || nodes_[parent].depth == kMaxDepth) {
    *overflowed = true;
    return Reenter(kOtherPath);
  }
  const uint32_t path = AddNode(parent, name);
  *slot = {key, path};
  if (2 * nodes_.size() > slots_.size()) GrowSlots();
  return Reenter(path);
}

OperationPaths::Slot* OperationPaths::Find(uint64_t key) {
  const size_t mask = slots_.size() - 1;
  size_t at = Hash(key) >> 32 & mask;
  while (slots_[at].key != 0 && slots_[at].key != key) at = (at + 1) & mask;
  return &slots_[at];
}

void OperationPaths::GrowSlots() {
  std::vector<Slot> old(slots_.size() * 2);
  old.swap(slots_);
  for (const Slot& slot : old) {
    if (slot.key != 0) *Find(slot.key) = slot;
  }
}

void OperationPaths::CarryNames(trace::Archive* archive) {
  std::unordered_map<std::string, uint32_t> index;
  for (uint32_t i = 0; archive->reads() && i < names_.size(); ++i) index.emplace(names_[i], i);
  const size_t count = archive->Count(names_.size());
  for (size_t i = 0; i < count && archive->ok(); ++i) {
    std::string text = archive->reads() ? "" : names_[i];
    archive->Text(&text);
    if (!archive->reads()) continue;
    const auto [entry, added] = index.try_emplace(text, names_.size());
    if (added) names_.push_back(text);
    name_of_archive_.push_back(entry->second);
  }
}

void OperationPaths::CarryName(trace::Archive* archive, uint32_t* name) const {
  if (!archive->reads()) return archive->Number(name);
  archive->Below(name, name_of_archive_.size());
  if (archive->ok()) *name = name_of_archive_[*name];
}

// Paths 0 to 2 are there already.
void OperationPaths::CarryNode(trace::Archive* archive, uint32_t path) {
  Node node = path < size() ? nodes_[path] : Node();
  archive->Number(&node.instances);
  if (path >= kFirstPath) {
    archive->Below(&node.parent, path);
    CarryName(archive, &node.name);
    archive->Number(&node.automatic);
  }
  if (!archive->reads() || !archive->ok()) return;
  if (path >= kFirstPath) {
    const uint64_t key = KeyOf(node.automatic ? kAutomaticRoot : node.parent, node.name);
    *Find(key) = {key, AddNode(node.parent, node.name)};
    if (2 * nodes_.size() > slots_.size()) GrowSlots();
  }
  nodes_[path].instances = node.instances;
  nodes_[path].automatic = node.automatic;
}

void OperationPaths::Carry(trace::Archive* archive) {
  CarryNames(archive);
  const size_t count = archive->Count(nodes_.size());
  if (count < kFirstPath || count > kFirstPath + most_paths_) return archive->Fail();
  for (uint32_t path = 0; path < count && archive->ok(); ++path) CarryNode(archive, path);
}

std::string OperationPaths::Text(uint32_t path) const {
  if (path < kFirstPath) return name(path);
  std::string text;
  if (nodes_[path].parent != kNoPath) text = Text(nodes_[path].parent) + "/";
  AppendEscaped(name(path), &text);
  return text;
}

}  // namespace rlscope::analysis
