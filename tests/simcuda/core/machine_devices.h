// The machine's GPUs, which SIMCUDA_DEVICES counts, and which of them CUDA_VISIBLE_DEVICES leaves
// to a process.
#ifndef SIMCUDA_CORE_MACHINE_DEVICES_H_
#define SIMCUDA_CORE_MACHINE_DEVICES_H_

#include <string>
#include <vector>

namespace simcuda {

// As nvidia-smi writes it: "GPU-51515151-5151-5151-5151-515151515100" is GPU 0.
std::string UuidText(int gpu);

// The machine's number of each device that `visible` names, up to its first entry that names none;
// nullptr: all. An entry is a number or the beginning of a UUID.
std::vector<int> FindVisible(const char* visible, int gpus);

// Those of this process, as its environment is when CUDA first asks; never changes after.
const std::vector<int>& VisibleDevices();

}  // namespace simcuda

#endif  // SIMCUDA_CORE_MACHINE_DEVICES_H_
