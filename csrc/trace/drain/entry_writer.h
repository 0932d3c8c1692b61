// Arena entries -> NameChunk, ThreadChunk, MetadataChunk, ClockChunk and StacksChunk, in order.
#ifndef RLSCOPE_TRACE_DRAIN_ENTRY_WRITER_H_
#define RLSCOPE_TRACE_DRAIN_ENTRY_WRITER_H_

#include <stddef.h>
#include <stdint.h>

#include "trace/drain/arena_view.h"
#include "trace/drain/living_threads.h"
#include "trace/drain/source_files.h"
#include "trace/write/chunks.h"
#include "trace/write/sink.h"

namespace rlscope::trace {

class EntryWriter {
 public:
  // `living` learns which threads begin and end.
  // `files`, if there are any, get those of the functions of call sites.
  EntryWriter(Sink* sink, ChunkBuffer* buffer, LivingThreads* living, SourceFiles* files)
      : sink_(sink), buffer_(buffer), living_(living), files_(files) {}
  EntryWriter(const EntryWriter&) = delete;
  EntryWriter& operator=(const EntryWriter&) = delete;

  // Writes everything that is published and not yet written. 0 or an errno.
  int WriteAll(ArenaView* arena);

  // Bytes of entries that no process writes, which are left out.
  uint64_t left_out() const { return left_out_; }

 private:
  static constexpr size_t kBatch = 256;

  void Take(const ArenaEntry& entry, const char* text);
  void LeaveOut(const ArenaEntry& entry) { left_out_ += sizeof entry + entry.length; }
  void AddName(const ArenaEntry& entry, NameKind kind, const char* text);
  void AddThread(const ArenaEntry& entry, const char* text);
  void AddThreadTimes(const ArenaEntry& entry, const char* text);
  void WriteMetadataEntry(const ArenaEntry& entry, const char* text);
  void WriteClockEntry(const char* text);
  void AddSiteFunction(const ArenaEntry& entry, const char* text);
  void AddSite(const ArenaEntry& entry, const char* text);
  void FlushNames();
  void FlushThreads();
  void FlushSites();
  void Keep(int error) {
    if (error_ == 0) error_ = error;
  }

  Sink* sink_;
  ChunkBuffer* buffer_;
  LivingThreads* living_;
  SourceFiles* files_;
  int error_ = 0;
  uint64_t left_out_ = 0;
  size_t name_count_ = 0;
  size_t thread_count_ = 0;
  NameFields names_[kBatch];
  ThreadFields threads_[kBatch];
  // Each has the number after the one before it.
  size_t function_count_ = 0;
  size_t site_count_ = 0;
  uint32_t first_function_ = 0;
  uint32_t first_site_ = 0;
  FunctionFields functions_[kBatch];
  NodeFields sites_[kBatch];
};

}  // namespace rlscope::trace

#endif  // RLSCOPE_TRACE_DRAIN_ENTRY_WRITER_H_
