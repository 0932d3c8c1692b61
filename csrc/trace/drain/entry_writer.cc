#include "trace/drain/entry_writer.h"

#include <string.h>

#include "trace/layout/record.h"

namespace rlscope::trace {

namespace {

// Whether `id` and `aux` are what a process writes in an entry of this kind.
bool NamesWhatItShould(const ArenaEntry& entry) {
  switch (static_cast<EntryKind>(entry.kind)) {
    case EntryKind::kOperationName:
    case EntryKind::kPhaseName:
    case EntryKind::kFunctionName:
    case EntryKind::kCudaCallName:
    case EntryKind::kKernelName:
      return entry.id != 0 && entry.id <= kLargestNameId &&
             entry.aux <= static_cast<uint32_t>(kLastLayer);
    case EntryKind::kThread:
    case EntryKind::kThreadName:
      return entry.id != 0 && entry.id <= kMaxId && entry.aux != 0;
    case EntryKind::kThreadTimes:
      return entry.id != 0 && entry.id <= kMaxId && entry.length == sizeof(ThreadTimes);
    case EntryKind::kMetadata:
      return entry.id <= entry.length && entry.aux == 0;
    case EntryKind::kClockPair:
      return entry.length == sizeof(base::ClockPair);
    case EntryKind::kProcessName:
    case EntryKind::kProgram:
    case EntryKind::kPythonVersion:
      return entry.id == 0 && entry.aux == 0;
    case EntryKind::kSiteFunction:
      return entry.id != 0 && entry.id <= kMostSiteFunctions && entry.flags <= entry.length;
    case EntryKind::kSiteNode:
      return entry.id != 0 && entry.id <= kMostSites && entry.aux < entry.id &&
             entry.length == 2 * sizeof(uint32_t);
  }
  return false;
}

}  // namespace

int EntryWriter::WriteAll(ArenaView* arena) {
  ArenaEntry entry;
  const char* text;
  while (error_ == 0 && arena->Next(&entry, &text)) Take(entry, text);
  FlushNames();
  FlushThreads();
  FlushSites();
  return error_;
}

void EntryWriter::Take(const ArenaEntry& entry, const char* text) {
  const Text value = {text, entry.length};
  if (!NamesWhatItShould(entry)) return LeaveOut(entry);
  switch (static_cast<EntryKind>(entry.kind)) {
    case EntryKind::kOperationName:
      return AddName(entry, NameKind::kOperation, text);
    case EntryKind::kPhaseName:
      return AddName(entry, NameKind::kPhase, text);
    case EntryKind::kFunctionName:
      return AddName(entry, NameKind::kFunction, text);
    case EntryKind::kCudaCallName:
      return AddName(entry, NameKind::kCudaCall, text);
    case EntryKind::kKernelName:
      return AddName(entry, NameKind::kKernel, text);
    case EntryKind::kThread:
    case EntryKind::kThreadName:
      return AddThread(entry, text);
    case EntryKind::kThreadTimes:
      return AddThreadTimes(entry, text);
    case EntryKind::kProcessName:
      return Keep(WriteMetadata(sink_, buffer_, {value, {}, {}}, nullptr, 0));
    case EntryKind::kProgram:
      return Keep(WriteMetadata(sink_, buffer_, {{}, value, {}}, nullptr, 0));
    case EntryKind::kPythonVersion:
      return Keep(WriteMetadata(sink_, buffer_, {{}, {}, value}, nullptr, 0));
    case EntryKind::kMetadata:
      return WriteMetadataEntry(entry, text);
    case EntryKind::kClockPair:
      return WriteClockEntry(text);
    case EntryKind::kSiteFunction:
      return AddSiteFunction(entry, text);
    case EntryKind::kSiteNode:
      return AddSite(entry, text);
  }
}

void EntryWriter::AddName(const ArenaEntry& entry, NameKind kind, const char* text) {
  if (name_count_ == kBatch) FlushNames();
  names_[name_count_++] = {entry.id, kind, static_cast<Layer>(entry.aux), {text, entry.length}};
}

void EntryWriter::AddThread(const ArenaEntry& entry, const char* text) {
  if (thread_count_ == kBatch) FlushThreads();
  const bool is_python = (entry.flags & kPythonThread) != 0;
  threads_[thread_count_++] = {entry.id, entry.aux, is_python, {text, entry.length}};
  if (static_cast<EntryKind>(entry.kind) == EntryKind::kThread) living_->Begin(entry.id, entry.aux);
}

void EntryWriter::AddThreadTimes(const ArenaEntry& entry, const char* text) {
  if (thread_count_ == kBatch) FlushThreads();
  ThreadTimes times;
  memcpy(&times, text, sizeof times);
  threads_[thread_count_++] = {entry.id, 0, false, {}, times};
  if ((entry.flags & kThreadEnds) != 0) living_->End(entry.id);
}

void EntryWriter::WriteMetadataEntry(const ArenaEntry& entry, const char* text) {
  const MetadataFields fields = {{text, entry.id}, {text + entry.id, entry.length - entry.id}};
  Keep(WriteMetadata(sink_, buffer_, {}, &fields, 1));
}

void EntryWriter::WriteClockEntry(const char* text) {
  base::ClockPair pair;
  memcpy(&pair, text, sizeof pair);
  Keep(WriteClock(sink_, buffer_, &pair, 1));
}

void EntryWriter::AddSiteFunction(const ArenaEntry& entry, const char* text) {
  const uint32_t number = kFirstSite + entry.id;
  if (function_count_ == kBatch || number != first_function_ + function_count_) FlushSites();
  if (function_count_ == 0) first_function_ = number;
  const Text file = {text, entry.flags};
  const Text name = {text + entry.flags, entry.length - entry.flags};
  functions_[function_count_++] = {file, name, entry.aux};
  if (files_ != nullptr) files_->Add(file);
}

void EntryWriter::AddSite(const ArenaEntry& entry, const char* text) {
  const uint32_t number = kFirstSite + entry.id;
  if (site_count_ == kBatch || number != first_site_ + site_count_) FlushSites();
  if (site_count_ == 0) first_site_ = number;
  uint32_t function_and_line[2];
  memcpy(function_and_line, text, sizeof function_and_line);
  const uint32_t parent = entry.aux == 0 ? 0 : kFirstSite + entry.aux;
  sites_[site_count_++] = {parent, kFirstSite + function_and_line[0], function_and_line[1]};
}

void EntryWriter::FlushNames() {
  if (name_count_ != 0) Keep(WriteNames(sink_, buffer_, names_, name_count_));
  name_count_ = 0;
}

void EntryWriter::FlushThreads() {
  if (thread_count_ != 0) Keep(WriteThreads(sink_, buffer_, threads_, thread_count_));
  thread_count_ = 0;
}

void EntryWriter::FlushSites() {
  if (function_count_ + site_count_ != 0) {
    Keep(WriteStacks(
        sink_, buffer_,
        {first_function_, functions_, function_count_, first_site_, sites_, site_count_}));
  }
  function_count_ = site_count_ = 0;
}

}  // namespace rlscope::trace
