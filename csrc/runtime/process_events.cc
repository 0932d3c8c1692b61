#include "runtime/process_events.h"

#include <string.h>
#include <time.h>

#include "base/clock.h"
#include "base/proc.h"
#include "runtime/command_line.h"
#include "runtime/detached.h"
#include "runtime/helper.h"
#include "runtime/image.h"
#include "runtime/process.h"
#include "runtime/process_log.h"

namespace rlscope::runtime {
namespace {

int64_t ProcessCpuNs() {
  struct timespec time;
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time);
  return time.tv_sec * INT64_C(1000000000) + time.tv_nsec;
}

struct Goodbye {
  trace::ProcessRecord records[2];
  int count;
};

void WriteGoodbye(void* argument) {
  auto* goodbye = static_cast<Goodbye*>(argument);
  base::ProcStat stat;
  if (process.start_time == 0 && base::ReadProcStat(0, &stat)) {
    process.start_time = stat.start_time;
  }
  for (int i = 0; i < goodbye->count; i++) goodbye->records[i].start_time = process.start_time;
  AppendRecords(process.directory, goodbye->records, goodbye->count);
}

trace::ProcessRecord ForkRecord() {
  trace::ProcessRecord record = MakeRecord(trace::ProcessEvent::kForked);
  if (process.python) record.flags |= trace::kForkedPython;
  return record;
}

void LogText(uint16_t event, const char* name, size_t size) {
  Goodbye note;
  note.count = 0;
  if (process.forked && !process.logged) note.records[note.count++] = ForkRecord();
  trace::ProcessRecord record = MakeRecord(static_cast<trace::ProcessEvent>(event));
  if (name != nullptr) {
    memset(record.name, 0, sizeof record.name);
    memcpy(record.name, name, size < sizeof record.name ? size : sizeof record.name - 1);
  }
  note.records[note.count++] = record;
  process.logged = true;
  RunDetached(&WriteGoodbye, &note);
}

struct CommandLine {
  char text[kCommandLineBytes];
  uint64_t size;
};

void ReadOwnCommandLine(void* argument) {
  auto* line = static_cast<CommandLine*>(argument);
  line->size = ReadCommandLine(line->text);
}

}  // namespace

void LogEvent(uint16_t event, const char* name) {
  LogText(event, name, name == nullptr ? 0 : strlen(name));
}

void LogPython() {
  CommandLine line = {};
  RunDetached(&ReadOwnCommandLine, &line);
  char text[sizeof(trace::ProcessRecord::name)] = {};
  const size_t version = strnlen(process.python_version, sizeof text - 2);
  memcpy(text, process.python_version, version);
  const uint64_t what =
      WhatRuns(line.text, line.size, text + version + 1, sizeof text - version - 2);
  LogText(static_cast<uint16_t>(trace::ProcessEvent::kPython), text, version + 1 + what);
}

void LogEnd(int status, int64_t began_ns, int64_t end_ns) {
  Goodbye goodbye;
  goodbye.count = 0;
  if (process.forked && !process.logged) goodbye.records[goodbye.count++] = ForkRecord();
  trace::ProcessRecord end = MakeRecord(trace::ProcessEvent::kEnded);
  end.time_ns = end_ns;
  end.profiler_cpu_ns = HelperCpuNs() + __atomic_load_n(&process.cupti_cpu_ns, __ATOMIC_RELAXED);
  end.cpu_ns = ProcessCpuNs() - end.profiler_cpu_ns;
  end.python_end_ns = process.python_end_ns;
  if (SharedPage() != nullptr) end.flags |= trace::kHadRings;
  if (process.refused) end.flags |= trace::kRefused;
  if (status != kUnknownStatus) {
    end.flags |= trace::kExitStatusKnown | (static_cast<uint32_t>(status) & 0xff) << 8;
  }
  end.ended.exit_flush_ns = process.cupti_flush_ns + base::ReadMonotonicNs() - began_ns;
  goodbye.records[goodbye.count++] = end;
  process.logged = true;
  // A process that recorded nothing is a small one that a shell starts by the thousand: it has one
  // thread, so no other one can see the descriptor, and the clone would cost more than the rest.
  if (SharedPage() != nullptr) {
    RunDetached(&WriteGoodbye, &goodbye);
  } else {
    WriteGoodbye(&goodbye);
  }
}

}  // namespace rlscope::runtime
