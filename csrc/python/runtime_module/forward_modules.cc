#include "python/runtime_module/forward_modules.h"

namespace rlscope::python {

namespace {

ModuleTable trained;
ModuleTable given_texts;
ModuleTable given_others;
bool are_texts = false;  // some are given texts

bool IsTrained(const void* module) { return trained.Has(module); }

}  // namespace

void ForwardModules::Note(const void* module, bool has_gradients, bool begins) {
  is_frozen_ = (begins || is_frozen_) && !has_gradients && !IsTrained(module);
  has_texts_ |= are_texts && !has_gradients && given_texts.Has(module);
  if (!has_gradients && aside_.empty()) is_aside_first_ = learning_.empty();
  (has_gradients ? learning_ : aside_).Add(module);
}

bool ForwardModules::IsNew(const void* module) {
  return !given_others.Has(module) && !given_texts.Has(module);
}

void ForwardModules::NoteInput(const void* module, bool is_given_texts) {
  are_texts |= is_given_texts;
  (is_given_texts ? given_texts : given_others).Add(module);
}

void ForwardModules::Train() {
  updates_ += !learning_.empty() && updates_ < kMostUpdates;
  learning_.ForEach([](const void* module) { trained.Add(module); });
}

void ForwardModules::NoteNested(const void* module) { trained.Add(module); }

bool ForwardModules::is_aside_trained() const { return aside_.AreAll(IsTrained); }

}  // namespace rlscope::python
