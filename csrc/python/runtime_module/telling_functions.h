// Python functions that a thread is in, by what words of their names say. Everything here needs the
// GIL.
#ifndef RLSCOPE_PYTHON_RUNTIME_MODULE_TELLING_FUNCTIONS_H_
#define RLSCOPE_PYTHON_RUNTIME_MODULE_TELLING_FUNCTIONS_H_

#define PY_SSIZE_T_CLEAN
#include <Python.h>

#include <string_view>

namespace rlscope::python {

// A function whose name says what it does.
class TellingFunction {
 public:
  // Whether the thread is in a call of it.
  bool IsRunning() const;
  // It does something else.
  void Reject() { is_rejected_ = true; }

 private:
  template <int kMost>
  friend class TellingFunctions;

  PyObject* code_ = nullptr;  // a strong reference for ever
  bool is_rejected_ = false;
};

// Those found so far, at most so many.
template <int kMost>
class TellingFunctions {
 public:
  // That of some code. Null: it was rejected, or there are too many.
  TellingFunction* Find(PyObject* code) {
    int place = 0;
    while (place < count_ && functions_[place].code_ != code) ++place;
    if (place == kMost || functions_[place].is_rejected_) return nullptr;
    if (place == count_) {
      functions_[place].code_ = Py_NewRef(code);
      ++count_;
    }
    return &functions_[place];
  }
  bool IsRejected(PyObject* code) const {
    for (int place = 0; place < count_; place++) {
      if (functions_[place].code_ == code) return functions_[place].is_rejected_;
    }
    return false;
  }

 private:
  TellingFunction functions_[kMost];
  int count_ = 0;
};

// The name of a function; with that of its class before it, where CPython keeps it: from 3.11 on.
std::string_view NameOfFunction(PyCodeObject* code);
std::string_view NameWithClass(PyCodeObject* code);

// Calls `visit` with each word of a name, in small letters, until it gives false. A capital after a
// small letter begins one. Longer words than that of `kLongestWord` letters are cut.
constexpr size_t kLongestWord = 12;
template <typename Visit>
void VisitWords(std::string_view name, Visit visit) {
  char word[kLongestWord];
  size_t length = 0;
  char before = 0;
  for (const char letter : name) {
    const bool is_small = letter >= 'a' && letter <= 'z';
    const bool is_capital = letter >= 'A' && letter <= 'Z';
    const bool begins = is_capital && before >= 'a' && before <= 'z';
    if ((begins || !(is_small || is_capital)) && length > 0) {
      if (!visit(std::string_view(word, length))) return;
      length = 0;
    }
    if ((is_small || is_capital) && length < kLongestWord) {
      word[length++] = static_cast<char>(letter | 0x20);
    }
    before = letter;
  }
  if (length > 0) visit(std::string_view(word, length));
}

}  // namespace rlscope::python

#endif  // RLSCOPE_PYTHON_RUNTIME_MODULE_TELLING_FUNCTIONS_H_
