// Which activity kinds are on, and what happens to their records until the client has them.
#ifndef SIMCUDA_CUPTI_ACTIVITIES_H_
#define SIMCUDA_CUPTI_ACTIVITIES_H_

#include "core/interface.h"

namespace simcuda {

// Kinds that exist and that no release lets a client enable: events, metrics and such.
bool IsNeverEnabled(uint32_t kind);

// A CUPTI status. [MT]
int EnableKind(uint32_t kind, bool enable);

// One API function's records, apart from its kind.
int EnableApiRecord(Domain domain, uint32_t cbid, bool enable);

// Called by the core: work was submitted, or a call has ended. [MT]
void KeepOperation(const DeviceOperation& operation);
void KeepCall(const ApiCall& call, uint64_t start, uint64_t end);

// Writes records of what has ended (`forced`: of everything) and hands the buffers back. [MT]
void Flush(bool forced);

// The thread that hands back full buffers looks this often; 0: its own choice.
void SetFlushPeriod(uint32_t milliseconds);

// Turns every kind off.
void StopActivities();

// What no flush has delivered is gone, with the buffers that clients gave.
void ForgetActivities();

int PushExternalId(uint32_t kind, uint64_t id);
int PopExternalId(uint32_t kind, uint64_t* id);

// What cuptiSetThreadIdType chose: 0 the pthread_t's value, 1 the kernel's id.
void SetThreadIdType(uint32_t type);
uint32_t ThreadIdType();

}  // namespace simcuda

#endif  // SIMCUDA_CUPTI_ACTIVITIES_H_
