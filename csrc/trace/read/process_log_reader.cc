#include "trace/read/process_log_reader.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>

#include <algorithm>

#include "base/regular_file.h"
#include "trace/layout/process_record.h"

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
  const int descriptor = base::OpenRegular(path.c_str(), O_RDONLY, &size);
  if (descriptor < 0 && errno == ENOENT) return Status();
  std::vector<uint8_t> bytes(std::min(size, kMostLogBytes));
  const int64_t got =
      descriptor < 0 ? -1 : base::ReadAndClose(descriptor, bytes.data(), bytes.size());
  if (got < 0) {
    return Status::Error(errno, "cannot read %s: %s", path.c_str(), base::DescribeOpenError(errno));
  }
  *records = ParseProcessLog(bytes.data(), static_cast<size_t>(got), path, problems);
  if (size > kMostLogBytes) {
    problems->push_back(
        {path, kMostLogBytes, size - kMostLogBytes, "rlscope does not read this far"});
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

// A path that comes in pieces, one record each.
class PathPieces {
 public:
  // True: `record` was the last piece, and path() is whole.
  bool Take(const ProcessRecord& record) {
    const size_t length = record.flags >> 16, offset = record.flags & 0xffff;
    if (offset == 0) path_.clear();
    if (offset != path_.size()) return false;  // one before it is damaged
    path_.append(record.name, strnlen(record.name, sizeof record.name));
    return path_.size() == length;
  }
  const std::string& path() const { return path_; }

 private:
  std::string path_;
};

bool IsOfRun(const ProcessRecord& record) {
  const auto event = static_cast<ProcessEvent>(record.event);
  return event == ProcessEvent::kRings || event == ProcessEvent::kWindow ||
         event == ProcessEvent::kNested;
}

void AddOnce(const std::string& text, std::vector<std::string>* texts) {
  if (std::find(texts->begin(), texts->end(), text) == texts->end()) texts->push_back(text);
}

}  // namespace

RunNotes TakeRunNotes(std::vector<ProcessRecord>* log) {
  const auto is_process = [](const ProcessRecord& record) { return !IsOfRun(record); };
  const auto notes_begin = std::stable_partition(log->begin(), log->end(), is_process);
  RunNotes notes;
  PathPieces rings, nested;
  for (auto note = notes_begin; note != log->end(); ++note) {
    switch (static_cast<ProcessEvent>(note->event)) {
      case ProcessEvent::kRings:
        if (rings.Take(*note)) notes.rings = rings.path();
        break;
      case ProcessEvent::kNested:
        if (nested.Take(*note)) AddOnce(nested.path(), &notes.nested);
        break;
      default:
        TakeWindow(*note, &notes);
    }
  }
  log->erase(notes_begin, log->end());
  return notes;
}

}  // namespace rlscope::trace
