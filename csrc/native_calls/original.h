// What a pointer of ours stands for.
#ifndef RLSCOPE_NATIVE_CALLS_ORIGINAL_H_
#define RLSCOPE_NATIVE_CALLS_ORIGINAL_H_

namespace rlscope::native_calls {

// The function that a pointer really calls: the original of a stub or replacement, else the pointer
// itself. Any thread.
void* Original(void* pointer);

// `replacement` is stored in the place of `original` from now on. If several are stored for it, the
// first counts.
void NoteReplaced(void* replacement, void* original);

}  // namespace rlscope::native_calls

#endif  // RLSCOPE_NATIVE_CALLS_ORIGINAL_H_
