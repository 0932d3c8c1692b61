#include "trace/process_log_reader.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include <algorithm>

#include "base/crc32c.h"

namespace rlscope::trace {

using base::Status;

namespace {

bool ReadRecord(const uint8_t* data, ProcessRecord* record) {
  memcpy(record, data, sizeof *record);
  if (record->magic != kProcessRecordMagic) return false;
  ProcessRecord unsigned_record = *record;
  unsigned_record.crc = 0;
  return base::Crc32c(0, &unsigned_record, sizeof unsigned_record) == record->crc;
}

bool ReadAll(int descriptor, std::vector<uint8_t>* bytes) {
  constexpr size_t kStep = 64 * 1024;
  while (true) {
    const size_t before = bytes->size();
    bytes->resize(before + kStep);
    const ssize_t got = read(descriptor, bytes->data() + before, kStep);
    bytes->resize(before + (got > 0 ? static_cast<size_t>(got) : 0));
    if (got == 0) return true;
    if (got < 0 && errno != EINTR) return false;
  }
}

}  // namespace

std::vector<ProcessRecord> ParseProcessLog(const uint8_t* data, size_t size,
                                           const std::string& label,
                                           std::vector<Problem>* problems) {
  std::vector<ProcessRecord> records;
  uint64_t versions_left_out = 0;
  size_t at = 0, damaged_from = SIZE_MAX;
  const auto end_damage = [&](size_t end) {
    if (damaged_from != SIZE_MAX) {
      problems->push_back({label, damaged_from, end - damaged_from, "damaged"});
    }
    damaged_from = SIZE_MAX;
  };
  while (at + sizeof(ProcessRecord) <= size) {
    ProcessRecord record;
    if (!ReadRecord(data + at, &record)) {
      if (damaged_from == SIZE_MAX) damaged_from = at;
      ++at;
      continue;
    }
    end_damage(at);
    at += sizeof record;
    if (record.version == kAbiVersion) {
      records.push_back(record);
    } else {
      ++versions_left_out;
    }
  }
  if (at < size && damaged_from == SIZE_MAX) damaged_from = at;
  end_damage(size);
  if (versions_left_out > 0) {
    problems->push_back(
        {label, 0, versions_left_out * sizeof(ProcessRecord), "records of another version"});
  }
  return records;
}

Status ReadProcessLog(const std::string& path, std::vector<ProcessRecord>* records,
                      std::vector<Problem>* problems) {
  const int descriptor = open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  if (descriptor < 0) {
    if (errno == ENOENT) return Status();
    return Status::Error(errno, "cannot read %s: %s", path.c_str(), strerror(errno));
  }
  std::vector<uint8_t> bytes;
  const bool whole = ReadAll(descriptor, &bytes);
  const int error = errno;
  close(descriptor);
  if (!whole) return Status::Error(error, "cannot read %s: %s", path.c_str(), strerror(error));
  *records = ParseProcessLog(bytes.data(), bytes.size(), path, problems);
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
