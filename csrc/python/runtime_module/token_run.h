// Forwards of one module of which each is given what the one before was and one item more, or one
// item alone with the same cache: a model that writes a text token by token. All have gradients, or
// none has. If none has, the one before may also have returned the cache, and the item is a whole
// number.
//
// A program may call the parts of its model, and not the model. In a no-grad block, the block's
// first forward is that of the first part then:
//
//   [ E ] [ L ] [ L ] [ H ]   [ E ] [ L ] [ L ] [ H ]   [ E ] ...
//
// It makes a run for all if it is given whole numbers, one item more than before or one alone, and
// equally many forwards follow each time.
//
// Only addresses are kept: the program's objects live and die as they do without us. Nothing here
// is dereferenced later.
#ifndef RLSCOPE_PYTHON_RUNTIME_MODULE_TOKEN_RUN_H_
#define RLSCOPE_PYTHON_RUNTIME_MODULE_TOKEN_RUN_H_

#define PY_SSIZE_T_CLEAN
#include <Python.h>

namespace rlscope::python {

// Of a vectorcall. `values` null: nothing is known.
struct Arguments {
  PyObject* const* values;
  size_t flagged_count;
  PyObject* keywords;
};

// The tensor that a model returned: itself, the first of several, or what libraries of language
// models call logits, in a dictionary. A new reference; null: there is none.
PyObject* TensorIn(PyObject* result);

// Whether a model returned one number for each text, and not some for each token.
bool GivesScores(PyObject* result);

// Whether a model is given texts: several whole numbers for each of a batch.
bool IsGivenTexts(const Arguments& call);

class TokenRun {
 public:
  // As many forwards make a run, from the first one.
  static constexpr int kShortest = 5;

  // Something came between that no run goes on after.
  void End() { module_ = nullptr; }
  // The outermost no-grad block. A text that was written in one does not go on after it.
  void BeginBlock() {
    in_block_ = 0;
    parts_.may_be = true;
    parts_.first = nullptr;
  }
  // `writes`: it ends in a generation.
  void EndBlock(bool writes) {
    if (writes && in_block_ > 1) End();
    parts_.may_be = false;
  }
  // What the last forward returned, null if it raised.
  void NoteResult(PyObject* result) {
    if (on_) return;
    returned_count_ = 0;
    if (result != nullptr && PyTuple_CheckExact(result)) NoteItems(result);
  }
  // The next outermost forward: __call__(module, ...). Whether it goes on a run that is long
  // enough by now. `on`: it has gradients, as all of a run have, or none.
  bool GoesOn(const Arguments& call, bool on) {
    const PyObject* module = call.values != nullptr && PyVectorcall_NARGS(call.flagged_count) > 0
                                 ? *call.values
                                 : nullptr;
    if (__builtin_expect(module == nullptr || module != module_ || on != on_, 1)) {
      const bool begins = module_ == nullptr;
      module_ = module;
      on_ = on;
      forwards_ = in_block_ = 1;
      has_input_ = false;
      return __builtin_expect(parts_.may_be, 0) && !on && module != nullptr && IsPart(call, begins);
    }
    return IsLonger(call);
  }

  // Whether forwards that follow the last one may make it a part of a run.
  bool MayGoOn() const { return module_ != nullptr && forwards_ > 1; }
  // How many texts the last forward of a run went on with: one token for each. 0 where it was a
  // later part.
  Py_ssize_t texts() const { return texts_; }

 private:
  friend bool IsGivenTexts(const Arguments& call);
  static constexpr int kMostDimensions = 4;
  static constexpr int kMostCaches = 4;
  // What a forward was given, as the next one is compared with it.
  struct Input {
    int dimensions = 0;  // of its first tensor; 0: it has none, or too many
    Py_ssize_t length[kMostDimensions] = {};
    int caches = 0;
    const PyObject* cache[kMostCaches] = {};  // and what else is no tensor, number or text

    // In which dimension it is one item longer than the one before, and else alike; -1: in none of
    // a sequence.
    int Grown(const Input& before) const;
    bool GoesOnWith(const Input& before) const;
  };
  // The same, with its tensors, while the call begins.
  struct Given : Input {
    PyObject* first = nullptr;
    int others = 0;
    const PyObject* other[kMostCaches];

    explicit Given(const Arguments& call);
    void Read(PyObject* argument);
  };

  // Of a model, in the block that is open.
  struct Parts {
    bool may_be = false;              // a program may call them
    const PyObject* first = nullptr;  // null: no forward was yet
    int calls = 0;                    // of the first one, up to kShortest
    int others = 0;                   // since its last call
    int count = 0;                    // between two calls
    bool has_input = false;
    Input input;  // of its last call; that of the first one is not read
  };

  bool IsLonger(const Arguments& call);
  bool IsPart(const Arguments& call, bool begins);
  bool IsFirstPart(const Arguments& call);
  bool GoesOnWithReturned(const Given& given) const;
  void NoteItems(PyObject* tuple);

  const PyObject* module_ = nullptr;
  bool on_ = false;
  int forwards_ = 0;  // of the run so far
  bool has_input_ = false;
  int in_block_ = 0;  // of these, in the block that is open
  int returned_count_ = 0;
  const PyObject* returned_[kMostCaches] = {};  // what the last one returned, without gradients
  Py_ssize_t texts_ = 0;
  Input input_;  // of the last one; that of the first one is not read
  Parts parts_;
};

}  // namespace rlscope::python

#endif  // RLSCOPE_PYTHON_RUNTIME_MODULE_TOKEN_RUN_H_
