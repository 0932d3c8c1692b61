#include "driver/call.h"

namespace simcuda {

int Unsupported(const char* name) {
  return Traced(FindFunction(name), nullptr, [] { return kNotSupported; });
}

}  // namespace simcuda
