#include "trace/directory/directory.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include <algorithm>
#include <map>
#include <tuple>

#include "base/proc.h"
#include "trace/directory/folder.h"
#include "trace/directory/ring_folder.h"
#include "trace/directory/salvage.h"
#include "trace/read/process_log_reader.h"

namespace rlscope::trace {

using base::Status;

// Reads a directory step by step.
class DirectoryOpener {
 public:
  DirectoryOpener(const std::string& path, const std::string& rings) : path_(path), rings_(rings) {}

  Status Open(std::unique_ptr<Directory>* directory);

 private:
  // pid, start_time, began_ns; began_ns 0 for a file whose process frame is damaged.
  using Key = std::tuple<uint32_t, uint64_t, int64_t>;

  Status CheckIsTrace() const;
  void OpenFiles();
  bool TryOpenFiles();
  void AddFailure(const std::string& path, const Status& status);
  bool AddFile(const std::string& name);
  void Add(std::unique_ptr<TraceFile> file);
  Status CheckReadable() const;
  std::vector<std::unique_ptr<ProcessTrace>> JoinFiles();

  const std::string path_;
  std::string rings_;
  std::vector<ProcessRecord> log_;
  std::map<Key, std::vector<std::unique_ptr<TraceFile>>> files_;
  std::vector<Problem> problems_;
  Status first_failure_;  // of the log or of DIR/trace
};

namespace {

bool Exists(const std::string& path) {
  struct stat status;
  return stat(path.c_str(), &status) == 0;
}

// pid and start time from "<host>.<pid>.<start_time>.<n>.rls"; the host may hold dots.
void ReadFileName(const std::string& name, uint32_t* pid, uint64_t* start_time) {
  uint64_t numbers[3] = {0, 0, 0};  // n, start_time, pid
  size_t end = name.rfind(".rls");
  for (uint64_t& number : numbers) {
    const size_t dot = end == std::string::npos || end == 0 ? end : name.rfind('.', end - 1);
    if (dot == std::string::npos || dot == 0) return;
    number = strtoull(name.c_str() + dot + 1, nullptr, 10);
    end = dot;
  }
  *pid = static_cast<uint32_t>(numbers[2]);
  *start_time = numbers[1];
}

// Only a process of this machine's present boot and our pid namespace can be looked up.
bool IsRunningHere(const ProcessImage& image) {
  if (image.pid_namespace != 0 && image.pid_namespace != base::PidNamespace()) return false;
  char boot_id[64];
  base::ReadBootId(boot_id, sizeof boot_id);
  if (image.trace != nullptr && !image.trace->info().boot_id.empty() &&
      image.trace->info().boot_id != boot_id) {
    return false;
  }
  return base::IsAlive(image.os_pid, image.start_time);
}

// A process that records reports its windows itself. One that never did knows nothing of the run's:
// its time counts from the first start to the last stop as that of all others does.
void CutToWindow(const RunNotes& notes, ProcessImage* image) {
  int64_t first_ns, last_ns;
  if (image->trace != nullptr && image->trace->RecordedSpan(&first_ns, &last_ns)) return;
  image->start_ns = std::clamp(notes.first_start_ns, image->start_ns, image->end_ns);
  image->end_ns = std::clamp(notes.last_stop_ns, image->start_ns, image->end_ns);
}

}  // namespace

Status DirectoryOpener::CheckIsTrace() const {
  struct stat status;
  if (stat(path_.c_str(), &status) != 0) {
    return Status::Error(errno, "cannot open %s: %s", path_.c_str(), strerror(errno));
  }
  if (!S_ISDIR(status.st_mode)) {
    return Status::Error(ENOTDIR, "%s is not a directory; give the directory of a trace",
                         path_.c_str());
  }
  std::vector<std::string> names;
  if (const int error = ListFolder(path_ + "/.", "", &names)) {
    return Status::Error(error, "cannot read %s: %s", path_.c_str(), strerror(error));
  }
  if (Exists(path_ + "/processes.log") || Exists(path_ + "/trace") || Exists(path_ + "/rings")) {
    return Status();
  }
  return Status::Error(0, "%s is not a trace: it has no processes.log", path_.c_str());
}

void DirectoryOpener::Add(std::unique_ptr<TraceFile> file) {
  const ProcessInfo& process = file->process();
  files_[{process.os_pid, process.start_time, process.began_ns}].push_back(std::move(file));
}

void DirectoryOpener::AddFailure(const std::string& path, const Status& status) {
  if (status.ok()) return;
  problems_.push_back({path, 0, 0, status.message()});
  if (first_failure_.ok()) first_failure_ = status;
}

// False: it is gone since it was listed.
bool DirectoryOpener::AddFile(const std::string& name) {
  const std::string path = path_ + "/trace/" + name;
  std::unique_ptr<TraceFile> file;
  const Status status = TraceFile::Open(path, &file);
  if (!status.ok()) {
    AddFailure(path, status);
    return Exists(path);
  }
  if (!file->has_process()) {
    uint32_t pid = 0;
    uint64_t start_time = 0;
    ReadFileName(name, &pid, &start_time);
    file->SetProcessIdentity(pid, start_time);
  }
  Add(std::move(file));
  return true;
}

// While files are read, rls-prof --rollup may replace some by one with their sums.
void DirectoryOpener::OpenFiles() {
  constexpr int kMostTries = 10;
  const size_t problems = problems_.size();
  const Status failure = first_failure_;
  for (int tries = 1; !TryOpenFiles() && tries < kMostTries; ++tries) {
    files_.clear();
    problems_.erase(problems_.begin() + static_cast<std::ptrdiff_t>(problems), problems_.end());
    first_failure_ = failure;
  }
}

// False: a file was removed meanwhile.
bool DirectoryOpener::TryOpenFiles() {
  std::vector<std::unique_ptr<TraceFile>> salvaged = SalvageRings(rings_, &problems_);
  std::vector<std::string> names;
  const std::string folder = path_ + "/trace";
  const int error = ListFolder(folder, ".rls", &names);
  if (error != 0 && error != ENOENT) {
    AddFailure(folder, Status::Error(error, "cannot read %s: %s", folder.c_str(), strerror(error)));
  }
  bool all_there = true;
  for (const std::string& name : names) all_there &= AddFile(name);
  for (auto& file : salvaged) Add(std::move(file));
  return all_there;
}

// A directory of which nothing at all can be read is an error; anything less is a problem listed.
Status DirectoryOpener::CheckReadable() const {
  if (!files_.empty()) return Status();
  if (!first_failure_.ok()) return first_failure_;
  if (log_.empty()) return Status::Error(0, "%s holds no process yet", path_.c_str());
  return Status();
}

std::vector<std::unique_ptr<ProcessTrace>> DirectoryOpener::JoinFiles() {
  std::vector<std::unique_ptr<ProcessTrace>> traces;
  for (auto& [key, files] : files_) {
    traces.push_back(std::make_unique<ProcessTrace>(std::move(files)));
    const std::vector<Problem>& problems = traces.back()->problems();
    problems_.insert(problems_.end(), problems.begin(), problems.end());
  }
  return traces;
}

Status DirectoryOpener::Open(std::unique_ptr<Directory>* directory) {
  Status status = CheckIsTrace();
  if (!status.ok()) return status;
  const std::string log = path_ + "/processes.log";
  AddFailure(log, ReadProcessLog(log, &log_, &problems_));
  const ControlPage control = ReadControl(path_);
  RunNotes notes = TakeRunNotes(&log_);
  if (control.cut != 0) notes.last_stop_ns = std::min(notes.last_stop_ns, control.cut_ns);
  if (rings_.empty()) rings_ = FindRings(path_, control, notes.rings, &problems_);
  OpenFiles();
  status = CheckReadable();
  if (!status.ok()) return status;
  std::unique_ptr<Directory> opened(new Directory());
  opened->path_ = path_;
  opened->processes_ = BuildProcessImages(log_, JoinFiles(), IsRunningHere);
  for (ProcessImage& image : opened->processes_) {
    image.gone_ns = image.end_ns;
    CutToWindow(notes, &image);
  }
  opened->nested_ = notes.nested;
  opened->cut_ = control.cut;
  opened->cut_ns_ = control.cut_ns;
  opened->problems_ = std::move(problems_);
  *directory = std::move(opened);
  return Status();
}

Status Directory::Open(const std::string& path, const std::string& rings,
                       std::unique_ptr<Directory>* directory) {
  return DirectoryOpener(path, rings).Open(directory);
}

}  // namespace rlscope::trace
