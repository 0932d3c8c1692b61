#include "native_calls/call.h"

#include <stddef.h>

#include "base/clock_kind.h"
#include "native_calls/callback_scope.h"
#include "native_calls/entries.h"
#include "native_calls/test_delay.h"
#include "runtime/native_call.h"
#include "runtime/short_waits.h"
#include "trace/layout/shared_pages.h"

namespace rlscope::native_calls {

EntryTable entry_table;
EntryName entry_names[kStubs];

namespace {

void Ignore(void*) {}

}  // namespace

CallHooks call_hooks = {Ignore, nullptr, nullptr, nullptr, nullptr, nullptr};

namespace {

uint64_t passed_through = 0;
bool records_serialization = false;

// The open call of the thread is one of a function with kSerializes.
thread_local bool is_serializing = false;

class Serializing {
 public:
  explicit Serializing(bool now) { is_serializing = now; }
  ~Serializing() { is_serializing = before_; }
  Serializing(const Serializing&) = delete;
  Serializing& operator=(const Serializing&) = delete;

 private:
  const bool before_ = is_serializing;
};

using runtime::IsRare;

const struct rlscope_process_state& Process() { return *entry_table.process; }

// &rlscope_self, by way of the entries' page.
inline struct rlscope_thread* Self() {
#if defined(__x86_64__)
  char* thread;
  __asm__("movq %%fs:0, %0" : "=r"(thread));
#else
  auto* thread = static_cast<char*>(__builtin_thread_pointer());
#endif
  return reinterpret_cast<struct rlscope_thread*>(thread + entry_table.self_offset);
}

__attribute__((constructor)) void FillTable() {
  entry_table.process = &rlscope_process;
  entry_table.self_offset =
      reinterpret_cast<char*>(&rlscope_self) - reinterpret_cast<char*>(Self());
}

// A thread that sees an entry not warming any more sees its word, too.
uint32_t FlagsOf(const Entry& entry) { return __atomic_load_n(&entry.flags, __ATOMIC_ACQUIRE); }

uint32_t WordOf(uint32_t index) {
  Entry* entry = &entries[index];
  const uint32_t known = runtime::Load(entry->word);
  if (known != 0) return known;
  const EntryName& name = entry_names[index];
  const auto kind = static_cast<uint32_t>(trace::EntryKind::kFunctionName);
  const uint32_t id = rlscope_intern_name(kind, name.layer, name.text, name.length);
  if (id == 0) return 0;
  const uint32_t word = trace::MakeWord(trace::kCall, id, 0);
  __atomic_store_n(&entry->word, word, __ATOMIC_RELAXED);
  return word;
}

// Threads without a GIL may miss a count.
void CountCall(uint32_t index) {
  uint16_t* calls = &entry_names[index].calls;
  const uint16_t count = __atomic_load_n(calls, __ATOMIC_RELAXED);
  if (count >= kCallsUntilHot) return;
  __atomic_store_n(calls, static_cast<uint16_t>(count + 1), __ATOMIC_RELAXED);
  if (count + 1 < kCallsUntilHot) return;
  __atomic_fetch_and(&entries[index].flags, ~uint32_t{kWarming}, __ATOMIC_RELEASE);
  if (call_hooks.hot != nullptr) call_hooks.hot(index);
}

}  // namespace

// runtime::IsRecording() and HasRoom(), telling the hooks what they change.
bool PrepareToRecord() {
  const bool before = runtime::Load(rlscope_process.state) == RLSCOPE_RECORDING;
  if (!runtime::IsRecording()) return false;
  if (!before && call_hooks.window_began != nullptr) call_hooks.window_began();
  const uint32_t thread = rlscope_self.thread;
  if (!runtime::HasRoom()) return false;
  if (rlscope_self.thread != thread && call_hooks.thread_began != nullptr) {
    call_hooks.thread_began();
  }
  return runtime::HasRoom();
}

namespace {

// Makes ready whatever a record needs (a window that changed, a ring, the function's name) and
// begins one. False: this call is not recorded.
bool PrepareAndBegin(uint32_t index) {
  if (!PrepareToRecord() || runtime::IsInCall()) return false;
  const uint32_t word = WordOf(index);
  if (word == 0 || !runtime::HasRoom()) return false;
  if ((FlagsOf(entries[index]) & kWarming) != 0) CountCall(index);
  runtime::BeginCall(&rlscope_self, word, runtime::ReadTicks());
  return true;
}

// The rest of rlscope_call(): one function for each case in which it cannot simply record.

// Its patch was taken out; the program kept a pointer to the stub.
__attribute__((noinline)) void* CallUnpatched(void* a, void* b, void* c, void* d, void* e,
                                              const Entry* entry) {
  __atomic_fetch_add(&passed_through, 1, __ATOMIC_RELAXED);
  return entry->original(a, b, c, d, e);
}

// It may be recorded once something is made ready.
__attribute__((noinline)) void* CallAfterPreparing(void* a, void* b, void* c, void* d, void* e,
                                                   const Entry* entry) {
  const bool begins = PrepareAndBegin(static_cast<uint32_t>(entry - entries));
  void* result = entry->original(a, b, c, d, e);
  if (begins) {
    runtime::EndCall(&rlscope_self, runtime::Load(rlscope_process.generation),
                     runtime::ReadTicks());
  }
  if ((FlagsOf(*entry) & kResultHook) != 0) call_hooks.result(result);
  return result;
}

// It is not recorded, and its result is wanted.
__attribute__((noinline)) void* CallForResult(void* a, void* b, void* c, void* d, void* e,
                                              const Entry* entry) {
  void* result = entry->original(a, b, c, d, e);
  call_hooks.result(result);
  return result;
}

bool FollowsWindow(const struct rlscope_process_state& process) {
  return runtime::Load(*runtime::Load(process.window_word)) == runtime::Load(process.window_seen);
}

// Nothing is to be recorded, for certain and with nothing to make ready.
bool RecordsNothing() { return rlscope_self.call != 0 || runtime::IsIdleOrTimed(); }

}  // namespace

// A thread that counts short calls keeps its ring closed for that.
bool BeginIfLong(uint32_t word) {
  if (word == 0 || RecordsNothing()) return false;
  const bool has_room = runtime::CountsShortWaits(rlscope_self) ||
                        (PrepareToRecord() && !runtime::IsInCall() && runtime::HasRoom());
  if (has_room) runtime::BeginCall(&rlscope_self, word, runtime::ReadTicks());
  return has_room;
}

void EndIfLong() {
  struct rlscope_thread* self = &rlscope_self;
  const uint32_t generation = runtime::Load(rlscope_process.generation);
  const uint64_t end = runtime::ReadTicks();
  const bool is_short = end - self->call_start < runtime::TicksOf(kShortestWaitNs);
  if (is_short && runtime::DropCall(self, generation)) return runtime::CountShortWait(self, end);
  runtime::EndCall(self, generation, end);
}

namespace {

bool BeginSerialization(uint32_t index) {
  if (!runtime::Load(records_serialization) || RecordsNothing()) return false;
  if (!call_hooks.in_main_interpreter() || !BeginIfLong(WordOf(index))) return false;
  if ((FlagsOf(entries[index]) & kWarming) != 0) CountCall(index);
  return true;
}

// It serializes.
__attribute__((noinline)) void* CallSerialization(void* a, void* b, void* c, void* d, void* e,
                                                  const Entry* entry) {
  if (!BeginSerialization(static_cast<uint32_t>(entry - entries))) {
    return entry->original(a, b, c, d, e);
  }
  void* result;
  {
    const Serializing scope(true);
    result = entry->original(a, b, c, d, e);
  }
  EndIfLong();
  return result;
}

void* CallByCase(void* a, void* b, void* c, void* d, void* e, const Entry* entry);

// It is called by what is serialized: a native function, by the interpreter or by Python code.
__attribute__((noinline)) void* CallInSerialization(void* a, void* b, void* c, void* d, void* e,
                                                    const Entry* entry) {
  const Serializing scope(false);
  const CallbackScope callback;
  return CallByCase(a, b, c, d, e, entry);
}

// Finds the case.
__attribute__((noinline)) void* CallByCase(void* a, void* b, void* c, void* d, void* e,
                                           const Entry* entry) {
  const uint32_t flags = FlagsOf(*entry);
  if ((flags & kPassThrough) != 0) return CallUnpatched(a, b, c, d, e, entry);
  if ((flags & kSerializes) != 0) return CallSerialization(a, b, c, d, e, entry);
  if (IsRare(rlscope_self.call != 0) && is_serializing) {
    return CallInSerialization(a, b, c, d, e, entry);
  }
  if ((flags & kWait) != 0) return call_hooks.wait(a, b, c, d, e, entry);
  if (!RecordsNothing()) return CallAfterPreparing(a, b, c, d, e, entry);
  if ((flags & kResultHook) != 0) return CallForResult(a, b, c, d, e, entry);
  return entry->original(a, b, c, d, e);
}

// Something was recorded inside the call, or it returns in a fork child. Returns what the call
// returned, so that the usual way keeps it in no register that it must save.
__attribute__((noinline)) void* EndInterrupted(void* result) {
  rlscope_end_call(runtime::ReadTicks());
  return result;
}

// Word by word: a HeldCall in memory costs the usual case, too.
__attribute__((noinline)) void* EndLong(void* result, struct rlscope_slot* slot, uint64_t start,
                                        uint32_t word, uint64_t end) {
  runtime::EndLongCall(&rlscope_self, {slot, start, word}, end);
  return result;
}

// `start` comes from the caller, which read it without the branch of ReadTicks(), whose
// clock_gettime() costs the usual case a frame.
inline __attribute__((always_inline)) void* Record(void* a, void* b, void* c, void* d, void* e,
                                                   const Entry* entry, struct rlscope_thread* self,
                                                   uint64_t start) {
  runtime::BeginCall(self, runtime::Load(entry->word), start);
  void* result = entry->original(a, b, c, d, e);
  runtime::HeldCall held;
  if (!runtime::TakeHeldCall(self, runtime::Load(Process().generation), &held)) {
    return EndInterrupted(result);
  }
  // The compiler leaves what is done so far before the clock.
  __atomic_signal_fence(__ATOMIC_SEQ_CST);
  const uint64_t end = runtime::ReadCounter();
  if (!runtime::WriteHeldCall(held, end)) {
    return EndLong(result, held.slot, held.start, held.word, end);
  }
  return result;
}

// runtime::HasRoom() without making any.
inline __attribute__((always_inline)) bool HasSlot(const struct rlscope_process_state& process,
                                                   const struct rlscope_thread* self) {
  return !IsRare(self->cursor == self->limit) && !IsRare(self->generation != process.generation);
}

__attribute__((noinline)) void* RecordHooked(void* a, void* b, void* c, void* d, void* e,
                                             const Entry* entry) {
  struct rlscope_thread* self = Self();
  if (IsRare(self->call != 0) || IsRare(!FollowsWindow(Process())) || !HasSlot(Process(), self)) {
    return CallByCase(a, b, c, d, e, entry);
  }
  const uint64_t start = runtime::ReadCounter();
  DelayRecord(Delayed::kInsideCall);
  void* result = Record(a, b, c, d, e, entry, self, start);
  if ((FlagsOf(*entry) & kResultHook) != 0) call_hooks.result(result);
  return result;
}

__attribute__((noinline)) void* CallFlagged(void* a, void* b, void* c, void* d, void* e,
                                            const Entry* entry) {
  const uint32_t flags = FlagsOf(*entry);
  if ((flags & kDelayed) != 0 && Self()->call == 0) DelayRecord(Delayed::kNativeCall);
  if ((flags & ~(kResultHook | kDelayed)) == 0) return RecordHooked(a, b, c, d, e, entry);
  return CallByCase(a, b, c, d, e, entry);
}

inline __attribute__((always_inline)) void* CallPaused(void* a, void* b, void* c, void* d, void* e,
                                                       const Entry* entry) {
  const struct rlscope_process_state& process = Process();
  if (IsRare(runtime::Load(process.state) != RLSCOPE_PAUSED) || IsRare(!FollowsWindow(process)) ||
      IsRare(FlagsOf(*entry) > kWarming)) {
    return CallByCase(a, b, c, d, e, entry);
  }
  return entry->original(a, b, c, d, e);
}

// rlscope_process.state and .clock, side by side, in one load.
constexpr uint64_t kRecordsUsually =
    static_cast<uint64_t>(base::kCounterKind) << 32 | RLSCOPE_RECORDING;
static_assert(offsetof(rlscope_process_state, state) == 0 &&
              offsetof(rlscope_process_state, clock) == 4);

inline __attribute__((always_inline)) uint64_t
StateAndClock(const struct rlscope_process_state& process) {
  using Both = uint64_t __attribute__((may_alias));
  return __atomic_load_n(reinterpret_cast<const Both*>(&process), __ATOMIC_RELAXED);
}

}  // namespace

void RecordSerialization() { __atomic_store_n(&records_serialization, true, __ATOMIC_RELAXED); }

uint64_t PassedThrough() { return __atomic_load_n(&passed_through, __ATOMIC_RELAXED); }

// A handful of tests in a row and two reads of the clock are the price of every native call of the
// program; without recording it is a jump that (on x86-64) needs no frame. What a call must
// remember lies in the thread's 64 bytes and not on the stack, so that there is nothing to find
// again after it. The tests are those of runtime::IsRecording() and runtime::HasRoom(). A CPU
// answers a second read of the clock a fixed time after the first (10 to 11 ns on Zen): the first
// is as early as registers allow, and whatever the record needs is done in between.
//
// Between two operators of PyTorch a CPU forgets all of it, so the usual way is one straight piece
// of code, without a branch that is taken, on one page with the stubs of hot functions, which
// follow it in the section (CMakeLists.txt); the stub's register is 64 bits wide, and its upper
// half 0.
extern "C" __attribute__((section(".text.rlscope_call"), aligned(4096))) void* rlscope_call(
    void* a, void* b, void* c, void* d, void* e, uint64_t index) {
  const Entry* entry = &entries[index];
  __asm__("" : "+r"(entry));  // one address for its three fields
  const struct rlscope_process_state& process = Process();
  if (IsRare(StateAndClock(process) != kRecordsUsually)) {
    return CallPaused(a, b, c, d, e, entry);
  }
  if (IsRare(FlagsOf(*entry) != 0)) return CallFlagged(a, b, c, d, e, entry);
  struct rlscope_thread* self = Self();
  if (IsRare(self->call != 0) || IsRare(!FollowsWindow(process))) {
    return CallByCase(a, b, c, d, e, entry);
  }
  // The compiler leaves the window before the clock: after it, one more register must be saved.
  __atomic_signal_fence(__ATOMIC_SEQ_CST);
  const uint64_t start = runtime::ReadCounter();
  if (!HasSlot(process, self)) return CallByCase(a, b, c, d, e, entry);
  return Record(a, b, c, d, e, entry, self, start);
}

}  // namespace rlscope::native_calls
