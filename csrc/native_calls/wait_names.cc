#include "native_calls/wait_names.h"

#include <errno.h>
#include <sys/stat.h>
#include <unistd.h>

#include <unordered_map>

#include "runtime/hot.h"
#include "trace/layout/layer.h"
#include "trace/layout/record.h"
#include "trace/layout/shared_pages.h"

namespace rlscope::native_calls {
namespace {

// Names of objects that a process may have: of some hundred thousand sockets of a server each would
// take one of the 65,536 names.
constexpr uint32_t kMostObjects = 4096;

// A descriptor that was closed and opened anew stands for its old object no longer than this.
constexpr uint64_t kLookAgainNs = 10000000;
// The same for an address: asking takes half a millisecond in a process with PyTorch.
constexpr uint64_t kMapsAgainNs = 10000000000;

// The GIL guards what follows; without one each call asks anew, and waits are not patched.

// Names of objects by their text: the recorder finds them as well, but does not count them.
auto& objects = *new std::unordered_map<std::string, uint32_t>;

constexpr uint64_t kNoObject = UINT64_MAX;
struct Known {
  uint64_t ticks = 0;  // when the kernel was asked
  uint32_t generation = 0;
  uint32_t site = 0;
  uint64_t object = kNoObject;  // descriptor, or address of a semaphore; the site says which
  uint32_t word = 0;
};
constexpr uint32_t kKnown = 256;
Known known[kKnown];

// What lies at the address of a semaphore. Fork children map the same.
struct Mapped {
  uint64_t ticks;  // when the kernel was asked
  uint64_t inode;  // 0: none
};
auto& mapped = *new std::unordered_map<const void*, Mapped>;

// Word -> rlscope_process.generation in which a call of it was recorded.
auto& recorded = *new std::unordered_map<uint32_t, uint32_t>;

uint32_t Generation() { return runtime::Load(rlscope_process.generation); }

uint32_t WordOf(const std::string& text) {
  const auto kind = static_cast<uint32_t>(trace::EntryKind::kFunctionName);
  const auto layer = static_cast<uint32_t>(trace::Layer::kWait);
  const uint32_t id = rlscope_intern_name(kind, layer, text.data(), text.size());
  return id == 0 ? 0 : trace::MakeWord(trace::kCall, id, 0);
}

// With the object, while there is room for more of them.
uint32_t WordOfObject(const std::string& kind, const std::string& object,
                      const std::string& function) {
  const std::string text = kind + " " + object + "|" + function;
  const auto found = objects.find(text);
  if (found != objects.end()) return found->second;
  if (objects.size() == kMostObjects) return WordOfWait(kind, function);
  return objects.emplace(text, WordOf(text)).first->second;
}

// What `status` of a descriptor is called; null: `kind` of its function says it.
const char* KindOf(const struct stat& status) {
  switch (status.st_mode & S_IFMT) {
    case S_IFIFO:
      return "pipe";
    case S_IFSOCK:
      return "socket";
    case S_IFREG:
    case S_IFDIR:
    case S_IFBLK:
      return "disk";
    case S_IFCHR:
      return "device";
    default:
      return nullptr;  // eventfd, timerfd, epoll: no inode of their own
  }
}

// A word was made for an object, and no call of it was recorded in this process.
WaitName NameOfObject(uint32_t word) {
  const auto found = recorded.find(word);
  return {word, word != 0 && (found == recorded.end() || found->second != Generation())};
}

WaitName Ask(int descriptor, const std::string& kind, const std::string& function) {
  const int error = errno;
  struct stat status;
  const bool failed = fstat(descriptor, &status) != 0;
  errno = error;
  const char* found = failed ? nullptr : KindOf(status);
  if (found == nullptr) return {WordOfWait(kind, function), false};
  const bool is_shared = S_ISFIFO(status.st_mode) || S_ISSOCK(status.st_mode);
  if (!is_shared) return {WordOfWait(found, function), false};
  return NameOfObject(WordOfObject(found, std::to_string(status.st_ino), function));
}

// The answer of `ask`, unless it was given a moment ago.
template <typename AskAnew>
WaitName Remembered(uint32_t site, uint64_t object, uint64_t ticks, AskAnew ask) {
  Known* slot = &known[(object / sizeof(void*) * 31 + object + site) % kKnown];
  const bool is_known = slot->object == object && slot->site == site &&
                        slot->generation == Generation() &&
                        ticks - slot->ticks < runtime::TicksOf(kLookAgainNs);
  if (is_known) return {slot->word, false};
  const WaitName name = ask();
  *slot = {ticks, Generation(), site, name.is_first ? kNoObject : object, name.word};
  return name;
}

// 0: no file is mapped there, or it cannot be known.
uint64_t InodeAt(const void* address, uint64_t ticks) {
  Mapped* found = &mapped[address];
  if (found->ticks == 0 || ticks - found->ticks >= runtime::TicksOf(kMapsAgainNs)) {
    *found = {ticks, rlscope_inode_at(address)};
  }
  return found->inode;
}

}  // namespace

uint32_t WordOfWait(const std::string& kind, const std::string& function) {
  return WordOf(kind + "|" + function);
}

WaitName NameOfDescriptor(uint32_t site, int descriptor, uint64_t ticks, const std::string& kind,
                          const std::string& function) {
  const auto object = static_cast<uint64_t>(descriptor);
  return Remembered(site, object, ticks, [&] { return Ask(descriptor, kind, function); });
}

WaitName NameOfSemaphore(uint32_t site, const void* semaphore, uint64_t ticks,
                         const std::string& kind, const std::string& function) {
  const auto ask = [&]() -> WaitName {
    const uint64_t inode = InodeAt(semaphore, ticks);
    if (inode == 0) return {WordOfWait(kind, function), false};
    return NameOfObject(WordOfObject(kind, std::to_string(inode), function));
  };
  return Remembered(site, reinterpret_cast<uintptr_t>(semaphore), ticks, ask);
}

uint32_t WordOfProcess(long pid, const std::string& kind, const std::string& function) {
  return WordOfObject(kind, std::to_string(pid), function);
}

void MarkRecorded(uint32_t word) { recorded[word] = Generation(); }

void NameSocketPair(int one, int other) {
  const int error = errno;
  struct stat ends[2];
  const bool known_both = fstat(one, &ends[0]) == 0 && fstat(other, &ends[1]) == 0;
  errno = error;
  if (!known_both || objects.size() == kMostObjects) return;
  const std::string text =
      "socketpair " + std::to_string(ends[0].st_ino) + " " + std::to_string(ends[1].st_ino);
  objects.emplace(text, WordOf(text));
}

}  // namespace rlscope::native_calls
