#include "runtime/call_sites.h"

#include <string.h>

#include "base/env.h"
#include "runtime/image.h"
#include "runtime/kept_text.h"
#include "runtime/process.h"
#include "runtime/syscalls.h"
#include "trace/layout/shared_pages.h"

namespace rlscope::runtime {

rlscope_call_site_finder find_call_site = nullptr;

namespace {

using trace::EntryKind;

constexpr uint32_t kFunctionBuckets = 2 * trace::kMostSiteFunctions;
constexpr uint32_t kStackBuckets = 2 * trace::kMostSites;

struct Function {
  const char* text;  // the file, then the name
  uint16_t file_length;
  uint16_t length;
  uint32_t first_line;
  uint64_t hash;
};
struct Stack {
  uint32_t parent, function, line;
};

// Mapped at the first CUDA call with a stack: only pages that are touched cost memory. A bucket
// holds a number, which is stored last, so that a fork in between leaves a consistent table.
struct Table {
  uint32_t function_count, stack_count;
  uint32_t function_buckets[kFunctionBuckets];
  uint32_t stack_buckets[kStackBuckets];
  Function functions[trace::kMostSiteFunctions];  // number n is functions[n - 1]
  Stack stacks[trace::kMostSites];
};
Table* table = nullptr;

bool MapSites() {
  if (table == nullptr) table = static_cast<Table*>(SysMapPrivate(sizeof(Table)));
  return table != nullptr;
}

uint64_t Mix(uint64_t hash, uint64_t value) {
  hash = (hash ^ value) * 0x9e3779b97f4a7c15u;
  return hash ^ hash >> 29;
}

uint64_t HashOf(const char* file, uint64_t file_length, const char* name, uint64_t name_length,
                uint32_t first_line) {
  uint64_t hash = Mix(first_line, file_length);
  for (uint64_t i = 0; i < file_length; i++) hash = Mix(hash, static_cast<uint8_t>(file[i]));
  for (uint64_t i = 0; i < name_length; i++) hash = Mix(hash, static_cast<uint8_t>(name[i]));
  return hash;
}

bool PublishFunction(uint32_t number) {
  const Function& function = table->functions[number - 1];
  return AppendEntry(EntryKind::kSiteFunction, function.file_length, number, function.first_line,
                     function.text, function.length);
}

bool PublishStack(uint32_t number) {
  const Stack& stack = table->stacks[number - 1];
  char text[2 * sizeof(uint32_t)];
  memcpy(text, &stack.function, sizeof stack.function);
  memcpy(text + sizeof stack.function, &stack.line, sizeof stack.line);
  return AppendEntry(EntryKind::kSiteNode, 0, number, stack.parent, text, sizeof text);
}

// Without an image yet, it publishes all when it opens.
void CountUnlessPublished(bool is_published) {
  if (IsImageOpen() && !is_published) CountLoss(trace::kNoCallSite, 1);
}

// The bucket that holds what `is_same(number)` says, or the empty one where it belongs.
template <typename IsSame>
uint32_t* Bucket(uint32_t* buckets, uint32_t count, uint64_t hash, IsSame is_same) {
  for (uint64_t i = hash;; i++) {
    uint32_t* bucket = &buckets[i & (count - 1)];
    if (*bucket == 0 || is_same(*bucket)) return bucket;
  }
}

void SetBucket(uint32_t* bucket, uint32_t* count, uint32_t number) {
  __atomic_store_n(count, number, __ATOMIC_RELEASE);
  __atomic_store_n(bucket, number, __ATOMIC_RELEASE);
}

uint32_t NumberFunction(const char* file, uint64_t file_length, const char* name,
                        uint64_t name_length, uint32_t first_line) {
  const uint64_t hash = HashOf(file, file_length, name, name_length, first_line);
  const auto is_same = [&](uint32_t number) {
    const Function& function = table->functions[number - 1];
    return function.hash == hash && function.first_line == first_line &&
           function.file_length == file_length && function.length == file_length + name_length &&
           memcmp(function.text, file, file_length) == 0 &&
           memcmp(function.text + file_length, name, name_length) == 0;
  };
  uint32_t* bucket = Bucket(table->function_buckets, kFunctionBuckets, hash, is_same);
  const uint32_t number = table->function_count + 1;
  if (*bucket != 0 || number > trace::kMostSiteFunctions) return *bucket;
  char text[2 * trace::kMaxNameBytes];
  memcpy(text, file, file_length);
  memcpy(text + file_length, name, name_length);
  const char* kept = KeepText(text, file_length + name_length);
  if (kept == nullptr) return 0;
  table->functions[number - 1] = {kept, static_cast<uint16_t>(file_length),
                                  static_cast<uint16_t>(file_length + name_length), first_line,
                                  hash};
  SetBucket(bucket, &table->function_count, number);
  CountUnlessPublished(PublishFunction(number));
  return number;
}

uint32_t NumberStack(uint32_t parent, uint32_t function, uint32_t line) {
  const uint64_t hash = Mix(Mix(Mix(parent, function), line), 0);
  const auto is_same = [&](uint32_t number) {
    const Stack& stack = table->stacks[number - 1];
    return stack.parent == parent && stack.function == function && stack.line == line;
  };
  uint32_t* bucket = Bucket(table->stack_buckets, kStackBuckets, hash, is_same);
  const uint32_t number = table->stack_count + 1;
  if (*bucket != 0 || number > trace::kMostSites) return *bucket;
  table->stacks[number - 1] = {parent, function, line};
  SetBucket(bucket, &table->stack_count, number);
  CountUnlessPublished(PublishStack(number));
  return number;
}

uint64_t CutName(uint64_t length) {
  return length < trace::kMaxNameBytes ? length : trace::kMaxNameBytes;
}

}  // namespace

void PublishCallSites() {
  if (table == nullptr) return;
  for (uint32_t i = 1; i <= table->function_count; i++) CountUnlessPublished(PublishFunction(i));
  for (uint32_t i = 1; i <= table->stack_count; i++) CountUnlessPublished(PublishStack(i));
}

}  // namespace rlscope::runtime

rlscope_call_site_finder rlscope_find_call_sites(rlscope_call_site_finder find) {
  static const bool is_wanted = rlscope::base::GetEnvNumber("RLSCOPE_STACKS", 1) != 0;
  return __atomic_exchange_n(&rlscope::runtime::find_call_site, is_wanted ? find : nullptr,
                             __ATOMIC_ACQ_REL);
}

uint32_t rlscope_number_function(const char* file, uint64_t file_length, const char* name,
                                 uint64_t name_length, uint32_t first_line) {
  namespace runtime = rlscope::runtime;
  runtime::LockGuard guard(&runtime::process_lock);
  if (!runtime::MapSites()) return 0;
  return runtime::NumberFunction(file, runtime::CutName(file_length), name,
                                 runtime::CutName(name_length), first_line);
}

uint32_t rlscope_number_stack(uint32_t parent, uint32_t function, uint32_t line) {
  namespace runtime = rlscope::runtime;
  runtime::LockGuard guard(&runtime::process_lock);
  return runtime::MapSites() ? runtime::NumberStack(parent, function, line) : 0;
}
