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

char* Find(char* begin, char* end, char byte) {
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

uint64_t ReadCommandLine(char* text) {
  const int descriptor = OpenHidden("/proc/self/cmdline", O_RDONLY, 0);
  if (descriptor < 0) return 0;
  const long size = SysRead(descriptor, text, kCommandLineBytes);
  SysClose(descriptor);
  return size > 0 ? JoinMasked(text, static_cast<uint64_t>(size)) : 0;
}

}  // namespace rlscope::runtime
