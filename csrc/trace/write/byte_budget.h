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

  // False: so many are not left. Then nothing is, so that no smaller frame follows one that is
  // missing.
  bool Take(uint64_t bytes) {
    const bool fits = bytes <= left_;
    left_ = fits ? left_ - bytes : 0;
    return fits;
  }

 private:
  uint64_t left_ = UINT64_MAX;
};

}  // namespace rlscope::trace

#endif  // RLSCOPE_TRACE_WRITE_BYTE_BUDGET_H_
