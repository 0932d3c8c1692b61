#include "trace/process_log_reader.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>

#include <algorithm>

#include "trace/process_record.h"
#include "trace/regular_file.h"

namespace rlscope::trace {

using base::Status;

std::vector<ProcessRecord> ParseProcessLog(const uint8_t* data, size_t size,
                                           const std::string& label,
                                           std::vector<Problem>* problems) {
  std::vector<ProcessRecord> records;
  uint64_t versions_left_out = 0;
  size_t end = 0;  // of the record before
  const auto add_damage_before = [&](size_t at) {
    if (at > end) problems->push_back({label, end, at - end, "damaged"});
  };
  ProcessRecord record;
  for (size_t at; (at = FindRecord(data, size, end, &record)) != SIZE_MAX;) {
    add_damage_before(at);
    end = at + sizeof record;
    if (record.version == kAbiVersion) {
      records.push_back(record);
    } else {
      ++versions_left_out;
    }
  }
  add_damage_before(size);
  if (versions_left_out > 0) {
    problems->push_back(
        {label, 0, versions_left_out * sizeof(ProcessRecord), "records of another version"});
  }
  return records;
}

Status ReadProcessLog(const std::string& path, std::vector<ProcessRecord>* records,
                      std::vector<Problem>* problems) {
  uint64_t size = 0;
  const int descriptor = OpenRegular(path.c_str(), O_RDONLY, &size);
  if (descriptor < 0 && errno == ENOENT) return Status();
  std::vector<uint8_t> bytes(std::min(size, kMostLogBytes));
  const int64_t got = descriptor < 0 ? -1 : ReadAndClose(descriptor, bytes.data(), bytes.size());
  if (got < 0) {
    return Status::Error(errno, "cannot read %s: %s", path.c_str(), DescribeOpenError(errno));
  }
  *records = ParseProcessLog(bytes.data(), static_cast<size_t>(got), path, problems);
  if (size > kMostLogBytes) {
    problems->push_back({path, kMostLogBytes, size - kMostLogBytes, "too long to be read on"});
  }
  return Status();
}

namespace {

void TakeWindow(const ProcessRecord& record, RunNotes* notes) {
  const std::string change(record.name, strnlen(record.name, sizeof record.name));
  if (change == kWindowWaits) {
    notes->first_start_ns = INT64_MAX;
  } else if (change == kWindowStarts) {
    notes->first_start_ns = std::min(notes->first_start_ns, record.time_ns);
    notes->last_stop_ns = INT64_MAX;
  } else if (change == kWindowStops) {
    notes->last_stop_ns = record.time_ns;
  }
}

}  // namespace

RunNotes TakeRunNotes(std::vector<ProcessRecord>* log) {
  const auto event_of = [](const ProcessRecord& record) {
    return static_cast<ProcessEvent>(record.event);
  };
  const auto is_process = [&](const ProcessRecord& record) {
    return event_of(record) != ProcessEvent::kRings && event_of(record) != ProcessEvent::kWindow;
  };
  const auto notes_begin = std::stable_partition(log->begin(), log->end(), is_process);
  RunNotes notes;
  uint32_t length = 0;
  for (auto note = notes_begin; note != log->end(); ++note) {
    if (event_of(*note) == ProcessEvent::kWindow) {
      TakeWindow(*note, &notes);
      continue;
    }
    length = note->flags >> 16;
    if ((note->flags & 0xffff) != notes.rings.size()) continue;  // one before it is damaged
    notes.rings.append(note->name, strnlen(note->name, sizeof note->name));
  }
  log->erase(notes_begin, log->end());
  if (notes.rings.size() != length) notes.rings.clear();
  return notes;
}

}  // namespace rlscope::trace
