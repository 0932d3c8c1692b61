#include "python/trace_module/function_names.h"

#include <cxxabi.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

#include <memory>
#include <vector>

#include "trace/layout/shared_pages.h"

namespace rlscope::python {
namespace {

constexpr size_t kMostText = 64 << 10;
// k references multiply a name's length by at most 3^(k/3): three times the same one, and then
// three times what that makes. 81 here.
constexpr int kFewReferences = 12;
constexpr int kMostChildren = 8;
constexpr timeval kMostTime = {0, 250'000};  // of CPU, of a child

using Text = std::unique_ptr<char, void (*)(void*)>;

// Null: none of C++, or too long. (Without the prefix "f" would be the type float.)
Text DemangleOne(const std::string& name) {
  Text text(nullptr, free);
  // A longer name was cut when it was recorded.
  if (name.compare(0, 2, "_Z") != 0 || name.size() > trace::kMaxKernelNameBytes) return text;
  text.reset(abi::__cxa_demangle(name.c_str(), nullptr, nullptr, nullptr));
  if (text != nullptr && strlen(text.get()) > kMostText) text.reset();
  return text;
}

// S_, S3_, T_, T1_ and what looks like them.
bool HasFewReferences(const std::string& name) {
  int count = 0;
  for (const char each : name) count += each == 'S' || each == 'T';
  return count <= kFewReferences;
}

// ---- child --------------------------------------------------------------------------------------

bool WriteAll(int descriptor, const void* data, size_t size) {
  const char* bytes = static_cast<const char*>(data);
  while (size > 0) {
    const ssize_t done = write(descriptor, bytes, size);
    if (done < 0 && errno == EINTR) continue;
    if (done <= 0) return false;
    bytes += done;
    size -= static_cast<size_t>(done);
  }
  return true;
}

// Writes the length and the text of each name from `first` on, and ends. Other threads of the
// process are not here: nothing but malloc may be needed that they could hold.
[[noreturn]] void DemangleAndExit(const std::vector<const std::string*>& names, size_t first,
                                  int out) {
  signal(SIGPROF, SIG_DFL);
  signal(SIGPIPE, SIG_DFL);
  sigset_t none;
  sigemptyset(&none);
  sigprocmask(SIG_SETMASK, &none, nullptr);
  const itimerval timer = {{0, 0}, kMostTime};
  setitimer(ITIMER_PROF, &timer, nullptr);
  for (size_t i = first; i < names.size(); i++) {
    const Text text = DemangleOne(*names[i]);
    const uint32_t length = text == nullptr ? 0 : static_cast<uint32_t>(strlen(text.get()));
    if (!WriteAll(out, &length, sizeof length) || !WriteAll(out, text.get(), length)) break;
  }
  _exit(0);
}

// ---- parent -------------------------------------------------------------------------------------

bool ReadAll(int descriptor, void* data, size_t size) {
  char* bytes = static_cast<char*>(data);
  while (size > 0) {
    const ssize_t done = read(descriptor, bytes, size);
    if (done < 0 && errno == EINTR) continue;
    if (done <= 0) return false;
    bytes += done;
    size -= static_cast<size_t>(done);
  }
  return true;
}

// Takes what a child writes, and returns how many names it came to.
size_t ReadTexts(const std::vector<const std::string*>& names, size_t first, int in,
                 std::unordered_map<std::string, std::string>* texts) {
  size_t at = first;
  for (uint32_t length; at < names.size() && ReadAll(in, &length, sizeof length); at++) {
    std::string text(length, '\0');
    if (!ReadAll(in, text.data(), length)) break;
    if (length > 0) texts->emplace(*names[at], std::move(text));
  }
  return at - first;
}

// Returns how many names from `first` on a child came to; SIZE_MAX: there can be none.
size_t DemangleInChild(const std::vector<const std::string*>& names, size_t first,
                       std::unordered_map<std::string, std::string>* texts) {
  int ends[2];
  if (pipe2(ends, O_CLOEXEC) != 0) return SIZE_MAX;
  const pid_t child = fork();
  if (child == 0) DemangleAndExit(names, first, ends[1]);
  close(ends[1]);
  const size_t done = child < 0 ? SIZE_MAX : ReadTexts(names, first, ends[0], texts);
  close(ends[0]);
  while (child > 0 && waitpid(child, nullptr, 0) < 0 && errno == EINTR) {
  }
  return done;
}

}  // namespace

std::unordered_map<std::string, std::string> Demangle(const std::set<std::string>& names) {
  std::unordered_map<std::string, std::string> texts;
  std::vector<const std::string*> others;
  for (const std::string& name : names) {
    if (!HasFewReferences(name)) {
      others.push_back(&name);
    } else if (const Text text = DemangleOne(name)) {
      texts.emplace(name, text.get());
    }
  }
  // A child ends at a name that takes too long; the next one goes on after that name.
  size_t at = 0;
  for (int children = 0; at < others.size() && children < kMostChildren; children++) {
    const size_t done = DemangleInChild(others, at, &texts);
    if (done == SIZE_MAX) break;
    at += done + 1;
  }
  return texts;
}

}  // namespace rlscope::python
