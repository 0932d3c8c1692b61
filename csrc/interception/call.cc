#include "interception/call.h"

#include <stddef.h>

#include "interception/call_layout.h"
#include "interception/entries.h"
#include "runtime/native_call.h"
#include "trace/shared_pages.h"

namespace rlscope::interception {

EntryTable entry_table;
EntryName entry_names[kStubs];

namespace {

void Ignore(void*) {}

}  // namespace

CallHooks call_hooks = {Ignore, nullptr, nullptr, nullptr};

namespace {

uint64_t passed_through = 0;

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

// Who sees that an entry is not warming any more sees its word, too.
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

// Whether this call is to be recorded, everything that is rare considered.
bool Begins(uint32_t index) {
  if (!PrepareToRecord() || runtime::IsInCall()) return false;
  const uint32_t word = WordOf(index);
  if (word == 0 || !runtime::HasRoom()) return false;
  if ((FlagsOf(entries[index]) & kWarming) != 0) CountCall(index);
  runtime::BeginCall(&rlscope_self, word, runtime::ReadTicks());
  return true;
}

bool FollowsWindow(const struct rlscope_process_state& process) {
  return runtime::Load(*runtime::Load(process.window_word)) == runtime::Load(process.window_seen);
}

// Nothing is to be recorded, for certain and without asking anybody.
bool IsIdle() {
  const struct rlscope_process_state& process = rlscope_process;
  if (rlscope_self.call != 0) return true;
  const uint32_t state = __atomic_load_n(&process.state, __ATOMIC_RELAXED);
  return state == RLSCOPE_OFF || (state == RLSCOPE_PAUSED && FollowsWindow(process));
}

constexpr uint64_t kBegunRarely =
    RLSCOPE_LOOKED_AT - RLSCOPE_BEGUN_LOOKED_AT + RLSCOPE_BEGUN_RARELY;

// What the assembler takes for granted.
static_assert(offsetof(EntryTable, process) == RLSCOPE_TABLE_PROCESS);
static_assert(offsetof(EntryTable, self_offset) == RLSCOPE_TABLE_SELF_OFFSET);
static_assert(offsetof(EntryTable, entries) == RLSCOPE_TABLE_ENTRIES);
static_assert(sizeof(Entry) == RLSCOPE_ENTRY_BYTES);
static_assert(offsetof(Entry, original) == RLSCOPE_ENTRY_ORIGINAL);
static_assert(offsetof(Entry, word) == RLSCOPE_ENTRY_WORD);
static_assert(offsetof(Entry, flags) == RLSCOPE_ENTRY_FLAGS);
static_assert(kWarming < kResultHook && kResultHook == RLSCOPE_RESULT_HOOK);
static_assert(offsetof(rlscope_process_state, state) == RLSCOPE_PROCESS_STATE);
static_assert(offsetof(rlscope_process_state, clock) == RLSCOPE_PROCESS_STATE + 4);
static_assert(offsetof(rlscope_process_state, window_word) == RLSCOPE_PROCESS_WINDOW_WORD);
static_assert(offsetof(rlscope_process_state, window_seen) == RLSCOPE_PROCESS_WINDOW_SEEN);
static_assert(offsetof(rlscope_process_state, generation) == RLSCOPE_PROCESS_GENERATION);
static_assert(RLSCOPE_PAUSED == RLSCOPE_IS_PAUSED);
static_assert(offsetof(rlscope_thread, cursor) == RLSCOPE_THREAD_CURSOR);
static_assert(offsetof(rlscope_thread, limit) == RLSCOPE_THREAD_LIMIT);
static_assert(offsetof(rlscope_thread, call_start) == RLSCOPE_THREAD_CALL_START);
static_assert(offsetof(rlscope_thread, ring) + sizeof(void*) == RLSCOPE_THREAD_LAP);
static_assert(offsetof(rlscope_thread, generation) == RLSCOPE_THREAD_GENERATION);
static_assert(offsetof(rlscope_thread, call) == RLSCOPE_THREAD_CALL);
static_assert(sizeof(rlscope_slot) == RLSCOPE_SLOT_BYTES);
static_assert(offsetof(rlscope_slot, tsc) == RLSCOPE_SLOT_TSC);
static_assert(offsetof(rlscope_slot, duration) == RLSCOPE_SLOT_DURATION);
static_assert(offsetof(rlscope_slot, word) == RLSCOPE_SLOT_WORD);

// rlscope_process.state and .clock, side by side in one load: recording, by the CPU's counter.
constexpr uint64_t kRecordsUsually = uint64_t{runtime::kCounterKind} << 32 | RLSCOPE_RECORDING;
static_assert(runtime::kCounterKind == static_cast<uint32_t>(trace::ClockKind::kTsc)
                  ? kRecordsUsually == RLSCOPE_RECORDS_USUALLY
                  : runtime::kCounterKind ==
                        static_cast<uint32_t>(trace::ClockKind::kVirtualCounter));

}  // namespace

uint64_t PassedThrough() { return __atomic_load_n(&passed_through, __ATOMIC_RELAXED); }

extern "C" {

uint64_t rlscope_begin_rarely(const Entry* entry) {
  const uint32_t flags = FlagsOf(*entry);
  if ((flags & kPassThrough) != 0) {
    __atomic_fetch_add(&passed_through, 1, __ATOMIC_RELAXED);
    return 0;
  }
  uint64_t begun = (flags & kResultHook) != 0 ? RLSCOPE_LOOKED_AT : 0;
  if (!IsIdle() && Begins(static_cast<uint32_t>(entry - entries))) begun |= kBegunRarely;
  return begun;
}

void* rlscope_end_rarely(void* result, uint32_t begun) {
  if ((begun & RLSCOPE_BEGUN_RARELY) != 0) {
    runtime::EndCall(&rlscope_self, runtime::Load(rlscope_process.generation),
                     runtime::ReadTicks());
  }
  return (begun & RLSCOPE_BEGUN_LOOKED_AT) != 0 ? rlscope_look_at(result) : result;
}

void* rlscope_look_at(void* result) {
  call_hooks.result(result);
  return result;
}

}  // extern "C"

#if defined(__x86_64__)

extern "C" {

void* rlscope_end_unusually(void* result) {
  rlscope_end_call(runtime::ReadTicks());
  return result;
}

void* rlscope_end_long(void* result, struct rlscope_slot* slot, uint64_t start, uint32_t word,
                       uint64_t end) {
  rlscope_self.cursor = slot;
  rlscope_self.call_start = start;
  rlscope_self.call = word & ~trace::kLapMask;
  rlscope_end_call(end);
  return result;
}

}  // extern "C"

#else

namespace {

using runtime::IsRare;

uint64_t StateAndClock(const struct rlscope_process_state& process) {
  using Both = uint64_t __attribute__((may_alias));
  return __atomic_load_n(reinterpret_cast<const Both*>(&process), __ATOMIC_RELAXED);
}

__attribute__((noinline)) void* CallRarely(void* a, void* b, void* c, void* d, void* e,
                                           const Entry* entry) {
  const uint64_t begun = rlscope_begin_rarely(entry);
  void* result = entry->original(a, b, c, d, e);
  return begun == 0 ? result : rlscope_end_rarely(result, static_cast<uint32_t>(begun));
}

}  // namespace

// What stubs_x86_64.S does by hand, with one call for all functions. On one page with the stubs of
// hot ones, which follow it in the section; the stub's register is 64 bits wide, and its upper half
// 0. Whoever leaves the usual way takes the arguments along, or they were to be saved on it.
extern "C" __attribute__((section(".text.rlscope_call"), aligned(4096))) void* rlscope_call(
    void* a, void* b, void* c, void* d, void* e, uint64_t index) {
  const Entry& entry = entries[index];
  const struct rlscope_process_state& process = *entry_table.process;
  const uint32_t flags = FlagsOf(entry);
  if (IsRare(StateAndClock(process) != kRecordsUsually)) {
    const bool is_paused = runtime::Load(process.state) == RLSCOPE_PAUSED && FollowsWindow(process);
    if (is_paused && flags < kResultHook) return entry.original(a, b, c, d, e);
    return CallRarely(a, b, c, d, e, &entry);
  }
  if (IsRare(flags != 0 && flags != kResultHook)) return CallRarely(a, b, c, d, e, &entry);
  struct rlscope_thread* self = Self();
  if (IsRare(self->call != 0) && flags == 0) return entry.original(a, b, c, d, e);
  if (IsRare(self->call != 0) || IsRare(!FollowsWindow(process)) ||
      IsRare(self->generation != runtime::Load(process.generation)) ||
      IsRare(self->cursor == self->limit)) {
    return CallRarely(a, b, c, d, e, &entry);
  }
  runtime::BeginCall(self, runtime::Load(entry.word), runtime::ReadCounter());
  void* result = entry.original(a, b, c, d, e);
  runtime::EndCall(self, runtime::Load(entry_table.process->generation), runtime::ReadCounter());
  return flags == 0 ? result : rlscope_look_at(result);
}

#endif

}  // namespace rlscope::interception
