#include "importers/name_table.h"

namespace rlscope::importers {
namespace {

constexpr std::string_view kOther = "(other)";

void MakeKey(trace::NameKind kind, trace::Layer layer, std::string_view text, std::string* key) {
  key->assign(1, static_cast<char>(kind));
  key->push_back(static_cast<char>(layer));
  key->append(text);
}

}  // namespace

uint32_t NameTable::Find(trace::NameKind kind, trace::Layer layer, std::string_view text) {
  MakeKey(kind, layer, text, &key_);
  const auto found = numbers_.find(key_);
  if (found != numbers_.end()) return found->second.number;
  if (in_order_.size() < kMostNames && bytes_ + key_.size() <= most_bytes_) return Add();
  ++refused_;
  MakeKey(kind, layer, kOther, &key_);
  const auto other = numbers_.find(key_);
  return other != numbers_.end() ? other->second.number : Add();
}

uint32_t NameTable::Add() {
  const Place place = {static_cast<uint32_t>(in_order_.size() + 1)};
  const auto added = numbers_.emplace(key_, place).first;
  in_order_.push_back(&added->first);
  bytes_ += key_.size();
  return place.number;
}

}  // namespace rlscope::importers
