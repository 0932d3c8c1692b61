#include "analysis/threads/call_counts.h"

namespace rlscope::analysis {

void CallCounts::SettleRunning(IterationKind kind) {
  for (size_t path = 0; path < transitions_.size(); path += kOfPath) {
    uint64_t* const running =
        &transitions_[path + static_cast<size_t>(IterationKind::kRunning) * kOfKind];
    uint64_t* const settled = &transitions_[path + static_cast<size_t>(kind) * kOfKind];
    for (size_t i = 0; i < kOfKind; ++i) {
      settled[i] += running[i];
      running[i] = 0;
    }
  }
}

void CallCounts::Carry(trace::Archive* archive, uint32_t paths) {
  while (!transitions_.empty() && transitions_.back() == 0) transitions_.pop_back();
  const size_t counts = archive->Count(transitions_.size());
  if (counts > paths * kOfPath) return archive->Fail();
  transitions_.resize((counts + kOfPath - 1) / kOfPath * kOfPath);
  for (size_t i = 0; i < counts; ++i) archive->Number(&transitions_[i]);
  CarryTable(archive, &native_calls_, [&](NativeCallRow row) {
    uint32_t function = row.key == 0 ? 0 : row.function(), path = row.key == 0 ? 0 : row.path();
    archive->Number(&function);
    archive->Below(&path, paths);
    archive->Number(&row.calls);
    archive->Sum(&row.duration_ns);
    archive->Sum(&row.self_ns);
    row.key = (uint64_t{function} << 32 | path) + 1;
    return row;
  });
  waits_.Carry(archive, paths);
}

}  // namespace rlscope::analysis
