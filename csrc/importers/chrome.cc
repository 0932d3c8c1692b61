#include "importers/chrome.h"

#include <algorithm>

namespace rlscope::importers {
namespace {

// Memory of all processes together stays what one process of one file takes: the n-th has an n-th.
constexpr size_t kSortBytes = 8 << 20;
constexpr size_t kNameBytes = 16 << 20;
constexpr size_t kMostOpen = 1 << 20;

constexpr char kTooManyThreads[] = "beyond the limit of threads";

std::string Joined(std::initializer_list<std::string_view> parts) {
  std::string key;
  for (const std::string_view part : parts) key.append(part).push_back('\0');
  return key;
}

}  // namespace

// ---- the file -----------------------------------------------------------------------------------

void ChromeScan::Read(ByteSource* source) {
  JsonReader reader(source);
  if (reader.Peek() == '[') {
    ReadEvents(&reader, /*may_be_cut=*/true);
  } else {
    reader.BeginObject();
    while (reader.NextKey()) {
      if (reader.text() == "traceEvents") {
        ReadEvents(&reader, /*may_be_cut=*/false);
      } else {
        reader.SkipValue();
      }
    }
  }
  reader.ExpectEnd();
  if (!has_events_) throw FormatError("it has no traceEvents");
  Finish();
}

// The closing bracket of an array that is the whole file may be missing, and so may what would
// follow a comma: a program that was killed writes such a file.
void ChromeScan::ReadEvents(JsonReader* reader, bool may_be_cut) {
  if (reader->Peek() != '[') reader->Fail("traceEvents is not an array");
  has_events_ = true;
  reader->BeginArray();
  const auto is_cut = [&] { return may_be_cut && reader->AtEnd(); };
  while (!is_cut() && reader->NextElement() && !is_cut()) {
    if (reader->Peek() == '{') {
      event_.Read(reader);
      TakeEvent();
    } else {
      reader->SkipValue();
      event_.pid.clear();
      const std::optional<uint32_t> process = FindProcess();
      if (process) processes_[*process]->rows.not_taken.Add("elements that are not rows");
    }
  }
}

// What is open runs to the end of what is known of its process.
void ChromeScan::Finish() {
  const auto end = [&](const Track& track) {
    ImportedRows& rows = processes_[track.process]->rows;
    for (const OpenSlice& slice : track.open) {
      const int64_t last_ns = rows.empty() ? slice.start_ns : rows.last_ns();
      const Interval interval = {slice.start_ns, std::max(slice.start_ns, last_ns)};
      rows.AddOperation(track.thread, slice.name, interval, slice.number);
      rows.taken.Add("slices without an end");
    }
  };
  for (const auto& [key, track] : tracks_) end(track);
  for (const auto& [key, running] : ids_) end(running.track);
  for (const auto& process : processes_) process->rows.Finish();
}

// ---- rows ---------------------------------------------------------------------------------------

void ChromeScan::TakeEvent() {
  const std::optional<uint32_t> process = FindProcess();
  if (!process) return;
  if (event_.phase == "M") return TakeMetadata();
  const std::string& category = event_.category.empty() ? event_.name : event_.category;
  ImportedRows& rows = processes_[*process]->rows;
  const char* problem = "";
  if (event_.phase == "X") problem = TakeSlice();
  if (event_.phase == "B") problem = Begin();
  if (event_.phase == "E") problem = End();
  if (event_.phase == "b" || event_.phase == "S") problem = BeginOfId();
  if (event_.phase == "e" || event_.phase == "F") problem = EndOfId();
  if (problem == nullptr) return;
  const std::string why = *problem == '\0' ? "" : std::string(" ") + problem;
  rows.not_taken.Add(category + " (phase " + event_.phase + ")" + why);
}

void ChromeScan::TakeMetadata() {
  Track* const track = FindTrack();
  ImportedRows& rows = processes_[*FindProcess()]->rows;
  if (event_.name == "process_name") rows.name = event_.argument_name;
  if (event_.name == "thread_name" && track != nullptr) {
    rows.thread(track->thread)->name = event_.argument_name;
  }
}

const char* ChromeScan::TakeSlice() {
  Interval interval;
  if (const char* const problem = event_.ReadInterval(&interval)) return problem;
  Track* const track = FindTrack();
  if (track == nullptr) return kTooManyThreads;
  ImportedRows& rows = processes_[track->process]->rows;
  const uint32_t name =
      rows.FindName(trace::NameKind::kOperation, trace::Layer::kNone, event_.name);
  rows.AddOperation(track->thread, name, interval);
  rows.taken.Add("slices");
  return nullptr;
}

const char* ChromeScan::Begin() {
  Track* const track = FindTrack();
  return track == nullptr ? kTooManyThreads : Open(track);
}

const char* ChromeScan::Open(Track* track) {
  OpenSlice slice;
  if (const char* const problem = event_.ReadTime(&slice.start_ns)) return problem;
  if (open_ == kMostOpen) return "beyond the limit of open slices";
  ImportedRows& rows = processes_[track->process]->rows;
  slice.name = rows.FindName(trace::NameKind::kOperation, trace::Layer::kNone, event_.name);
  slice.number = rows.TakeNumber();
  track->open.push_back(slice);
  ++open_;
  return nullptr;
}

// The innermost one ends, whatever the row's name is.
const char* ChromeScan::End() {
  int64_t end_ns;
  if (const char* const problem = event_.ReadTime(&end_ns)) return problem;
  Track* const track = FindTrack();
  if (track == nullptr || track->open.empty()) return "without a beginning";
  const OpenSlice slice = track->open.back();
  track->open.pop_back();
  --open_;
  const Interval interval = {slice.start_ns, end_ns};
  if (const char* const problem = ProblemOf(interval)) return problem;
  ImportedRows& rows = processes_[track->process]->rows;
  rows.AddOperation(track->thread, slice.name, interval, slice.number);
  rows.taken.Add("slices");
  return nullptr;
}

// ---- slices of ids ------------------------------------------------------------------------------

const char* ChromeScan::BeginOfId() {
  const std::string key = Joined({event_.pid, event_.category, event_.id});
  auto running = ids_.find(key);
  if (running != ids_.end()) return Open(&running->second.track);
  if (open_ == kMostOpen) return "beyond the limit of open slices";
  const uint32_t process = *FindProcess();
  // A category that has no thread yet is kept only once it has one: threads are bounded.
  auto& by_category = processes_[process]->tracks;
  const auto known = by_category.find(event_.category);
  uint32_t place = 0;
  if (known != by_category.end()) {
    const Process::Tracks& tracks = known->second;
    place = tracks.free.empty() ? tracks.count : tracks.free.back();
  }
  const std::string track_key = Joined({"id", event_.category, std::to_string(place)});
  const std::optional<uint32_t> thread = AddThread(process, track_key);
  if (!thread) return kTooManyThreads;
  ImportedThread* const named = processes_[process]->rows.thread(*thread);
  named->name = event_.category + " (track " + std::to_string(place) + ")";
  Track track = {process, *thread, {}};
  if (const char* const problem = Open(&track)) return problem;
  Process::Tracks& tracks = by_category[event_.category];
  if (!tracks.free.empty()) tracks.free.pop_back();
  tracks.count = std::max(tracks.count, place + 1);
  ids_.emplace(key, RunningId{std::move(track), event_.category, place});
  return nullptr;
}

const char* ChromeScan::EndOfId() {
  int64_t end_ns;
  if (const char* const problem = event_.ReadTime(&end_ns)) return problem;
  const auto running = ids_.find(Joined({event_.pid, event_.category, event_.id}));
  if (running == ids_.end()) return "without a beginning";
  Track& track = running->second.track;
  ImportedRows& rows = processes_[track.process]->rows;
  const uint32_t name =
      rows.FindName(trace::NameKind::kOperation, trace::Layer::kNone, event_.name);
  const auto slice = std::find_if(track.open.rbegin(), track.open.rend(),
                                  [&](const OpenSlice& each) { return each.name == name; });
  if (slice == track.open.rend()) return "without a beginning";
  const Interval interval = {slice->start_ns, end_ns};
  const uint64_t number = slice->number;
  track.open.erase(std::next(slice).base());
  --open_;
  const char* const problem = ProblemOf(interval);
  if (problem == nullptr) {
    rows.AddOperation(track.thread, name, interval, number);
    rows.taken.Add("slices with ids");
  }
  if (track.open.empty()) {
    processes_[track.process]->tracks[running->second.category].free.push_back(
        running->second.place);
    ids_.erase(running);
  }
  return problem;
}

// ---- processes and threads ----------------------------------------------------------------------

// None: there are too many; the row is counted with the first one.
std::optional<uint32_t> ChromeScan::FindProcess() {
  const auto found = process_numbers_.find(event_.pid);
  if (found != process_numbers_.end()) return found->second.number;
  if (processes_.size() == kMostProcesses) {
    processes_.front()->rows.not_taken.Add("rows beyond the limit of processes");
    return std::nullopt;
  }
  const size_t part = processes_.size() + 1;
  const ImportedRows::Memory memory = {kSortBytes / part, kNameBytes / part};
  processes_.push_back(std::make_unique<Process>(spill_, memory));
  processes_.back()->rows.os_pid = ToUint32(event_.pid).value_or(0);
  return (process_numbers_[event_.pid] = {static_cast<uint32_t>(processes_.size() - 1)}).number;
}

std::optional<uint32_t> ChromeScan::AddThread(uint32_t process, const std::string& key) {
  ImportedRows& rows = processes_[process]->rows;
  const size_t known = rows.threads();
  if (threads_ == ImportedRows::kMostThreads) return std::nullopt;
  const std::optional<uint32_t> thread = rows.FindThread(key);
  threads_ += rows.threads() - known;
  return thread;
}

ChromeScan::Track* ChromeScan::FindTrack() {
  const std::string key = event_.ThreadKey();
  const auto found = tracks_.find(key);
  if (found != tracks_.end()) return &found->second;
  const uint32_t process = *FindProcess();
  const std::optional<uint32_t> thread = AddThread(process, Joined({event_.tid}));
  if (!thread) return nullptr;
  processes_[process]->rows.thread(*thread)->os_tid = ToUint32(event_.tid).value_or(0);
  return &tracks_.emplace(key, Track{process, *thread, {}}).first->second;
}

}  // namespace rlscope::importers
