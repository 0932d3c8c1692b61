// One row of Chrome's trace format (JSON), which torch.profiler, XProf and others write: what some
// importer reads of it, as text where it is not looked at by every kind of row.
#ifndef RLSCOPE_IMPORTERS_TRACE_EVENT_H_
#define RLSCOPE_IMPORTERS_TRACE_EVENT_H_

#include <stddef.h>
#include <stdint.h>

#include <optional>
#include <string>
#include <string_view>

#include "importers/imported_rows.h"
#include "importers/json_reader.h"

namespace rlscope::importers {

struct TraceEvent {
  // Longer ones are cut; a name is kept as far as the reader keeps it.
  static constexpr size_t kMostText = 256;

  // Reads an object. If a key is there twice, the last one counts.
  void Read(JsonReader* reader);

  // Read the times of a row with a duration, and of one without, from microseconds. They return
  // what is wrong with it, or null.
  const char* ReadInterval(Interval* interval) const;
  const char* ReadTime(int64_t* time_ns) const;
  // The pid and the tid as one.
  std::string ThreadKey() const;

  std::string phase, category, name, pid, tid, ts, dur;
  std::string id;  // of a row of several
  // Arguments:
  std::string argument_name;  // args.name of a metadata row
  std::string sync_kind;
  std::string copy_details;  // of XProf
  std::optional<int64_t> correlation, device, context, stream, bytes, step;

 private:
  void Clear();
  void ClearArguments();
  void ReadScopedId(JsonReader* reader);
  void ReadArguments(JsonReader* reader);
  bool ReadArgument(JsonReader* reader);
};

// The number of a thread, a process or a device; nothing: the text is no such number.
std::optional<uint32_t> ToUint32(std::string_view text);

}  // namespace rlscope::importers

#endif  // RLSCOPE_IMPORTERS_TRACE_EVENT_H_
