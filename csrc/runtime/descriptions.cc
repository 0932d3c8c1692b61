// The part of the C ABI that describes: names, threads, metadata, the interpreter.
#include <string.h>

#include "base/clock.h"
#include "base/env.h"
#include "runtime/call_sites.h"
#include "runtime/first_record.h"
#include "runtime/hot.h"
#include "runtime/image.h"
#include "runtime/names.h"
#include "runtime/process.h"
#include "runtime/process_events.h"
#include "runtime/syscalls.h"
#include "runtime/threads.h"

namespace rlscope::runtime {
namespace {

using trace::EntryKind;

// Opens the image even while paused: what describes a process is not subject to windows.
bool HasImage() {
  rlscope_follow();
  return SharedPage() != nullptr && State() != RLSCOPE_OFF;
}

uint64_t Cut(uint64_t length, uint64_t limit) { return length < limit ? length : limit; }

uint32_t InternOther(uint32_t kind, uint32_t layer) {
  CountLoss(trace::kNameTableFull, 1);
  bool is_new;
  const Name* other = OtherName(kind, layer, &is_new);
  if (other == nullptr) return 0;
  if (is_new && IsImageOpen()) PublishName(*other);
  return other->id;
}

void AddText(EntryKind kind, const char* text, uint64_t length) {
  if (!HasImage()) return;
  LockGuard guard(&process_lock);
  AppendEntry(kind, 0, 0, 0, text, Cut(length, trace::kMaxNameBytes));
}

}  // namespace
}  // namespace rlscope::runtime

using rlscope::runtime::LockGuard;
using rlscope::runtime::process;
using rlscope::runtime::process_lock;

uint32_t rlscope_intern_name(uint32_t entry_kind, uint32_t layer, const char* text,
                             uint64_t length) {
  namespace runtime = rlscope::runtime;
  if (runtime::State() == RLSCOPE_UNKNOWN) rlscope_initialize();
  const bool is_kernel =
      entry_kind == static_cast<uint32_t>(rlscope::trace::EntryKind::kKernelName);
  length = runtime::Cut(
      length, is_kernel ? rlscope::trace::kMaxKernelNameBytes : rlscope::trace::kMaxNameBytes);
  LockGuard guard(&process_lock);
  if (const uint32_t known = runtime::FindName(entry_kind, text, length)) return known;
  const runtime::Name* name = runtime::AddName(entry_kind, layer, text, length);
  if (name == nullptr) return runtime::InternOther(entry_kind, layer);
  // Without an image yet: it publishes all names when it opens, before its first record.
  if (runtime::IsImageOpen() && !runtime::PublishName(*name)) {
    runtime::CountLoss(rlscope::trace::kNameTableFull, 1);
  }
  return name->id;
}

rlscope_call_site_finder rlscope_find_call_sites(rlscope_call_site_finder find) {
  static const bool is_wanted = rlscope::base::GetEnvNumber("RLSCOPE_STACKS", 1) != 0;
  return __atomic_exchange_n(&rlscope::runtime::find_call_site, is_wanted ? find : nullptr,
                             __ATOMIC_ACQ_REL);
}

// Without an image yet: it publishes all of them when it opens.
uint32_t rlscope_number_function(const char* file, uint64_t file_length, const char* name,
                                 uint64_t name_length, uint32_t first_line) {
  namespace runtime = rlscope::runtime;
  constexpr uint64_t kMost = rlscope::trace::kMaxNameBytes;
  LockGuard guard(&process_lock);
  bool is_new;
  const uint32_t number =
      runtime::NumberFunction(file, runtime::Cut(file_length, kMost), name,
                              runtime::Cut(name_length, kMost), first_line, &is_new);
  if (is_new && runtime::IsImageOpen()) runtime::PublishSiteFunction(number);
  return number;
}

uint32_t rlscope_number_stack(uint32_t parent, uint32_t function, uint32_t line) {
  namespace runtime = rlscope::runtime;
  LockGuard guard(&process_lock);
  bool is_new;
  const uint32_t number = runtime::NumberStack(parent, function, line, &is_new);
  if (is_new && runtime::IsImageOpen()) runtime::PublishSiteStack(number);
  return number;
}

