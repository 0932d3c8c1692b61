#include "runtime/names.h"

#include <string.h>

#include "runtime/kept_text.h"
#include "runtime/syscalls.h"
#include "trace/layout/shared_pages.h"

namespace rlscope::runtime {
namespace {

constexpr uint32_t kBuckets = 1u << 17;  // half full at most

// Mapped at the first name: 2.6 MiB of address space of which only touched pages cost memory.
struct Table {
  uint32_t buckets[kBuckets];  // index + 1 of a name; 0 empty. Stored last, so that a fork in the
                               // middle of AddName() leaves a consistent table to the child.
  Name names[trace::kLargestNameId];
};

Table* table = nullptr;
uint32_t count = 0;        // ordinary names
uint32_t other_count = 0;  // "(other)" names, in names[kMaxNames...]

// FNV-1a, 64 bits folded to 32.
uint32_t Hash(uint32_t kind, const char* text, uint64_t length) {
  uint64_t hash = (14695981039346656037ull ^ kind) * 1099511628211ull;
  for (uint64_t i = 0; i < length; i++) {
    hash = (hash ^ static_cast<unsigned char>(text[i])) * 1099511628211ull;
  }
  return static_cast<uint32_t>(hash ^ hash >> 32);
}

// The bucket that holds the name, or the empty one where it belongs.
uint32_t* Bucket(uint32_t hash, uint32_t kind, const char* text, uint64_t length) {
  for (uint32_t i = hash & (kBuckets - 1);; i = (i + 1) & (kBuckets - 1)) {
    uint32_t* bucket = &table->buckets[i];
    if (*bucket == 0) return bucket;
    const Name& name = table->names[*bucket - 1];
    if (name.hash == hash && name.kind == kind && name.length == length &&
        memcmp(name.text, text, length) == 0) {
      return bucket;
    }
  }
}

bool MapTable() {
  if (table == nullptr) table = static_cast<Table*>(SysMapPrivate(sizeof(Table)));
  return table != nullptr;
}

}  // namespace

uint32_t FindName(uint32_t kind, const char* text, uint64_t length) {
  if (table == nullptr) return 0;
  const uint32_t index = *Bucket(Hash(kind, text, length), kind, text, length);
  return index == 0 ? 0 : table->names[index - 1].id;
}

const Name* AddName(uint32_t kind, uint32_t layer, const char* text, uint64_t length) {
  if (!MapTable() || count == trace::kMaxNames) return nullptr;
  const char* copy = KeepText(text, length);
  if (copy == nullptr) return nullptr;
  const uint32_t hash = Hash(kind, text, length);
  Name* name = &table->names[count];
  *name = {copy,      static_cast<uint32_t>(length), hash,
           count + 1, static_cast<uint16_t>(kind),   static_cast<uint16_t>(layer)};
  __atomic_store_n(&count, count + 1, __ATOMIC_RELEASE);
  __atomic_store_n(Bucket(hash, kind, text, length), count, __ATOMIC_RELEASE);
  return name;
}

const Name* OtherName(uint32_t kind, uint32_t layer, bool* is_new) {
  *is_new = false;
  if (!MapTable()) return nullptr;
  for (uint32_t i = 0; i < other_count; i++) {
    const Name& name = table->names[trace::kMaxNames + i];
    if (name.kind == kind) return &name;
  }
  if (other_count == trace::kOtherNames) return nullptr;
  static constexpr char kOther[] = "(other)";
  Name* name = &table->names[trace::kMaxNames + other_count];
  *name = {kOther,
           sizeof kOther - 1,
           0,
           trace::kMaxNames + other_count + 1,
           static_cast<uint16_t>(kind),
           static_cast<uint16_t>(layer)};
  other_count++;
  *is_new = true;
  return name;
}

const Name* NameAt(uint32_t index) {
  if (index < count) return &table->names[index];
  if (index - count < other_count) return &table->names[trace::kMaxNames + index - count];
  return nullptr;
}

}  // namespace rlscope::runtime
