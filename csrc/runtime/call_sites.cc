#include "runtime/call_sites.h"

#include <string.h>

#include "runtime/kept_text.h"
#include "runtime/syscalls.h"
#include "trace/layout/shared_pages.h"

namespace rlscope::runtime {

rlscope_call_site_finder find_call_site = nullptr;

namespace {

constexpr uint32_t kFunctionBuckets = 2 * trace::kMostSiteFunctions;
constexpr uint32_t kStackBuckets = 2 * trace::kMostSites;

// Mapped at the first CUDA call with a stack: only pages that are touched cost memory. A bucket
// holds a number, which is stored last, so that a fork in between leaves a consistent table.
struct SiteTable {
  uint32_t function_count, stack_count;
  uint32_t function_buckets[kFunctionBuckets];
  uint32_t stack_buckets[kStackBuckets];
  SiteFunction functions[trace::kMostSiteFunctions];  // number n is functions[n - 1]
  SiteStack stacks[trace::kMostSites];
};
SiteTable* site_table = nullptr;

bool MapSites() {
  if (site_table == nullptr) site_table = static_cast<SiteTable*>(SysMapPrivate(sizeof(SiteTable)));
  return site_table != nullptr;
}

uint64_t MixIn(uint64_t hash, uint64_t value) {
  hash = (hash ^ value) * 0x9e3779b97f4a7c15u;
  return hash ^ hash >> 29;
}

uint64_t HashOfFunction(const char* file, uint64_t file_length, const char* name,
                        uint64_t name_length, uint32_t first_line) {
  uint64_t hash = MixIn(first_line, file_length);
  for (uint64_t i = 0; i < file_length; i++) hash = MixIn(hash, static_cast<uint8_t>(file[i]));
  for (uint64_t i = 0; i < name_length; i++) hash = MixIn(hash, static_cast<uint8_t>(name[i]));
  return hash;
}

// The bucket that holds what `is_same(number)` says, or the empty one where it belongs.
template <typename IsSame>
uint32_t* SiteBucket(uint32_t* buckets, uint32_t count, uint64_t hash, IsSame is_same) {
  for (uint64_t i = hash;; i++) {
    uint32_t* bucket = &buckets[i & (count - 1)];
    if (*bucket == 0 || is_same(*bucket)) return bucket;
  }
}

void SetSiteBucket(uint32_t* bucket, uint32_t* count, uint32_t number) {
  __atomic_store_n(count, number, __ATOMIC_RELEASE);
  __atomic_store_n(bucket, number, __ATOMIC_RELEASE);
}

}  // namespace

uint32_t NumberFunction(const char* file, uint64_t file_length, const char* name,
                        uint64_t name_length, uint32_t first_line, bool* is_new) {
  *is_new = false;
  if (!MapSites()) return 0;
  const uint64_t hash = HashOfFunction(file, file_length, name, name_length, first_line);
  const auto is_same = [&](uint32_t number) {
    const SiteFunction& function = site_table->functions[number - 1];
    return function.hash == hash && function.first_line == first_line &&
           function.file_length == file_length && function.length == file_length + name_length &&
           memcmp(function.text, file, file_length) == 0 &&
           memcmp(function.text + file_length, name, name_length) == 0;
  };
  uint32_t* bucket = SiteBucket(site_table->function_buckets, kFunctionBuckets, hash, is_same);
  const uint32_t number = site_table->function_count + 1;
  if (*bucket != 0 || number > trace::kMostSiteFunctions) return *bucket;
  char text[2 * trace::kMaxNameBytes];
  memcpy(text, file, file_length);
  memcpy(text + file_length, name, name_length);
  const char* kept = KeepText(text, file_length + name_length);
  if (kept == nullptr) return 0;
  site_table->functions[number - 1] = {kept, static_cast<uint16_t>(file_length),
                                       static_cast<uint16_t>(file_length + name_length), first_line,
                                       hash};
  SetSiteBucket(bucket, &site_table->function_count, number);
  *is_new = true;
  return number;
}

uint32_t NumberStack(uint32_t parent, uint32_t function, uint32_t line, bool* is_new) {
  *is_new = false;
  if (!MapSites()) return 0;
  const uint64_t hash = MixIn(MixIn(MixIn(parent, function), line), 0);
  const auto is_same = [&](uint32_t number) {
    const SiteStack& stack = site_table->stacks[number - 1];
    return stack.parent == parent && stack.function == function && stack.line == line;
  };
  uint32_t* bucket = SiteBucket(site_table->stack_buckets, kStackBuckets, hash, is_same);
  const uint32_t number = site_table->stack_count + 1;
  if (*bucket != 0 || number > trace::kMostSites) return *bucket;
  site_table->stacks[number - 1] = {parent, function, line};
  SetSiteBucket(bucket, &site_table->stack_count, number);
  *is_new = true;
  return number;
}

const SiteFunction* FunctionAt(uint32_t number) {
  return site_table == nullptr || number > site_table->function_count
             ? nullptr
             : &site_table->functions[number - 1];
}

const SiteStack* StackAt(uint32_t number) {
  return site_table == nullptr || number > site_table->stack_count
             ? nullptr
             : &site_table->stacks[number - 1];
}

}  // namespace rlscope::runtime
