// What clients and CUPTI hand each other beside records. make test-cupti compares these with
// NVIDIA's headers.
#ifndef SIMCUDA_CUPTI_CALLBACK_DATA_H_
#define SIMCUDA_CUPTI_CALLBACK_DATA_H_

#include <cstddef>
#include <cstdint>

namespace simcuda {

// CUpti_CallbackData.
struct CallbackData {
  uint32_t site;  // 0 enter, 1 exit
  const char* function_name;
  const void* parameters;
  void* return_value;
  const char* symbol;
  void* context;
  uint32_t context_id;
  uint64_t* correlation_data;
  uint32_t correlation;
};

// CUpti_ResourceData.
struct ResourceData {
  void* context;
  void* resource;
  void* descriptor;
};

// CUpti_SubscriberParams.
struct SubscriberParameters {
  size_t bytes;
  const char* name;
  char* old_name;
  size_t old_name_bytes;
};

}  // namespace simcuda

#endif  // SIMCUDA_CUPTI_CALLBACK_DATA_H_
