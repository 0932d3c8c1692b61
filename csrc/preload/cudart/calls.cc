// librlscope_cudart.so: where CUPTI cannot be had, calls of the CUDA runtime library are timed by
// standing in front of it (rls-prof --cuda=interpose). A library of its own, because a process that
// has these names looks as if it had CUDA.
#include "preload/cudart/calls.h"

#include "preload/cudart/library.h"
#include "runtime/rlscope.h"

using rlscope::cudart::Find;
using rlscope::cudart::Function;
using rlscope::cudart::kNoLibrary;
using rlscope::cudart::NameOf;

#define RLSCOPE_CALL(name, parameters, arguments)                                          \
  extern "C" RLSCOPE_EXPORT int name parameters {                                          \
    static Function self;                                                                  \
    auto* entry = reinterpret_cast<int(*) parameters>(Find(&self, #name));                 \
    if (entry == nullptr) return kNoLibrary;                                               \
    const bool began = rlscope_begin_cuda_call() != 0;                                     \
    const int status = entry arguments;                                                    \
    if (began) rlscope_end_cuda_call(NameOf(&self, #name), static_cast<uint32_t>(status)); \
    return status;                                                                         \
  }
#define RLSCOPE_BOTH_CALLS(name, variant, parameters, arguments) \
  RLSCOPE_CALL(name, parameters, arguments)                      \
  RLSCOPE_CALL(name##variant, parameters, arguments)

RLSCOPE_CUDART_CALLS(RLSCOPE_CALL, RLSCOPE_BOTH_CALLS)
