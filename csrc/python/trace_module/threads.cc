#include "python/trace_module/threads.h"

#include <stdint.h>

#include <string>
#include <utility>
#include <vector>

#include "analysis/sweep/trace_source.h"

namespace rlscope::python {
namespace {

// What the kernel counted between two readings; -1: it is not known.
struct CountedTime {
  int64_t running_ns = -1, runnable_ns = -1, measured_ns = -1;
};

CountedTime CountedBetween(const trace::ThreadTimes& first, const trace::ThreadTimes& last) {
  const auto difference = [](uint64_t from, uint64_t to) {
    return static_cast<int64_t>(to - from);
  };
  const CountedTime time = {difference(first.running_ns, last.running_ns),
                            difference(first.runnable_ns, last.runnable_ns),
                            last.read_ns - first.read_ns};
  const bool is_sane = time.running_ns >= 0 && time.runnable_ns >= 0 && time.measured_ns > 0;
  return is_sane ? time : CountedTime();
}

}  // namespace

Columns MakeThreads(const trace::ProcessImage& image) {
  std::vector<int32_t> thread;
  std::vector<int64_t> os_tid, start_ns, end_ns, running_ns, runnable_ns, measured_ns;
  std::vector<std::string> name;
  std::vector<Bool> is_python;
  for (const analysis::ThreadLife& life : analysis::FindLives(image)) {
    thread.push_back(static_cast<int32_t>(life.thread.thread));
    os_tid.push_back(life.thread.os_tid);
    name.push_back(life.thread.name);
    is_python.push_back(life.thread.is_python ? kTrue : kFalse);
    start_ns.push_back(life.start_ns);
    end_ns.push_back(life.end_ns);
    const CountedTime time = CountedBetween(life.thread.first_times, life.thread.last_times);
    running_ns.push_back(time.running_ns);
    runnable_ns.push_back(time.runnable_ns);
    measured_ns.push_back(time.measured_ns);
  }
  Columns columns;
  columns.Add("thread", std::move(thread));
  columns.Add("os_tid", std::move(os_tid));
  columns.Add("name", std::move(name));
  columns.Add("is_python", std::move(is_python));
  columns.Add("start_ns", std::move(start_ns));
  columns.Add("end_ns", std::move(end_ns));
  columns.Add("running_ns", std::move(running_ns));
  columns.Add("runnable_ns", std::move(runnable_ns));
  columns.Add("measured_ns", std::move(measured_ns));
  return columns;
}

}  // namespace rlscope::python
