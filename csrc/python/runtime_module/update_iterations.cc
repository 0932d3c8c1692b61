#include "python/runtime_module/update_iterations.h"

#include <algorithm>

#include "runtime/hot.h"

namespace rlscope::python {

UpdateIterations update_iterations;

bool UpdateIterations::Begins(const void* optimizer) {
  Renew();
  if (has_stepped_ && steps_ < kEnough) return false;
  if (steps_ != 0 && optimizer != optimizer_ && ++others_ < kMostOthers) return false;
  optimizer_ = optimizer;
  others_ = 0;
  steps_ = std::min(steps_ + 1, kEnough);
  return steps_ > kTried;
}

bool UpdateIterations::GoOn() {
  Renew();
  has_stepped_ = true;
  return steps_ == kEnough;
}

// The child of a fork begins anew.
void UpdateIterations::Renew() {
  const uint32_t generation = runtime::Load(rlscope_process.generation);
  if (generation_ == generation) return;
  *this = UpdateIterations();
  generation_ = generation;
}

}  // namespace rlscope::python
