#include "runtime/image.h"

#include <errno.h>
#include <string.h>

#include "base/clock.h"
#include "base/proc.h"
#include "runtime/call_sites.h"
#include "runtime/command_line.h"
#include "runtime/detached.h"
#include "runtime/process.h"
#include "runtime/process_log.h"
#include "runtime/shared_file.h"
#include "runtime/syscalls.h"
#include "runtime/text.h"

namespace rlscope::runtime {

Image image;

namespace {

using trace::ControlPage;
using trace::NamesPage;
using trace::ProcessPage;

constexpr uint64_t kFurtherArenaBytes = 256 * 1024;

// The arena file that is being filled.
struct Arena {
  char* entries;
  uint64_t capacity;
  uint64_t* used;
  uint32_t files;  // further files made
};
Arena arena;

// Input and result of OpenFiles(); it runs in a detached thread.
struct Opening {
  ControlPage* control;
  ProcessPage* page;
  char* command_line;  // kCommandLineBytes
  uint64_t command_line_bytes;
  int error;
};

void LogFork() {
  trace::ProcessRecord record = MakeRecord(trace::ProcessEvent::kForked);
  if (process.python) record.flags |= trace::kForkedPython;
  if (AppendRecords(process.directory, &record, 1) == 0) process.logged = true;
}

void ReadStartTime() {
  base::ProcStat stat;
  if (process.start_time == 0 && base::ReadProcStat(0, &stat)) {
    process.start_time = stat.start_time;
  }
}

void NameImage() {
  Text(image.name)
      .Add(process.pid)
      .Add(".")
      .Add(process.start_time)
      .Add(".")
      .Add(static_cast<uint64_t>(process.began_ns));
}

bool IsUsable(const ControlPage& control) {
  return control.magic == trace::kControlMagic && control.abi_version == trace::kAbiVersion;
}

void OpenControl(Opening* opening) {
  char path[kImagePathBytes];
  Text(path).Add(process.directory).Add("/rings/control");
  opening->control =
      static_cast<ControlPage*>(OpenShared(path, sizeof(ControlPage), &opening->error));
  if (opening->control != nullptr && !IsUsable(*opening->control)) opening->error = -EINVAL;
}

void ChooseFolder(const ControlPage& control) {
  if (control.trace_rings[0] == '/') {
    char folder[sizeof control.trace_rings + 1];
    memcpy(folder, control.trace_rings, sizeof control.trace_rings);
    folder[sizeof control.trace_rings] = '\0';
    Text(image.rings).Add(folder);
  } else {
    Text(image.rings).Add(process.directory).Add("/rings");
  }
}

// Everything that needs a descriptor, in one visit.
void OpenFiles(void* argument) {
  auto* opening = static_cast<Opening*>(argument);
  ReadStartTime();
  NameImage();
  OpenControl(opening);
  if (opening->error != 0) return;
  ChooseFolder(*opening->control);
  if (process.forked && !process.logged) LogFork();
  char path[kImagePathBytes];
  Text(path).Add(image.rings).Add("/").Add(image.name).Add(".process");
  opening->page =
      static_cast<ProcessPage*>(CreateShared(path, trace::kProcessFileSize, &opening->error));
  opening->command_line_bytes = ReadCommandLine(opening->command_line);
}

// The run's clock was chosen once, by the process that made the control page.
void ChooseClock(const ControlPage& control, ProcessPage* page) {
  const auto kind = static_cast<base::ClockKind>(control.clock_kind);
  page->clock_kind = control.clock_kind;
  page->tsc_hz = control.tick_hz;
  Store(&rlscope_process.clock, control.clock_kind);
  Store(&rlscope_process.ticks_per_us, static_cast<uint32_t>(control.tick_hz / 1000000));
  const base::ClockPair pair = base::ReadClockPair(kind);
  page->first_tick = pair.ticks;
  page->first_ns = pair.ns;
}

void FillPage(const ControlPage& control, ProcessPage* page) {
  page->abi_version = trace::kAbiVersion;
  page->pid = process.pid;
  page->start_time = process.start_time;
  page->began_ns = process.began_ns;
  page->main_thread = process.pid;
  page->python = process.python ? 1 : 0;
  page->python_begin_ns = process.python_begin_ns;
  ShowInterpreter(page);
  page->arena_capacity = trace::kProcessFileSize - trace::kPageSize;
  if (process.late) page->losses[trace::kLateAttachLoss] = 1;
  ChooseClock(control, page);
}

void UseFirstArena(ProcessPage* page) {
  arena.entries = reinterpret_cast<char*>(page) + trace::kPageSize;
  arena.capacity = page->arena_capacity;
  arena.used = &page->arena_used;
  arena.files = 0;
}

void PublishAllNames() {
  for (uint32_t i = 0;; i++) {
    const Name* name = NameAt(i);
    if (name == nullptr) return;
    if (!PublishName(*name)) CountLoss(trace::kNameTableFull, 1);
  }
}

void PublishAllCallSites() {
  for (uint32_t i = 1; FunctionAt(i) != nullptr; i++) PublishSiteFunction(i);
  for (uint32_t i = 1; StackAt(i) != nullptr; i++) PublishSiteStack(i);
}

void UnmapOpening(const Opening& opening) {
  if (opening.control != nullptr) SysUnmap(opening.control, sizeof(ControlPage));
}

struct NewArena {
  const char* path;
  uint64_t size;
  void* address;
};
void CreateArena(void* argument) {
  auto* file = static_cast<NewArena*>(argument);
  int error = 0;
  file->address = CreateShared(file->path, file->size, &error);
}

bool AddArenaFile(uint64_t needed) {
  char path[kImagePathBytes];
  MakeImagePath(path, arena.files + 1, ".names");
  const uint64_t size = kFurtherArenaBytes > needed + trace::kPageSize
                            ? kFurtherArenaBytes
                            : (needed + 2 * trace::kPageSize) & ~(trace::kPageSize - 1);
  NewArena file = {path, size, nullptr};
  RunDetached(&CreateArena, &file);
  if (file.address == nullptr) return false;
  Prefault(file.address, trace::kPageSize, /*dont_fork=*/process.wipes_on_fork);
  auto* page = static_cast<NamesPage*>(file.address);
  page->arena_capacity = size - trace::kPageSize;
  arena.entries = static_cast<char*>(file.address) + trace::kPageSize;
  arena.capacity = page->arena_capacity;
  arena.used = &page->arena_used;
  arena.files++;
  __atomic_store_n(&page->magic, trace::kNamesMagic, __ATOMIC_RELEASE);
  __atomic_store_n(&image.page->arena_files, arena.files, __ATOMIC_RELEASE);
  AnnounceFile();
  return true;
}

}  // namespace

bool IsImageOpen() { return image.page != nullptr && State() != RLSCOPE_OFF; }

bool OpenImage() {
  if (image.page != nullptr) return true;
  char command_line[kCommandLineBytes];
  Opening opening = {};
  opening.command_line = command_line;
  RunDetached(&OpenFiles, &opening);
  if (opening.page == nullptr) {
    UnmapOpening(opening);
    process.refused = true;
    SetState(RLSCOPE_OFF);
    return false;
  }
  Prefault(opening.page, trace::kProcessFileSize, /*dont_fork=*/process.wipes_on_fork);
  FillPage(*opening.control, opening.page);
  Store(&image.control, opening.control);
  Store(&image.page, opening.page);
  UseFirstArena(opening.page);
  PublishAllNames();
  PublishAllCallSites();
  AppendEntry(trace::EntryKind::kProgram, 0, 0, 0, command_line, opening.command_line_bytes);
  if (process.python) {
    AppendEntry(trace::EntryKind::kPythonVersion, 0, 0, 0, process.python_version,
                strnlen(process.python_version, sizeof process.python_version));
  }
  __atomic_store_n(&opening.page->magic, trace::kProcessMagic, __ATOMIC_RELEASE);
  AnnounceFile();
  return true;
}

void CloseImage() {
  Store<ControlPage*>(&image.control, nullptr);
  Store<ProcessPage*>(&image.page, nullptr);
  arena = Arena();
}

bool AppendEntry(trace::EntryKind kind, uint16_t flags, uint32_t id, uint32_t aux, const char* text,
                 uint64_t length) {
  if (!IsImageOpen()) return false;
  const uint64_t size = sizeof(trace::ArenaEntry) + ((length + 7) & ~UINT64_C(7));
  if (arena.capacity - *arena.used < size && !AddArenaFile(size)) return false;
  char* entry = arena.entries + *arena.used;
  const trace::ArenaEntry header = {static_cast<uint16_t>(kind), flags, id, aux,
                                    static_cast<uint32_t>(length)};
  memcpy(entry, &header, sizeof header);
  memcpy(entry + sizeof header, text, length);
  __atomic_store_n(arena.used, *arena.used + size, __ATOMIC_RELEASE);
  return true;
}

bool PublishName(const Name& name) {
  return AppendEntry(static_cast<trace::EntryKind>(name.kind), 0, name.id, name.layer, name.text,
                     name.length);
}

void PublishSiteFunction(uint32_t number) {
  const SiteFunction& function = *FunctionAt(number);
  if (AppendEntry(trace::EntryKind::kSiteFunction, function.file_length, number,
                  function.first_line, function.text, function.length)) {
    return;
  }
  CountLoss(trace::kNoCallSite, 1);
}

void PublishSiteStack(uint32_t number) {
  const SiteStack& stack = *StackAt(number);
  const uint32_t text[] = {stack.function, stack.line};
  if (AppendEntry(trace::EntryKind::kSiteNode, 0, number, stack.parent,
                  reinterpret_cast<const char*>(text), sizeof text)) {
    return;
  }
  CountLoss(trace::kNoCallSite, 1);
}

void MakeImagePath(char* path, uint32_t number, const char* suffix) {
  Text(path, kImagePathBytes)
      .Add(image.rings)
      .Add("/")
      .Add(image.name)
      .Add(".")
      .Add(number)
      .Add(suffix);
}

void ShowInterpreter(ProcessPage* page) {
  if (process.interpreter.interpreter == 0) return;
  page->interpreter = process.interpreter;
  Store(&page->has_interpreter, uint32_t{1});
}

void AnnounceFile() {
  ControlPage* control = SharedControl();
  if (control == nullptr) return;
  __atomic_fetch_add(&control->generation, 1, __ATOMIC_RELEASE);
  WakeDrainer();
}

void WakeDrainer() {
  ControlPage* control = SharedControl();
  if (control == nullptr) return;
  uint32_t* word = &control->wake;
  __atomic_fetch_add(word, 1, __ATOMIC_RELEASE);
  SysFutexWake(word, 1, /*shared=*/true);
}

}  // namespace rlscope::runtime
