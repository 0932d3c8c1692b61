#include "cupti/buffers.h"

#include <atomic>
#include <cstring>
#include <map>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "cupti/settings.h"
#include "cupti/status.h"

namespace simcuda {
namespace {

struct Buffer {
  uint8_t* start = nullptr;
  size_t bytes = 0;
  size_t valid = 0;
  size_t records = 0;
  size_t max_records = 0;  // 0: as many as fit

  bool Takes(size_t more) const {
    return valid + more <= bytes && (max_records == 0 || records < max_records);
  }
};

struct Buffers {
  std::mutex lock;
  std::map<uint32_t, Buffer> by_thread;  // one entry, 0, when threads share
  std::vector<Buffer> spare;             // given twice for one thread
  BufferRequested requested = nullptr;
  BufferCompleted completed = nullptr;
  bool per_thread = GetSettings().version->number >= 21;  // 12.3
  std::atomic<uint64_t> records{0};
  std::atomic<size_t> dropped{0};
};

Buffers& All() {
  static Buffers& buffers = *new Buffers;
  return buffers;
}

// With the lock held.
Buffer& BufferOf(uint32_t thread) { return All().by_thread[All().per_thread ? thread : 0]; }

// A buffer that the client gives now; none: it has no functions, or gives none. Without the lock.
Buffer Request() {
  BufferRequested requested = nullptr;
  {
    std::lock_guard<std::mutex> guard(All().lock);
    requested = All().requested;
  }
  Buffer buffer;
  if (requested != nullptr) requested(&buffer.start, &buffer.bytes, &buffer.max_records);
  return buffer;
}

// Gives the thread a buffer if it has none; false: there is none to be had.
bool EnsureBuffer(uint32_t thread) {
  Buffers& all = All();
  {
    std::lock_guard<std::mutex> guard(all.lock);
    Buffer& buffer = BufferOf(thread);
    if (buffer.start == nullptr && !all.spare.empty()) {
      buffer = all.spare.back();
      all.spare.pop_back();
    }
    if (buffer.start != nullptr) return true;
  }
  Buffer given = Request();
  if (given.start == nullptr) return false;
  std::lock_guard<std::mutex> guard(all.lock);
  Buffer& buffer = BufferOf(thread);
  if (buffer.start == nullptr) {
    buffer = given;
  } else {
    all.spare.push_back(given);  // another thread was first
  }
  return true;
}

// Without the lock.
void HandBack(const Buffer& buffer) {
  BufferCompleted completed = nullptr;
  {
    std::lock_guard<std::mutex> guard(All().lock);
    completed = All().completed;
  }
  if (completed == nullptr) return;  // finalized just now
  completed(nullptr, 0, buffer.start, buffer.bytes, buffer.valid);
}

enum class Outcome { kDone, kTooLarge, kAgain };

// Appends to the thread's buffer; a full one is taken out, to be handed back.
Outcome Append(uint32_t thread, const Bytes& record, Buffer* full) {
  std::lock_guard<std::mutex> guard(All().lock);
  Buffer& buffer = BufferOf(thread);
  if (buffer.start == nullptr) return Outcome::kAgain;  // a flush has just taken it
  if (!buffer.Takes(record.size())) {
    if (buffer.valid == 0) return Outcome::kTooLarge;
    *full = std::exchange(buffer, Buffer{});
    return Outcome::kAgain;
  }
  memcpy(buffer.start + buffer.valid, record.data(), record.size());
  buffer.valid += record.size();
  ++buffer.records;
  return Outcome::kDone;
}

void WriteDrop(const Bytes& record) {
  uint32_t kind = 0;
  memcpy(&kind, record.data(), sizeof(kind));
  std::string line =
      "{\"type\":\"cupti\",\"event\":\"dropped\",\"kind\":" + std::to_string(kind) + "}\n";
  FindCore()->write_truth(line.data(), line.size());
}

void Drop(const Bytes& record) {
  ++All().dropped;
  WriteDrop(record);
}

bool LosesNext() {
  uint32_t every = GetSettings().drop_every;
  return every != 0 && ++All().records % every == 0;
}

}  // namespace

int SetBufferFunctions(BufferRequested requested, BufferCompleted completed) {
  if (requested == nullptr || completed == nullptr) return kCuptiInvalidParameter;
  std::lock_guard<std::mutex> guard(All().lock);
  All().requested = requested;
  All().completed = completed;
  return kCuptiSuccess;
}

bool HaveBufferFunctions() {
  std::lock_guard<std::mutex> guard(All().lock);
  return All().requested != nullptr;
}

void SetPerThreadBuffers(bool on) {
  std::lock_guard<std::mutex> guard(All().lock);
  All().per_thread = on;
}

bool PerThreadBuffers() {
  std::lock_guard<std::mutex> guard(All().lock);
  return All().per_thread;
}

void PrepareBuffer(uint32_t thread) { EnsureBuffer(thread); }

void PutRecord(uint32_t thread, const Bytes& record) {
  if (record.empty()) return;
  if (LosesNext()) return Drop(record);
  while (EnsureBuffer(thread)) {
    Buffer full;
    Outcome outcome = Append(thread, record, &full);
    if (full.start != nullptr) HandBack(full);
    if (outcome == Outcome::kDone) return;
    if (outcome == Outcome::kTooLarge) break;
  }
  Drop(record);
}

void CompleteBuffers() {
  std::vector<Buffer> filled;
  {
    std::lock_guard<std::mutex> guard(All().lock);
    for (auto& [thread, buffer] : All().by_thread) {
      if (buffer.valid > 0) filled.push_back(std::exchange(buffer, Buffer{}));
    }
  }
  for (const Buffer& buffer : filled) HandBack(buffer);
}

void ForgetBuffers() {
  std::lock_guard<std::mutex> guard(All().lock);
  All().by_thread.clear();
  All().spare.clear();
  All().requested = nullptr;
  All().completed = nullptr;
}

size_t TakeDroppedRecords() { return All().dropped.exchange(0); }

}  // namespace simcuda
