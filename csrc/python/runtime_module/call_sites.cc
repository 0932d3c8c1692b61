#include "python/runtime_module/call_sites.h"

#define PY_SSIZE_T_CLEAN
#include <Python.h>
#include <sched.h>
#include <stddef.h>
#include <string.h>

#include <algorithm>
#include <atomic>
#include <iterator>
#include <vector>

#include "python/runtime_module/freed_code.h"
#include "runtime/rlscope.h"
#include "runtime/syscalls.h"
#include "trace/drain/characters.h"
#include "trace/drain/line_table.h"
#include "trace/layout/shared_pages.h"

namespace rlscope::python {
namespace {

constexpr uint32_t kMostFrames = 1024;
constexpr uint32_t kPlaces = 1 << 12;  // a power of two
constexpr int kMostTurns = 10000;      // of waiting for a thread that looks at its frames

// The stacks that a thread had, by a hash that is taken for the stack itself. One thread uses it.
struct Known {
  struct Place {
    uint64_t hash;  // 0: free
    uint32_t number;
  };
  Known* next;                  // the list of all
  std::atomic<uint32_t> looks;  // 1: its thread looks at its frames
  uint32_t count;
  uint64_t freed;  // FreedCode() that the places belong to
  Place places[kPlaces];

  Place* Find(uint64_t hash) {
    for (uint64_t i = hash >> 32;; i++) {
      Place* const place = &places[i & (kPlaces - 1)];
      if (place->hash == hash || place->hash == 0) return place;
    }
  }
  void Forget() {
    memset(places, 0, sizeof places);
    count = 0;
  }
};

rlscope_interpreter_layout layout;
std::atomic<Known*> all_known = nullptr;
std::atomic<bool> is_over = false;

struct Loan {
  const PyThreadState* thread;
  uint32_t number;
};
// Those that have not ended. This and the next one need the GIL. Never freed: threads may outlive
// the end of the process's main function.
std::vector<Loan>& loans = *new std::vector<Loan>;
Known* known_of_lenders = nullptr;
std::atomic<uint32_t> lent = 0;

Known* NewKnown() {
  auto* const made = static_cast<Known*>(runtime::SysMapPrivate(sizeof(Known)));
  if (made == nullptr) return nullptr;
  made->next = all_known.load();
  while (!all_known.compare_exchange_weak(made->next, made)) {
  }
  return made;
}

// ---- frames -------------------------------------------------------------------------------------

template <typename T>
T At(const void* object, uint32_t offset) {
  T value;
  memcpy(&value, static_cast<const char*>(object) + offset, sizeof value);
  return value;
}

const void* TopFrame(const PyThreadState* thread) {
  const auto current = At<const void*>(thread, layout.current);
  return layout.has_holder != 0 ? At<const void*>(current, layout.holder_frame) : current;
}

// visit(code, instruction) for each frame that runs code, the innermost first. How many there are.
template <typename Visit>
[[gnu::always_inline]] inline uint32_t VisitFrames(const void* top, Visit visit) {
  const uint32_t code_at = layout.code, instruction_at = layout.instruction;
  const uint32_t owner_at = layout.owner, caller_at = layout.caller;
  const uint64_t address_bits = ~uint64_t{layout.code_tag};
  uint32_t count = 0;
  for (const void* frame = top; frame != nullptr; frame = At<const void*>(frame, caller_at)) {
    if (At<uint8_t>(frame, owner_at) >= layout.foreign_owner) continue;
    if (++count > kMostFrames) break;
    visit(At<uint64_t>(frame, code_at) & address_bits, At<uint64_t>(frame, instruction_at));
  }
  return count;
}

struct Frame {
  uint64_t code, instruction;
};

// ---- numbers ------------------------------------------------------------------------------------

// Text of a str that does not change. False: it does not fit a name.
bool CopyText(PyObject* text, trace::GrowingArray<char>* copy) {
  const Py_ssize_t length = PyUnicode_GET_LENGTH(text);
  const auto most = static_cast<Py_ssize_t>(trace::kMaxNameBytes);
  copy->Clear();
  return trace::AddCharacters(static_cast<const uint8_t*>(PyUnicode_DATA(text)),
                              static_cast<uint64_t>(length < most ? length : most),
                              static_cast<uint32_t>(PyUnicode_KIND(text)), copy);
}

uint32_t LineOf(PyCodeObject* code, uint64_t instruction) {
  const uint64_t begin = reinterpret_cast<uint64_t>(code) + layout.instructions;
  const uint64_t place = instruction < begin ? 0 : (instruction - begin) / 2;
  return trace::FindLine(PyBytes_AS_STRING(code->co_linetable),
                         static_cast<size_t>(PyBytes_GET_SIZE(code->co_linetable)),
                         static_cast<uint32_t>(code->co_firstlineno), static_cast<uint32_t>(place));
}

uint32_t NumberFrame(uint32_t parent, const Frame& frame) {
#if PY_VERSION_HEX >= 0x030B0000
  auto* const code = reinterpret_cast<PyCodeObject*>(frame.code);
  trace::GrowingArray<char> file, name;
  if (!CopyText(code->co_filename, &file) || !CopyText(code->co_qualname, &name)) return 0;
  const uint32_t function =
      rlscope_number_function(file.begin(), file.count(), name.begin(), name.count(),
                              static_cast<uint32_t>(code->co_firstlineno));
  if (function == 0) return 0;
  return rlscope_number_stack(parent, function, LineOf(code, frame.instruction));
#else
  (void)parent, (void)frame;
  return 0;
#endif
}

// 0: it does not fit.
uint32_t NumberStack(const void* top) {
  Frame frames[kMostFrames];
  uint32_t count = 0;
  const uint32_t found = VisitFrames(
      top, [&](uint64_t code, uint64_t instruction) { frames[count++] = {code, instruction}; });
  if (found > kMostFrames) return 0;
  for (uint32_t i = 0; i < count; i++) RememberCode(frames[i].code);
  uint32_t number = 0;
  for (uint32_t left = count; left > 0; left--) {
    number = NumberFrame(number, frames[left - 1]);
    if (number == 0) return 0;
  }
  return number;
}

[[gnu::noinline]] uint32_t Learn(Known* known, Known::Place* place, uint64_t hash,
                                 const void* top) {
  const uint32_t number = NumberStack(top);
  if (4 * ++known->count > 3 * kPlaces) {
    known->Forget();
    place = known->Find(hash);
    known->count = 1;
  }
  *place = {hash, number};
  return number;
}

// Of the frames below `top`, which stay as they are meanwhile.
uint32_t NumberOf(const void* top, Known* known) {
  uint64_t hash = 0;
  VisitFrames(top, [&](uint64_t code, uint64_t instruction) {
    hash = (hash ^ (code * 0x9e3779b97f4a7c15u + instruction)) * 0xd6e8feb86659fd93u;
    hash ^= hash >> 32;
  });
  hash |= 1;
  const uint64_t freed = FreedCode();
  if (__builtin_expect(known->freed != freed, 0)) {
    known->Forget();
    known->freed = freed;
  }
  Known::Place* const place = known->Find(hash);
  const uint32_t number = place->hash != 0 ? place->number : Learn(known, place, hash, top);
  if (__builtin_expect(number == 0, 0)) rlscope_count_loss(trace::kNoCallSite, 1);
  return number;
}

// ---- threads ------------------------------------------------------------------------------------

// Its frames if it runs Python of the main interpreter, else null.
const void* OwnFrames() {
  const PyThreadState* const thread = PyGILState_GetThisThreadState();
  const auto main = reinterpret_cast<PyInterpreterState*>(layout.interpreter);
  return thread == nullptr || thread->interp != main ? nullptr : TopFrame(thread);
}

uint32_t FindUntilOver(Known* known) {
  if (is_over.load()) return 0;
  const void* const top = OwnFrames();
  return top == nullptr ? lent.load(std::memory_order_relaxed) : NumberOf(top, known);
}

uint32_t Find(void** kept) {
  auto* known = static_cast<Known*>(*kept);
  if (__builtin_expect(known == nullptr, 0)) {
    *kept = known = NewKnown();
    if (known == nullptr) return 0;
  }
  known->looks.exchange(1);
  const uint32_t number = FindUntilOver(known);
  known->looks.store(0, std::memory_order_release);
  return number;
}

// The innermost loan, if all are of one thread.
void SetLent() {
  const auto is_of_other = [](const Loan& loan) { return loan.thread != loans.back().thread; };
  const bool is_one = !loans.empty() && std::none_of(loans.begin(), loans.end(), is_of_other);
  lent.store(is_one ? loans.back().number : 0, std::memory_order_relaxed);
}

}  // namespace

void FindCallSites(const rlscope_interpreter_layout& of_interpreter) {
  layout = of_interpreter;
  rlscope_find_call_sites(&Find);
}

// A thread that was in Find() when the process forked is none of the child's: not for ever.
void LeaveCallSites() {
  rlscope_find_call_sites(nullptr);
  is_over.exchange(true);
  int turns = 0;
  for (Known* known = all_known.load(); known != nullptr; known = known->next) {
    while (known->looks.load() != 0 && turns++ < kMostTurns) sched_yield();
  }
}

void LendCallSite() {
  const bool is_used = all_known.load(std::memory_order_relaxed) != nullptr;
  if (is_used && known_of_lenders == nullptr) known_of_lenders = NewKnown();
  const void* const top = known_of_lenders != nullptr ? OwnFrames() : nullptr;
  loans.push_back({PyThreadState_Get(), top != nullptr ? NumberOf(top, known_of_lenders) : 0});
  SetLent();
}

void EndLending() {
  const PyThreadState* const thread = PyThreadState_Get();
  const auto loan = std::find_if(loans.rbegin(), loans.rend(),
                                 [&](const Loan& each) { return each.thread == thread; });
  if (loan != loans.rend()) loans.erase(std::next(loan).base());
  SetLent();
}

}  // namespace rlscope::python
