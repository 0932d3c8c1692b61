// How many bytes more may be written to the files of a run. One thread at a time.
#ifndef RLSCOPE_TRACE_WRITE_BYTE_BUDGET_H_
#define RLSCOPE_TRACE_WRITE_BYTE_BUDGET_H_

#include <stdint.h>

namespace rlscope::trace {

// What a sink answers, in place of an errno, where the budget is spent.
constexpr int kBudgetSpent = 1 << 17;

class ByteBudget {
 public:
  void Set(uint64_t left) { left_ = left; }
  bool IsSpent() const { return left_ == 0; }
  // If too few seem to be left, the number is asked again: files may have been removed.
  void Ask(uint64_t (*count_left)(void* context), void* context) {
    count_left_ = count_left;
    context_ = context;
  }

  // False: there are not so many. Then none are left at all, so that no smaller frame follows a
  // missing one.
  bool Take(uint64_t bytes) {
    if (bytes > left_ && left_ != 0 && count_left_ != nullptr) left_ = count_left_(context_);
    const bool fits = bytes <= left_;
    left_ = fits ? left_ - bytes : 0;
    return fits;
  }

 private:
  uint64_t left_ = UINT64_MAX;
  uint64_t (*count_left_)(void* context) = nullptr;
  void* context_ = nullptr;
};

}  // namespace rlscope::trace

#endif  // RLSCOPE_TRACE_WRITE_BYTE_BUDGET_H_