void rlscope_set_process_name(const char* text, uint64_t length) {
  rlscope::runtime::AddText(rlscope::trace::EntryKind::kProcessName, text, length);
}

void rlscope_set_thread_name(const char* text, uint64_t length) {
  namespace runtime = rlscope::runtime;
  if (!runtime::HasImage()) return;
  LockGuard guard(&process_lock);
  if (!runtime::IsImageOpen()) return;
  const uint32_t thread = runtime::NumberThread(&rlscope_self);
  const uint16_t flags = process.python ? rlscope::trace::kPythonThread : 0;
  runtime::AppendEntry(rlscope::trace::EntryKind::kThreadName, flags, thread, runtime::SysGetTid(),
                       text, runtime::Cut(length, rlscope::trace::kMaxNameBytes));
}

void rlscope_begin_thread(void) {
  namespace runtime = rlscope::runtime;
  if (rlscope_follow() == 0 || !runtime::HasImage()) return;
  LockGuard guard(&process_lock);
  runtime::EnsureRing(&rlscope_self);
}

void rlscope_begin_native_thread(void) {
  namespace runtime = rlscope::runtime;
  const struct rlscope_thread* self = &rlscope_self;
  const bool begun =
      self->thread != 0 && self->generation == runtime::Load(rlscope_process.generation);
  if (begun || runtime::SysGetTid() == runtime::SysGetPid()) return;
  if (rlscope_follow() == 0 || !runtime::HasImage()) return;
  LockGuard guard(&process_lock);
  if (runtime::IsImageOpen()) runtime::NumberThread(&rlscope_self, true);
}

void rlscope_add_metadata(const char* key, uint64_t key_length, const char* json,
                          uint64_t json_length) {
  namespace runtime = rlscope::runtime;
  if (!runtime::HasImage()) return;
  LockGuard guard(&process_lock);
  static char entry[rlscope::trace::kMaxMetadataBytes];  // under the lock
  if (key_length > sizeof entry || json_length > sizeof entry - key_length) {
    runtime::CountLoss(rlscope::trace::kMetadataTooLong, 1);
    return;
  }
  memcpy(entry, key, key_length);
  memcpy(entry + key_length, json, json_length);
  if (!runtime::AppendEntry(rlscope::trace::EntryKind::kMetadata, 0,
                            static_cast<uint32_t>(key_length), 0, entry,
                            key_length + json_length)) {
    runtime::CountLoss(rlscope::trace::kMetadataTooLong, 1);
  }
}

void rlscope_python_begin(const char* version, const char* executable) {
  namespace runtime = rlscope::runtime;
  (void)executable;  // found by the reader in the command line; the record has no room for a path
  if (runtime::State() == RLSCOPE_UNKNOWN) rlscope_initialize();
  LockGuard guard(&process_lock);
  if (process.python) return;
  process.python = true;
  process.python_begin_ns = rlscope::base::ReadMonotonicNs();
  const uint64_t length = strnlen(version, sizeof process.python_version - 1);
  memcpy(process.python_version, version, length);
  process.python_version[length] = '\0';
  if (runtime::State() == RLSCOPE_OFF) return;
  runtime::LogPython();
  if (runtime::image.page != nullptr) {
    runtime::image.page->python_begin_ns = process.python_begin_ns;
    runtime::image.page->python = 1;
  }
}

void rlscope_describe_interpreter(const struct rlscope_interpreter_layout* layout) {
  LockGuard guard(&process_lock);
  process.interpreter = *layout;
  rlscope::trace::ProcessPage* page = rlscope::runtime::image.page;
  if (page != nullptr) rlscope::runtime::ShowInterpreter(page);
}

void rlscope_python_end(void) {
  LockGuard guard(&process_lock);
  if (process.python_end_ns == 0) process.python_end_ns = rlscope::base::ReadMonotonicNs();
  rlscope::trace::ProcessPage* page = rlscope::runtime::image.page;
  if (page != nullptr) page->python_end_ns = process.python_end_ns;
}
