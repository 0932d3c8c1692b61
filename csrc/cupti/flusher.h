// The thread that asks CUPTI for its records, five times a second, and reads them. So a killed
// process loses little, and no thread of the program does our work.
#ifndef RLSCOPE_CUPTI_FLUSHER_H_
#define RLSCOPE_CUPTI_FLUSHER_H_

#include "cupti/library.h"
#include "runtime/rlscope.h"

namespace rlscope::cupti {

// False: no thread can be made, and no GPU work is read. `begins_with_window`: it is open.
bool StartFlusher(const Cupti* cupti, bool begins_with_window);

// Looks each second whether CUDA has been loaded, and flushes what `attach` then finds; null ends
// it. Does nothing where it looks or flushes already. Any thread, with process_lock.
void WatchForCuda(const Cupti* (*attach)());

// Another profiler of the process has CUPTI until ResumeFlusher(). What was recorded before is read
// first. Any thread; nested pauses are one.
void PauseFlusher();
void ResumeFlusher();

// CUPTI is ours in this process. Any thread; a pause changes nothing.
bool HasCupti();

// Leaves out the parts of CUPTI (rlscope_cuda_part) that are not `on`, from now on or from the end
// of a pause on. What was recorded before is read first. False: HasCupti() is. Any thread.
bool SwitchCupti(uint32_t on);

// GPU work in windows (--gpu-share), if they are used. A window that is wanted begins with the
// call. One that is not wanted any more ends: launches from now on are left out. Calls of this at
// further boundaries, and synchronisations of the program, then flush and end CUPTI, because what
// CUPTI leaves behind costs a launch up to 40 %. The next call takes callbacks again, unless
// --gpu-calls=windows. The thread that begins iterations, at a boundary.
rlscope_gpu_state TurnCupti(bool recorded);

// Another profiler of the process is at work, to which CUPTI is not left: from now on, TurnCupti()
// and synchronisations neither attach CUPTI nor end it. Any thread.
void KeepCupti(bool kept);

// A synchronisation of the program returns, outside of other calls. Called in CUPTI's callback at
// its end.
void NoticeWait();
extern uint32_t awaits_wait;  // read in each CUDA call
inline bool AwaitsWait() { return __atomic_load_n(&awaits_wait, __ATOMIC_RELAXED) != 0; }

// True in a pause, after which `attach` is called: null, there is nothing to flush.
bool DeferWhilePaused(const Cupti* (*attach)());

// A thread of the program has waited for the GPU. If CUPTI may be flushed only then, this flushes
// it.
void FlushAtSynchronization();

// Lets the flusher read all there is and waits until it has, two seconds at most. At the end of the
// process, while CUDA still lives. CUPTI is not called here: _exit() may come from a signal handler
// that interrupted it.
void EndFlusher();

}  // namespace rlscope::cupti

#endif  // RLSCOPE_CUPTI_FLUSHER_H_
