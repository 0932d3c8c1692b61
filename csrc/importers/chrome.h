// Reads a trace in Chrome's format that an unknown tool wrote: its slices become operations.
//
//   [{"ph": "B", "name": "step", "pid": 1, "tid": 1, "ts": 10},
//    {"ph": "X", "name": "act", "pid": 1, "tid": 1, "ts": 11, "dur": 2},
//    {"ph": "E", "pid": 1, "tid": 1, "ts": 15}]               or {"traceEvents": [...]}
//
// Slices of threads are X, or B to the E that follows on the thread. Slices of ids are b to the e
// of the same name and id (S to F in old files): they overlap, so each id that runs has a track.
#ifndef RLSCOPE_IMPORTERS_CHROME_H_
#define RLSCOPE_IMPORTERS_CHROME_H_

#include <stdint.h>

#include <memory>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "importers/byte_source.h"
#include "importers/imported_rows.h"
#include "importers/json_reader.h"
#include "importers/spill_file.h"
#include "importers/trace_event.h"

namespace rlscope::importers {

class ChromeScan {
 public:
  static constexpr size_t kMostProcesses = 64;

  // Does not own the file.
  explicit ChromeScan(SpillFile* spill) : spill_(spill) {}
  ChromeScan(const ChromeScan&) = delete;
  ChromeScan& operator=(const ChromeScan&) = delete;

  // Throws FormatError, std::system_error, and what the source throws.
  void Read(ByteSource* source);

  // In order of their first rows. Rows that belong to no process are counted with the first one.
  size_t processes() const { return processes_.size(); }
  const ImportedRows& rows(size_t process) const { return processes_[process]->rows; }

 private:
  struct OpenSlice {
    int64_t start_ns;
    uint64_t number;
    uint32_t name;
  };
  // A track of slices: a thread's, or that of one id after the other.
  struct Track {
    uint32_t process;
    uint32_t thread;
    std::vector<OpenSlice> open;
  };
  struct Process {
    Process(SpillFile* spill, const ImportedRows::Memory& memory)
        : rows(spill, RowOrder::kLongestFirst, memory) {}
    ImportedRows rows;
    // Tracks for slices with ids, by category: those that no id uses now, and how many there are.
    struct Tracks {
      std::vector<uint32_t> free;
      uint32_t count = 0;
    };
    std::unordered_map<std::string, Tracks> tracks;
  };

  void ReadEvents(JsonReader* reader, bool may_be_cut);
  void TakeEvent();
  void TakeMetadata();
  const char* TakeSlice();
  const char* Begin();
  const char* End();
  const char* BeginOfId();
  const char* EndOfId();
  const char* Open(Track* track);
  void Finish();
  std::optional<uint32_t> FindProcess();
  Track* FindTrack();
  std::optional<uint32_t> AddThread(uint32_t process, const std::string& key);

  SpillFile* const spill_;
  std::vector<std::unique_ptr<Process>> processes_;
  std::unordered_map<std::string, Place> process_numbers_;  // by pid
  std::unordered_map<std::string, Track> tracks_;           // by pid and tid
  // Slices of ids that are open: by pid, category and id, each with its track's place.
  struct RunningId {
    Track track;
    std::string category;
    uint32_t place;
  };
  std::unordered_map<std::string, RunningId> ids_;
  size_t threads_ = 0;  // of all processes
  size_t open_ = 0;     // slices, of all tracks
  bool has_events_ = false;
  TraceEvent event_;
};

}  // namespace rlscope::importers

#endif  // RLSCOPE_IMPORTERS_CHROME_H_
