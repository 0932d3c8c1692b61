// What a drainer may change, and how much it takes in one pass.
#ifndef RLSCOPE_TRACE_DRAIN_DRAIN_PASS_H_
#define RLSCOPE_TRACE_DRAIN_DRAIN_PASS_H_

namespace rlscope::trace {

enum class DrainMode {
  kConsume,  // move tails: the one drainer of the image
  kSalvage,  // read only, move nothing, change nothing: the reader, beside a live drainer or not
};

enum class DrainPass {
  kDue,    // what makes a chunk worth its while
  kAll,    // all that is there; the process goes on
  kFinal,  // all, and what is damaged is passed over: the process is gone
};

}  // namespace rlscope::trace

#endif  // RLSCOPE_TRACE_DRAIN_DRAIN_PASS_H_
