// The client's buffers: asked for when there is a first record to put in, handed back when full or
// flushed.
#ifndef SIMCUDA_CUPTI_BUFFERS_H_
#define SIMCUDA_CUPTI_BUFFERS_H_

#include <cstddef>
#include <cstdint>

#include "cupti/records.h"

namespace simcuda {

using BufferRequested = void (*)(uint8_t** buffer, size_t* bytes, size_t* max_records);
using BufferCompleted = void (*)(void* context, uint32_t stream, uint8_t* buffer, size_t bytes,
                                 size_t valid);

// All of it [MT]. The client's functions are called on the calling thread and under no lock: they
// and their callers may wait for each other.
int SetBufferFunctions(BufferRequested requested, BufferCompleted completed);
bool HaveBufferFunctions();

// From CUPTI 12.3 on each thread has a buffer of its own; this attribute turns that off.
constexpr uint32_t kPerThreadBuffers = 9;
void SetPerThreadBuffers(bool on);
bool PerThreadBuffers();

// Gets the thread's buffer, so that its first record has a place.
void PrepareBuffer(uint32_t thread);
// Appends to the thread's buffer, or counts the record as dropped: when the client gives no buffer,
// and every n-th by SIMCUPTI_DROP_EVERY.
void PutRecord(uint32_t thread, const Bytes& record);
// Hands back every buffer that has a record.
void CompleteBuffers();

// Buffers are not handed back, and the client's functions are forgotten.
void ForgetBuffers();

// Since the last call.
size_t TakeDroppedRecords();

}  // namespace simcuda

#endif  // SIMCUDA_CUPTI_BUFFERS_H_
