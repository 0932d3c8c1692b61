// CUPTI's connection to the driver: none without a driver, in the child of a fork, and where
// SIMCUPTI_CONNECTION=refuse. What the releases answer then is what NVIDIA's libraries were seen to
// answer; make test-cupti compares the two.
#ifndef SIMCUDA_CUPTI_CONNECTION_H_
#define SIMCUDA_CUPTI_CONNECTION_H_

namespace simcuda {

// First in every function: from 13.2 on each connects before it does anything. 13.2 itself calls
// itself until its stack ends where that fails.
int Enter();

// First in what needs the driver: kCuptiSuccess, or what this release answers without.
int Connect();

// Whether a function that connects if it can, and works without, would find a driver's library.
bool IsDriverPresent();

// Releases 12.2 to 12.9 die in functions that expect that another one tried to connect before.
void ExpectTry();

}  // namespace simcuda

// Begins a function of the C interface.
#define SIM_ENTER()                                     \
  do {                                                  \
    if (int refused = simcuda::Enter()) return refused; \
  } while (false)

// Begins one that needs the driver.
#define SIM_CONNECT()                                     \
  do {                                                    \
    SIM_ENTER();                                          \
    if (int refused = simcuda::Connect()) return refused; \
  } while (false)

#endif  // SIMCUDA_CUPTI_CONNECTION_H_
