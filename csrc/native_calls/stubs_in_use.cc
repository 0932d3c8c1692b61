#include "native_calls/stubs_in_use.h"

#include <string.h>

#include <algorithm>

#include "native_calls/call.h"

namespace rlscope::native_calls {
namespace {

constexpr size_t kTextBlock = 64 * 1024;

void SetFlags(uint32_t index, uint32_t flags) {
  __atomic_fetch_or(&entries[index].flags, flags, __ATOMIC_RELAXED);
}

}  // namespace

uint32_t StubsInUse::TakeOwn(void* original, const Callee& callee, uint32_t entry_flags) {
  if (next_own_ == kFirstSpare) return kNone;
  const uint32_t index = next_own_++;
  FillNew(index, original, callee, entry_flags);
  return index;
}

uint32_t StubsInUse::TakeShared(void* original, const Callee& callee, uint32_t entry_flags) {
  const auto found = shared_.find(original);
  if (found != shared_.end()) {
    Revive(found->second);
    SetFlags(found->second, entry_flags);
    return found->second;
  }
  const uint32_t index = NextShared();
  if (index == kNone) return kNone;
  FillNew(index, original, callee, entry_flags);
  is_lasting_[index] = true;
  shared_.emplace(original, index);
  return index;
}

uint32_t StubsInUse::TakeNamed(void* original, const Callee& callee, uint32_t entry_flags) {
  std::pair key(original, std::string(callee.name, callee.length));
  const auto found = named_.find(key);
  if (found != named_.end()) {
    Revive(found->second);
    SetFlags(found->second, entry_flags);
    return found->second;
  }
  if (named_.size() == kMostNamed) return kNone;
  const uint32_t index = TakeOwn(original, callee, entry_flags);
  if (index == kNone) return kNone;
  is_lasting_[index] = true;
  named_.emplace(std::move(key), index);
  return index;
}

uint32_t StubsInUse::NextShared() {
  if (next_shared_ < kHotStubs) return next_shared_++;
  if (next_own_ < kFirstSpare) return next_own_++;
  return next_spare_ < kStubs ? next_spare_++ : kNone;
}

uint32_t StubsInUse::MoveToHot(uint32_t index) {
  if (!IsHotOutside(index) || next_hot_ == kFirstShared) return index;
  const uint32_t hot = next_hot_++;
  const Entry& entry = entries[index];
  Fill(hot, reinterpret_cast<void*>(entry.original), entry_names[index], entry.word,
       entry.flags & ~uint32_t{kWarming});
  moved_.emplace(index, hot);
  return hot;
}

bool StubsInUse::IsHotOutside(uint32_t index) const {
  const bool is_own = index >= kHotStubs && index < next_own_;
  return is_own && !is_lasting_[index] && entry_names[index].calls >= kCallsUntilHot &&
         moved_.count(index) == 0;
}

bool StubsInUse::IsNamed(uint32_t index, const Callee& callee) const {
  const EntryName& name = entry_names[index];
  return name.length == callee.length && name.layer == callee.layer &&
         memcmp(name.text, callee.name, callee.length) == 0;
}

void StubsInUse::RetireAll() {
  for (uint32_t i = 0; i < kStubs; i++) {
    if (entries[i].original != nullptr) SetFlags(i, kPassThrough);
  }
}

void StubsInUse::Revive(uint32_t index) {
  __atomic_fetch_and(&entries[index].flags, ~uint32_t{kPassThrough}, __ATOMIC_RELAXED);
}

const char* StubsInUse::Keep(const Callee& callee) {
  if (text_left_ < callee.length) {
    text_left_ = std::max(kTextBlock, callee.length);
    text_ = new char[text_left_];
  }
  char* copy = text_;
  memcpy(copy, callee.name, callee.length);
  text_ += callee.length;
  text_left_ -= callee.length;
  return copy;
}

void StubsInUse::FillNew(uint32_t index, void* original, const Callee& callee,
                         uint32_t entry_flags) {
  const EntryName name = {Keep(callee), static_cast<uint32_t>(callee.length),
                          static_cast<uint16_t>(callee.layer), 0};
  Fill(index, original, name, 0, entry_flags | kWarming);
}

void StubsInUse::Fill(uint32_t index, void* original, const EntryName& name, uint32_t word,
                      uint32_t flags) {
  entry_names[index] = name;
  entries[index] = {reinterpret_cast<Function>(original), word, flags};
  __atomic_thread_fence(__ATOMIC_RELEASE);
}

}  // namespace rlscope::native_calls
