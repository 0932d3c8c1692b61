#include "runtime/command_line.h"

#include "runtime/detached.h"
#include "runtime/syscalls.h"

namespace rlscope::runtime {
namespace {

char Lower(char byte) { return byte >= 'A' && byte <= 'Z' ? static_cast<char>(byte + 32) : byte; }

bool StartsWith(const char* text, const char* end, const char* word) {
  for (; *word != '\0'; text++, word++) {
    if (text == end || Lower(*text) != *word) return false;
  }
  return true;
}

// Whether an option's name, "--..." up to '=' or its end, speaks of a secret.
bool IsSecret(const char* name, const char* end) {
  if (end - name < 3 || name[0] != '-' || name[1] != '-') return false;
  for (const char* at = name + 2; at < end; at++) {
    if (StartsWith(at, end, "key") || StartsWith(at, end, "token") ||
        StartsWith(at, end, "password") || StartsWith(at, end, "secret")) {
      return true;
    }
  }
  return false;
}

template <class Char>
Char* Find(Char* begin, Char* end, char byte) {
  while (begin < end && *begin != byte) begin++;
  return begin;
}

void Mask(char* begin, char* end) {
  while (begin < end) *begin++ = '*';
}

}  // namespace

uint64_t JoinMasked(char* arguments, uint64_t size) {
  char* end = arguments + size;
  bool mask_next = false;
  for (char* argument = arguments; argument < end;) {
    char* argument_end = Find(argument, end, '\0');
    char* name_end = Find(argument, argument_end, '=');
    const bool secret = IsSecret(argument, name_end);
    if (mask_next && !secret) Mask(argument, argument_end);
    if (secret && name_end < argument_end) Mask(name_end + 1, argument_end);
    mask_next = secret && name_end == argument_end;
    if (argument_end < end) *argument_end = ' ';
    argument = argument_end + 1;
  }
  while (size > 0 && arguments[size - 1] == ' ') size--;
  return size;
}

uint64_t WhatRuns(const char* command, uint64_t size, char* text, uint64_t most) {
  const char* const end = command + size;
  const char* word = Find(command, end, ' ');
  uint64_t length = 0;
  while (word < end) {
    const char* const word_end = Find(++word, end, ' ');
    const bool is_option = word < word_end && *word == '-' && word_end - word > 1;
    const bool names_code = is_option && (word_end[-1] == 'c' || word_end[-1] == 'm');
    const bool is_left_out = length == 0 && is_option && !names_code;
    const char* from = word;
    for (const char* at = word; at < word_end && *word == '/'; at++) {
      if (*at == '/') from = at + 1;
    }
    if (length > 0 && length < most) text[length++] = ' ';
    for (; !is_left_out && from < word_end && length < most; from++) text[length++] = *from;
    word = word_end;
  }
  return length;
}

uint64_t ReadCommandLine(char* text) {
  const int descriptor = OpenHidden("/proc/self/cmdline", O_RDONLY, 0);
  if (descriptor < 0) return 0;
  const long size = SysRead(descriptor, text, kCommandLineBytes);
  SysClose(descriptor);
  return size > 0 ? JoinMasked(text, static_cast<uint64_t>(size)) : 0;
}

}  // namespace rlscope::runtime
