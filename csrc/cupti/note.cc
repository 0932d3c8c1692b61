#include "cupti/note.h"

#include <string.h>

#include "runtime/rlscope.h"
#include "runtime/text.h"

namespace rlscope::cupti {

void Note::Escaped(const char* text) {
  for (; *text != '\0'; text++) {
    if (*text == '"' || *text == '\\') Byte('\\');
    Byte(static_cast<unsigned char>(*text) < ' ' ? ' ' : *text);
  }
}

void Note::Key(const char* key) {
  Raw(size_ == 0 ? "{\"" : ", \"");
  Raw(key);
  Raw("\": ");
}

void Note::Digits(uint64_t value) {
  char digits[24];
  runtime::Text(digits).Add(value);
  Raw(digits);
}

void Note::Text(const char* key, const char* value) {
  Key(key);
  Byte('"');
  Escaped(value);
  Byte('"');
}

void Note::Number(const char* key, uint64_t value) {
  Key(key);
  Digits(value);
}

void Note::Problem(Missing missing, const char* what, const char* why, int code) {
  if (has_problem_) return;
  has_problem_ = true;
  Key("problem");
  Byte('"');
  Escaped(what);
  if (why != nullptr) {
    Raw(": ");
    Escaped(why);
  }
  if (code > 0) {
    Raw(" (");
    Digits(static_cast<uint64_t>(code));
    Raw(")");
  }
  Byte('"');
  static constexpr const char* kWords[] = {nullptr, "work", "calls", "all"};
  const char* word = kWords[static_cast<int>(missing)];
  if (word != nullptr) Text("missing", word);
}

void Note::Write(const char* key) {
  Raw(size_ == 0 ? "{}" : "}");
  rlscope_add_metadata(key, strlen(key), json_, size_);
}

}  // namespace rlscope::cupti
