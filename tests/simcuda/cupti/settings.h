// Which CUPTI this is, and how it misbehaves: the SIMCUPTI_* environment variables, read once.
#ifndef SIMCUDA_CUPTI_SETTINGS_H_
#define SIMCUDA_CUPTI_SETTINGS_H_

#include <cstdint>

#include "core/cupti_versions.h"
#include "core/interface.h"

namespace simcuda {

enum class TimestampCallback { kAccept, kRefuse, kIgnore };

struct Settings {
  const CuptiVersion* version;
  int subscribe_status;  // what cuptiSubscribe answers instead of subscribing; 0: subscribes
  int enable_status;     // the same for cuptiActivityEnable
  TimestampCallback timestamp_callback;
  bool raw_timestamps;      // device records carry the GPU's own clock
  uint32_t drop_every;      // every n-th record is lost; 0: none
  bool refuses_connection;  // the driver is there, and CUPTI cannot connect to it
  int callback_ns;          // CPU time that each callback takes
  int activity_ns;          // and each call of which an activity record is kept
  int attached_ns;          // and each call from the first use of CUPTI until it is finalized
  int recorded_ns;          // the same, from the first kind that is enabled on
  int attach_ns;            // and the first kind that is enabled
  int finalize_ns;          // and cuptiFinalize
  bool restarts;            // correlation ids begin anew after cuptiFinalize
};

const Settings& GetSettings();

// Takes so much CPU time of the calling thread.
void Spin(int ns);

// The driver's core; null without a driver. Loads libcuda.so.1, as CUPTI does.
Core* FindCore();

}  // namespace simcuda

#endif  // SIMCUDA_CUPTI_SETTINGS_H_
