// The program's command line as it may be stored: secrets masked.
#ifndef RLSCOPE_RUNTIME_COMMAND_LINE_H_
#define RLSCOPE_RUNTIME_COMMAND_LINE_H_

#include <stdint.h>

namespace rlscope::runtime {

constexpr uint64_t kCommandLineBytes = 4096;

// Reads /proc/self/cmdline into text (kCommandLineBytes), arguments joined by blanks, cut at the
// end of the buffer, and masks it. Bytes, 0 when it cannot be read. For RunDetached().
uint64_t ReadCommandLine(char* text);

// `arguments`: NUL-terminated arguments back to back, `size` bytes in all. Joins them by blanks in
// place and puts asterisks over the value of every --*key*, --*token*, --*password* and
// --*secret*, be it after '=' or the next argument. Returns the bytes of the joined text.
uint64_t JoinMasked(char* arguments, uint64_t size);

// What an interpreter runs, of its command line: the words after its own name, without its options
// before -c or -m, and without the folders of an absolute path. Copies at most `most` bytes to
// `text`, which is then no text with a NUL at its end. Returns how many.
uint64_t WhatRuns(const char* command, uint64_t size, char* text, uint64_t most);

}  // namespace rlscope::runtime

#endif  // RLSCOPE_RUNTIME_COMMAND_LINE_H_
