// CUPTI as the program's CUDA has it: found at run time, never linked and never brought along.
#ifndef RLSCOPE_CUPTI_LIBRARY_H_
#define RLSCOPE_CUPTI_LIBRARY_H_

#include <stdint.h>

#include "cupti/types.h"

namespace rlscope::cupti {

using CuptiCallback = void (*)(void* user, uint32_t domain, uint32_t id, const CallbackData* data);
using BufferRequested = void (*)(uint8_t** buffer, size_t* size, size_t* most_records);
using BufferCompleted = void (*)(void* context, uint32_t stream, uint8_t* buffer, size_t size,
                                 size_t valid);

// Entry points, null where the library has none.
struct Cupti {
  CuptiResult (*get_version)(uint32_t*);
  CuptiResult (*subscribe)(CuptiSubscriber*, CuptiCallback, void*);
  CuptiResult (*subscribe_by_name)(CuptiSubscriber*, CuptiCallback, void*,
                                   const SubscriberParameters*);
  CuptiResult (*unsubscribe)(CuptiSubscriber);
  CuptiResult (*enable_callback)(uint32_t, CuptiSubscriber, uint32_t, uint32_t);
  CuptiResult (*enable_domain)(uint32_t, CuptiSubscriber, uint32_t);
  CuptiResult (*register_buffers)(BufferRequested, BufferCompleted);
  CuptiResult (*register_timestamp)(uint64_t (*)(void));
  CuptiResult (*enable_activity)(uint32_t);
  CuptiResult (*disable_activity)(uint32_t);
  CuptiResult (*flush)(uint32_t);
  CuptiResult (*next_record)(uint8_t*, size_t, uint8_t**);
  CuptiResult (*count_dropped)(void*, uint32_t, size_t*);
  CuptiResult (*finalize)();
  uint32_t version;   // as cuptiGetVersion() says; 0: it does not, for want of a driver
  char path[512];     // or the name it was found under; empty: none was found
  char problem[128];  // why it cannot be used; empty: it can
};

// Loads the CUPTI that belongs to the CUDA of this process, in this order: one that is mapped
// already, one beside the mapped libcudart, the folders of RLSCOPE_CUPTI (the traced Python's own
// wheels), the loader's path, CUDA_HOME, /usr/local/cuda*. If there is a problem (no CUPTI, or one
// that is newer than the driver), no function of it has been called.
const Cupti& LoadCupti();

// Whether this process has loaded the driver's library.
bool IsCudaLoaded();

}  // namespace rlscope::cupti

#endif  // RLSCOPE_CUPTI_LIBRARY_H_
