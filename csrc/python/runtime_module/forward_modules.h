// The modules that the forwards of an operation call, and which of them a backward has trained.
#ifndef RLSCOPE_PYTHON_RUNTIME_MODULE_FORWARD_MODULES_H_
#define RLSCOPE_PYTHON_RUNTIME_MODULE_FORWARD_MODULES_H_

#include "python/runtime_module/module_set.h"

namespace rlscope::python {

class ForwardModules {
 public:
  // An operation opens.
  void Open() {
    learning_.Clear();
    aside_.Clear();
    has_texts_ = false;
  }
  // A forward. `begins`: no forward of its no-grad block came before it.
  void Note(const void* module, bool has_gradients, bool begins);
  // No forward has told yet whether a module is given texts.
  static bool IsNew(const void* module);
  static void NoteInput(const void* module, bool is_given_texts);
  // Of the forwards without gradients: one is of a module that is given texts.
  bool has_texts() const { return has_texts_; }
  bool HadGradients(const void* module) const { return learning_.Has(module); }

  // A backward: it trains the modules that were called with gradients.
  void Train();
  bool trains() const { return updates_ > 0; }
  // A program may also call by itself what lies inside of a module. That is noted until there were
  // some updates.
  bool notes_nested() const { return updates_ < kMostUpdates; }
  void NoteNested(const void* module);

  // Of the last forward, with those before it in its block: none is trained.
  bool is_frozen() const { return is_frozen_; }
  // Of the forwards without gradients: all are trained; one was before all with gradients.
  bool is_aside_trained() const;
  bool is_aside_first() const { return is_aside_first_; }

 private:
  static constexpr int kMostUpdates = 64;

  FewModules learning_;  // of forwards with gradients
  FewModules aside_;     // of those without
  bool is_aside_first_ = false;
  bool is_frozen_ = false;
  bool has_texts_ = false;
  int updates_ = 0;
};

}  // namespace rlscope::python

#endif  // RLSCOPE_PYTHON_RUNTIME_MODULE_FORWARD_MODULES_H_
