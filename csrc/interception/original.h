// What a pointer of ours stands for.
#ifndef RLSCOPE_INTERCEPTION_ORIGINAL_H_
#define RLSCOPE_INTERCEPTION_ORIGINAL_H_

namespace rlscope::interception {

// The function that a pointer really calls: the original of a stub or replacement, else the pointer
// itself. Any thread.
void* Original(void* pointer);

// `replacement` is stored in the place of `original` from now on; of several the first counts.
void NoteReplaced(void* replacement, void* original);

}  // namespace rlscope::interception

#endif  // RLSCOPE_INTERCEPTION_ORIGINAL_H_
