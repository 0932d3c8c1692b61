// The CUDA runtime library behind librlscope_cudart.so.
#ifndef RLSCOPE_PRELOAD_CUDART_LIBRARY_H_
#define RLSCOPE_PRELOAD_CUDART_LIBRARY_H_

#include <stdint.h>

namespace rlscope::cudart {

constexpr int kNoLibrary = 35;  // cudaErrorInsufficientDriver: CUDA's answer where it is missing

// One function: the library's own, and the id of its name in the trace. Zero-initialised.
struct Function {
  void* entry;
  uint32_t name;
};

// Finds it in the libraries that come after this one, else in the libcudart that the process has
// loaded for itself. Null: there is none. The first one found is noted in the trace.
void* Find(Function* function, const char* name);

// Id of its name, the same in every call.
uint32_t NameOf(Function* function, const char* name);

}  // namespace rlscope::cudart

#endif  // RLSCOPE_PRELOAD_CUDART_LIBRARY_H_
