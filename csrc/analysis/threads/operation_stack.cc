#include "analysis/threads/operation_stack.h"

#include "analysis/keys/key.h"
#include "trace/layout/record.h"

namespace rlscope::analysis {

void OperationStack::Enter(uint32_t name_id, int64_t now) {
  ChargeInnermost(now);
  if (__builtin_expect(automatic_is_open_, 0)) CloseAutomatic(now, Ended::kExit);
  const uint32_t name = paths_->NameIndex(name_id);
  uint32_t path;
  if (innermost_ != nullptr && innermost_->name == name) {
    path = paths_->Reenter(innermost_->path);
  } else {
    bool overflowed;
    path = paths_->Enter(this->path(), name, &overflowed);
    losses_->paths += overflowed;
  }
  running_->push_back({name, path, ++entries_, now, 0});
  innermost_ = &running_->back();
}

void OperationStack::Exit(uint32_t name_id, int64_t now) {
  ChargeInnermost(now);
  if (name_id == 0) {  // the innermost of the running task
    if (running_->empty()) {
      ++losses_->exit_without_enter;
      return;
    }
    Close(running_->back(), now, Ended::kExit);
    running_->pop_back();
    FindInnermost();
    return;
  }
  const uint32_t name = paths_->NameIndex(name_id);
  if (ExitFrom(running_, name, now)) return;
  if (running_ != &thread_stack_ && ExitFrom(&thread_stack_, name, now)) return;
  ++losses_->exit_without_enter;
}

bool OperationStack::ExitFrom(Stack* stack, uint32_t name, int64_t now) {
  for (size_t i = stack->size(); i-- > 0;) {
    Open* open = &(*stack)[i];
    if (open->name != name) continue;
    losses_->exit_out_of_order += open != innermost_;
    Close(*open, now, Ended::kExit);
    stack->erase(stack->begin() + i);
    FindInnermost();
    return true;
  }
  return false;
}

void OperationStack::SwitchTask(uint32_t task, int64_t now) {
  if (task == task_) return;
  ChargeInnermost(now);
  if (running_ != &thread_stack_ && running_->empty()) task_stacks_.erase(task_);
  task_ = task;
  running_ = task == 0 ? &thread_stack_ : &task_stacks_[task];
  FindInnermost();
}

void OperationStack::SetAutomatic(uint32_t operation, bool begins, int64_t now) {
  const bool goes_on = automatic_is_open_ && operation == automatic_.name && !begins;
  const bool is_free = thread_stack_.empty() && running_->empty();
  if (goes_on) return;
  ChargeInnermost(now);
  if (automatic_is_open_) CloseAutomatic(now, Ended::kExit);
  if (operation == trace::kAutoNothing || !is_free) return;
  bool overflowed;
  const uint32_t path = paths_->EnterAutomatic(operation, &overflowed);
  losses_->paths += overflowed;
  automatic_ = {operation, path, ++entries_, now, 0};
  automatic_is_open_ = true;
  innermost_ = &automatic_;
}

void OperationStack::CloseAutomatic(int64_t now, Ended ended) {
  Close(automatic_, now, ended);
  automatic_is_open_ = false;
  FindInnermost();
}

void OperationStack::CloseAll(int64_t now, Ended ended) {
  ChargeInnermost(now);
  if (automatic_is_open_) CloseAutomatic(now, ended);
  for (const auto& [task, stack] : task_stacks_) {
    for (size_t i = stack.size(); i-- > 0;) Close(stack[i], now, ended);
  }
  for (size_t i = thread_stack_.size(); i-- > 0;) Close(thread_stack_[i], now, ended);
  task_stacks_.clear();
  thread_stack_.clear();
  running_ = task_ == 0 ? &thread_stack_ : &task_stacks_[task_];
  innermost_ = nullptr;
}

void OperationStack::ChargeInnermost(int64_t now) {
  if (innermost_ != nullptr) innermost_->self_ns += now - charged_ns_;
  charged_ns_ = now;
}

void OperationStack::FindInnermost() {
  Stack* stack = running_->empty() ? &thread_stack_ : running_;
  innermost_ = stack->empty() ? nullptr : &stack->back();
  if (automatic_is_open_) innermost_ = &automatic_;
}

void OperationStack::Close(const Open& open, int64_t now, Ended ended) {
  if (sink_ == nullptr) return;
  sink_->Add({thread_, open.path, open.enter_ns, now, open.self_ns, ended});
}

const OperationStack::Open* OperationStack::outermost() const {
  if (automatic_is_open_) return &automatic_;
  if (!thread_stack_.empty()) return &thread_stack_.front();
  return running_->empty() ? nullptr : &running_->front();
}

int64_t OperationStack::outermost_begin_ns() const {
  const Open* open = outermost();
  return open == nullptr ? kNever : open->enter_ns;
}

uint32_t OperationStack::outermost_path() const {
  const Open* open = outermost();
  return open == nullptr ? kNoPath : open->path;
}

uint64_t OperationStack::outermost_entry() const {
  const Open* open = outermost();
  return open == nullptr ? 0 : open->entry;
}

// ---- archive ------------------------------------------------------------------------------------

void OperationStack::CarryOpen(trace::Archive* archive, Open* open) {
  archive->Below(&open->path, paths_->size());
  archive->Number(&open->entry);
  archive->Time(&open->enter_ns);
  archive->Sum(&open->self_ns);
}

void OperationStack::CarryStack(trace::Archive* archive, Stack* stack) {
  stack->resize(archive->Count(stack->size()));
  for (Open& open : *stack) {
    paths_->CarryName(archive, &open.name);
    CarryOpen(archive, &open);
  }
}

void OperationStack::Carry(trace::Archive* archive) {
  CarryStack(archive, &thread_stack_);
  archive->Number(&automatic_is_open_);
  archive->Number(&automatic_.name);  // a state, no name
  CarryOpen(archive, &automatic_);
  std::vector<uint32_t> tasks;
  for (const auto& [task, stack] : task_stacks_) tasks.push_back(task);
  tasks.resize(archive->Count(tasks.size()));
  for (uint32_t& task : tasks) {
    archive->Number(&task);
    CarryStack(archive, &task_stacks_[task]);
  }
  archive->Number(&task_);
  archive->Time(&charged_ns_);
  archive->Number(&entries_);
  running_ = task_ == 0 ? &thread_stack_ : &task_stacks_[task_];
  FindInnermost();
}

}  // namespace rlscope::analysis
