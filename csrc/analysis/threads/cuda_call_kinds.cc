#include "analysis/threads/cuda_call_kinds.h"

#include "trace/format/name_kind.h"
#include "trace/layout/record.h"

namespace rlscope::analysis {
namespace {

// What names begin with after `cuda` or `cu`. A call of the runtime and that of the driver inside
// of it are one record.
constexpr std::string_view kSubmissions[] = {
    "LaunchKernel",
    "LaunchCooperativeKernel",
    "GraphLaunch",
    "Memcpy",
    "Memset",
    "StreamSynchronize",
    "EventSynchronize",
    "CtxSynchronize",
    "DeviceSynchronize",
    "ThreadSynchronize",
    "StreamWaitEvent",
    "ExecutionCtxSynchronize",
};

bool RemovePrefix(std::string_view* text, std::string_view prefix) {
  if (text->substr(0, prefix.size()) != prefix) return false;
  text->remove_prefix(prefix.size());
  return true;
}

}  // namespace

bool IsCudaSubmission(std::string_view name) {
  RemovePrefix(&name, "__");
  if (!RemovePrefix(&name, "cuda") && !RemovePrefix(&name, "cu")) return false;
  for (const std::string_view submission : kSubmissions) {
    if (name.substr(0, submission.size()) == submission) return true;
  }
  return false;
}

CudaCallKinds::CudaCallKinds(const std::vector<trace::Name>& names) {
  for (const trace::Name& name : names) {
    if (name.kind != static_cast<uint32_t>(trace::NameKind::kCudaCall)) continue;
    if (name.id > trace::kMaxId || !IsCudaSubmission(name.text)) continue;
    if (name.id >= submits_.size()) submits_.resize(name.id + 1, 0);
    submits_[name.id] = 1;
  }
}

}  // namespace rlscope::analysis
