#include "trace/drain/image_stacks.h"

#include <stdlib.h>

#include <new>

namespace rlscope::trace {

ImageStacks::~ImageStacks() {
  if (reader_ == nullptr) return;
  reader_->~StackReader();
  free(reader_);
}

bool ImageStacks::Open(uint32_t pid, const ProcessPage& page) {
  if (reader_ != nullptr) return true;
  if (is_unreadable_ || __atomic_load_n(&page.has_interpreter, __ATOMIC_ACQUIRE) == 0) return false;
  const StackReader::Layout layout = page.interpreter;
  void* const memory = StackReader::IsPlausible(layout) ? malloc(sizeof(StackReader)) : nullptr;
  is_unreadable_ = memory == nullptr;
  if (is_unreadable_) return false;
  reader_ = new (memory) StackReader(pid, layout, &numbers_);
  return true;
}

void ImageStacks::Read(uint32_t pid, const ProcessPage& page, const LivingThreads& living) {
  found_.Clear();
  copied_ns_ = 0;
  const bool ended = __atomic_load_n(&page.python_end_ns, __ATOMIC_RELAXED) != 0;
  if (ended || !Open(pid, page) || !reader_->Begin()) return;
  uint32_t os_tid, thread;
  while (reader_->Next(&os_tid)) {
    if (!living.Find(os_tid, &thread)) continue;
    const uint32_t node = reader_->Read();
    if (node == 0) continue;
    found_.Add({thread, node});
    if (copied_ns_ == 0 || os_tid == pid) copied_ns_ = reader_->copied_ns();
  }
}

void ImageStacks::AddTo(StateSamples* samples) const {
  for (uint32_t i = 0; i < found_.count(); i++) samples->AddStack(found_[i]);
}

}  // namespace rlscope::trace
