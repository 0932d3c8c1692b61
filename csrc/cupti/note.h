// The note in the trace about how a process records CUDA: a JSON object, most of it metadata
// `cuda`.
//   {"library": "/usr/lib/libcupti.so.13", "version": 130001, "clock": "monotonic",
//    "visible_devices": "1,0", "device_order": "PCI_BUS_ID",
//    "problem": "GPU work is missing: CUPTI refused (999)", "missing": "work"}
#ifndef RLSCOPE_CUPTI_NOTE_H_
#define RLSCOPE_CUPTI_NOTE_H_

#include <stdint.h>

namespace rlscope::cupti {

// The part that the trace lacks for a problem. Readers go by this, and show the sentence as it is.
enum class Missing { kNothingWhole, kWork, kCalls, kAll };

class Note {
 public:
  void Text(const char* key, const char* value);
  void Number(const char* key, uint64_t value);
  // One sentence: what, and why if that is known, with the code that CUPTI answered (0: none). The
  // first one stays.
  void Problem(Missing missing, const char* what, const char* why, int code);

  // As metadata of this key.
  void Write(const char* key = "cuda");

 private:
  void Key(const char* key);
  void Byte(char byte) {
    if (size_ + 1 < sizeof json_) json_[size_++] = byte;
  }
  void Raw(const char* text) {
    while (*text != '\0') Byte(*text++);
  }
  void Escaped(const char* text);
  void Digits(uint64_t value);

  bool has_problem_ = false;
  uint32_t size_ = 0;
  char json_[2048];
};

}  // namespace rlscope::cupti

#endif  // RLSCOPE_CUPTI_NOTE_H_
