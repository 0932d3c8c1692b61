// Memory that the traced processes share with their drainer: one control page per run, one
// process page per process image, one file per ring, all mapped from DIR/rings; and the log of
// processes. Layouts only; both sides map them and neither trusts the other's values.
//
//   DIR/processes.log                      ProcessRecord, 128 bytes each, one append each
//   DIR/rings/control                      ControlPage
//   DIR/rings/<image>.process              ProcessPage, then the arena of names and threads
//   DIR/rings/<image>.<n>.names            more arena, once the last one is full
//   DIR/rings/<image>.<n>.ring             RingPage (4 KiB), then its slots
//
// <image> = <pid>.<start_time>.<began_ns>: began_ns distinguishes images of one pid (exec).
#ifndef RLSCOPE_TRACE_LAYOUT_SHARED_PAGES_H_
#define RLSCOPE_TRACE_LAYOUT_SHARED_PAGES_H_

#include <stdint.h>

#include "trace/layout/interpreter_layout.h"
#include "trace/layout/thread_times.h"

namespace rlscope::trace {

constexpr uint32_t kAbiVersion = 3;
constexpr uint64_t kPageSize = 4096;

// ---- processes.log ------------------------------------------------------------------------

enum class ProcessEvent : uint16_t {
  kBegan = 1,   // constructor of the library (exec or first start), or late attach
  kForked = 2,  // a fork child, at its first record or on its exit path
  kPython = 3,  // the bootstrap runs in this interpreter; name = its version, detail = executable
  kEnded = 4,   // exit path: exit(), _exit(), return from main
  // Not of a process: where the run's rings lie when not in DIR/rings, from the maker of the run.
  kRings = 5,  // name = a piece of the path, flags = length of the path << 16 | offset in it
  // Nor is this: the run's window changed; name = its new state, from the process that changed it.
  kWindow = 6,
  // Nor this: a process of the run began to record a run of its own, as rls-prof does.
  kNested = 7,  // name and flags: its directory, in pieces as those of kRings
};
constexpr char kWindowWaits[] = "waits";  // the run begins without recording
constexpr char kWindowStarts[] = "starts";
constexpr char kWindowStops[] = "stops";

struct ProcessRecord {
  uint32_t magic;          // kProcessRecordMagic
  uint32_t crc;            // CRC-32C of the record with this field zero
  uint16_t version;        // kAbiVersion
  uint16_t event;          // ProcessEvent
  uint32_t pid;            // in the process's own pid namespace
  uint32_t parent_pid;     // getppid() at construction; kForked: the forking process
  uint32_t flags;          // kLateAttach, ...
  uint64_t start_time;     // field 22 of /proc/self/stat, clock ticks since boot
  uint64_t pid_namespace;  // inode of /proc/self/ns/pid, 0 unknown
  int64_t began_ns;        // identifies the image: first clock reading, CLOCK_MONOTONIC
  int64_t time_ns;         // when this record was written, CLOCK_MONOTONIC
  union {
    int64_t cpu_ns;          // kEnded: CLOCK_PROCESS_CPUTIME_ID less our own threads
    int64_t late_attach_ns;  // kBegan with kLateAttach: the process's age at began_ns; 0 unknown
  };
  int64_t profiler_cpu_ns;  // kEnded: CPU time of our own threads in the process; else 0
  int64_t python_end_ns;    // kEnded: when the interpreter was finalised, 0 never or no Python
  union {
    char name[48];  // kBegan: comm; kPython: "3.11.7", NUL, what it runs (command_line.h);
                    // NUL-padded, cut if longer
    struct {
      char comm[40];
      int64_t exit_flush_ns;  // how long recording made the process's exit; 0 unknown
    } ended;                  // kEnded
  };
};
static_assert(sizeof(ProcessRecord) == 128);
constexpr uint32_t kProcessRecordMagic = 0x50534c52;  // "RLSP"
constexpr uint32_t kLateAttach = 1;                   // flags: librlscope was not preloaded
constexpr uint32_t kForkedPython = 4;                 // flags of kForked: runs the interpreter
constexpr uint32_t kExitStatusKnown = 2;              // flags: exit code in bits 8..15 of flags
constexpr uint32_t kHadRings = 8;                     // flags of kEnded: it recorded, or could have
constexpr uint32_t kRefused = 16;                     // ... or could not make its files for that

// ---- control page: one per run --------------------------------------------------------------

struct ControlPage {
  uint64_t magic;               // kControlMagic
  uint32_t abi_version;         // kAbiVersion
  uint32_t drainer_pid;         // process that drains all rings; 0 none (in-process helpers do)
  uint64_t drainer_start_time;  // its field 22 of /proc/<pid>/stat
  int64_t heartbeat_ns;         // CLOCK_MONOTONIC of the drainer's last pass
  uint32_t wake;                // futex word: a producer adds 1 and wakes when a ring is half full
  uint32_t generation;          // a producer adds 1 after it created a file in DIR/rings
  // The wrapper's windows, followed by all processes (docs/reference/semantics.md#windows).
  uint32_t recording;         // 1 = record, 2 = do not
  uint32_t window_changes;    // counts changes of `recording`
  uint64_t window_owner;      // process that decides them: its began_ns << 1, plus 1 if its
                              // iterations are no automatic ones; 0 none
  uint32_t delay_iterations;  // start after this many iterations of the owner
  uint32_t iterations;        // stop after this many more; 0 = never
  uint32_t exit_after;        // SystemExit at the boundary after this many; 0 = never
  uint32_t iterations_begun;  // by the owner
  uint64_t min_free_bytes;    // stop recording below this much free space (RLSCOPE_MIN_FREE)
  uint32_t cut;               // why a drainer cut recording short (control_page.h): producers stop
                              // at window_ticks; 0: it goes on
  uint32_t clock_kind;        // ClockKind of the run, chosen by the maker of this page
  uint64_t tick_hz;           // estimate of the run's clock, for every ProcessPage
  uint64_t window_ticks;      // when `recording` last changed; stored before window_changes
  char trace_rings[256];      // absolute folder of the rings when not DIR/rings; else empty
  int64_t cut_ns;             // CLOCK_MONOTONIC of the cut
};
constexpr uint64_t kControlMagic = 0x314c544e43534c52;  // "RLSCNTL1"

// ---- process page -------------------------------------------------------------------------

#define RLSCOPE_LOSS_KINDS(X)                                                                    \
  X(kLostRecords, 0, "ring_full") /* a full ring, after waiting */                               \
  X(kNoRing, 1, "no_ring")        /* a thread that got no ring */                                \
  X(kNoDrainer, 2, "no_drainer")  /* drainer dead: recording stopped */                          \
  X(kCut, 3, "cut")               /* a drainer could write no more: recording stopped */         \
  X(kNameTableFull, 4, "names")   /* names beyond 65,536: (other) */                             \
  X(kExitWithoutEnter, 5, "exit_without_enter")                                                  \
  X(kForkedSilently, 6, "fork_without_record") /* fork children that wrote nothing */            \
  X(kIterationIgnored, 7, "iteration_of_other_thread")                                           \
  X(kLateAttachLoss, 8, "late_attach")                                                           \
  X(kMetadataTooLong, 9, "metadata_too_long")                                                    \
  X(kClamped, 10, "clamped")                /* ticks that ran backwards, moved by the drainer */ \
  X(kCudaDropped, 11, "cuda_dropped")       /* activity records that CUPTI counts as dropped */  \
  X(kGpuUnfinished, 12, "gpu_unfinished")   /* GPU work that had not ended with the process */   \
  X(kCudaPaused, 13, "cuda_paused")         /* gaps: the program's own profiler has CUPTI */     \
  X(kCudaDisplaced, 14, "cuda_displaced")   /* gaps: another client gets CUPTI's records */      \
  X(kCudaInterposed, 15, "cuda_interposed") /* processes recorded by librlscope_cudart.so */     \
  X(kNoCallSite, 16, "call_site")           /* CUDA calls whose stack did not fit: no line */    \
  X(kGpuWindowEdge, 17, "gpu_window_edge")  /* CUDA calls that were cut by the end of a window */

enum Loss : uint32_t {
#define RLSCOPE_LOSS_KIND(name, number, text) name = number,
  RLSCOPE_LOSS_KINDS(RLSCOPE_LOSS_KIND)
#undef RLSCOPE_LOSS_KIND
      kLossKinds = 18
};

// Losses that no process can count itself: rings of its own whose files were removed, cut short or
// damaged; that none of its files is left; and that it could not make any.
constexpr char kDamagedRing[] = "damaged_ring";
constexpr char kMissingTrace[] = "missing_trace";
constexpr char kNoFiles[] = "no_files";

// Nor these, which are found where its memory is read.
constexpr char kMissingRecords[] = "missing_records";   // that a ring must have held
constexpr char kDamagedBytes[] = "damaged_bytes";       // of a page or of entries
constexpr char kUnreadableFiles[] = "unreadable_file";  // rings and arenas
// No counter gets further: nine years at a million a second. Sums of such counts fit 64 bits.
constexpr uint64_t kMostLost = uint64_t{1} << 48;

struct ProcessPage {
  uint64_t magic;  // kProcessMagic, stored last (release)
  uint32_t abi_version;
  uint32_t pid;
  uint64_t start_time;
  int64_t began_ns;
  uint32_t clock_kind;  // ClockKind of every tick of this process
  uint32_t forks;       // children forked from this image
  uint64_t tsc_hz;      // estimate, for the slope when there is one pair only
  uint64_t first_tick;  // first clock pair, valid before any record
  int64_t first_ns;
  uint32_t threads;         // threads begun
  uint32_t python;          // 1: the interpreter is instrumented (bootstrap ran)
  int64_t python_begin_ns;  // CLOCK_MONOTONIC; 0 no Python
  int64_t python_end_ns;    // finalisation; 0 not yet
  uint64_t main_thread;     // os_tid of the main thread (= pid)
  uint64_t ring_bytes;      // mapped by all rings of the process
  uint64_t losses[16];      // counts by Loss: LossCount()
  uint64_t arena_capacity;  // bytes of arena in this file
  uint64_t arena_used;      // bytes published (release); entries below are complete
  uint32_t closed;          // 1: the process ended on an exit path; no more records
  uint32_t helper;          // 1: an in-process helper took the rings over; other drainers stop
  // Files made so far, so that a drainer need not ask the file system at every pass.
  uint32_t ring_files;
  uint32_t arena_files;  // further ones, without this
  // When recording started and stopped, as its kWindowStart and kWindowStop say: a thread's
  // records do not tell what another one did to its windows. Only the last ones are kept: number n
  // (from 0) lies at n % kWindowChanges. Stored before window_changes (release).
  uint64_t window_change[32];  // ticks << 1 | starts
  uint32_t window_changes;
  uint32_t has_interpreter;  // 1: `interpreter` is filled in (release)
  rlscope_interpreter_layout interpreter;
  uint64_t more_losses[8];  // those that `losses` has no room for
};
constexpr uint32_t kWindowChanges = 32;
static_assert(sizeof ProcessPage::window_change == kWindowChanges * sizeof(uint64_t));
constexpr uint64_t kProcessMagic = 0x31434f5250534c52;  // "RLSPROC1"
constexpr uint64_t kProcessFileSize = 64 * 1024;        // page + arena of the first file
static_assert(sizeof(ProcessPage) <= kPageSize);

// Where a page counts losses of this kind.
template <class Page>  // ProcessPage, const or not
inline auto LossCount(Page* page, uint32_t loss) {
  constexpr uint32_t kFirst = sizeof page->losses / sizeof *page->losses;
  static_assert(kLossKinds - kFirst <= sizeof page->more_losses / sizeof *page->more_losses);
  return loss < kFirst ? &page->losses[loss] : &page->more_losses[loss - kFirst];
}

// A further arena file: NamesPage, then entries.
struct NamesPage {
  uint64_t magic;  // kNamesMagic
  uint64_t arena_capacity;
  uint64_t arena_used;
};
constexpr uint64_t kNamesMagic = 0x314d414e45534c52;  // "RLSENAM1"

// Arena entries, 8-byte aligned, back to back from offset kPageSize of the file.
enum class EntryKind : uint16_t {
  kOperationName = 1,   // id; text
  kPhaseName = 2,       // id; text
  kFunctionName = 3,    // id, aux = layer; text = module:function
  kThread = 4,          // id = thread, aux = os_tid, flags = kPythonThread; text = name
  kThreadName = 5,      // id = thread; text: a later name of it
  kProcessName = 6,     // text
  kMetadata = 7,        // id = bytes of the key; text = key then JSON value
  kClockPair = 8,       // text = two uint64: ticks, CLOCK_MONOTONIC ns
  kProgram = 9,         // text = program (argv joined, secrets masked)
  kPythonVersion = 10,  // text
  kCudaCallName = 11,   // id; text = function of the CUDA runtime or driver API
  kKernelName = 12,     // id; text, mangled as the compiler left it
  kThreadTimes = 13,    // id = thread, flags = kThreadEnds; text = ThreadTimes
  kSiteFunction = 14,   // id; aux = its first line, flags = bytes of the file; text = file, name
  kSiteNode = 15,       // id; aux = parent; text = two uint32: function, line
};
struct ArenaEntry {
  uint16_t kind;   // EntryKind
  uint16_t flags;  // kPythonThread
  uint32_t id;
  uint32_t aux;
  uint32_t length;  // bytes of text that follow, not counting the padding to 8
};
constexpr uint16_t kPythonThread = 1;
constexpr uint16_t kThreadEnds = 1;    // the times are its last
constexpr uint32_t kMaxNames = 65536;  // per process; more become "(other)",
constexpr uint32_t kOtherNames = 5;    // of which each kind of name has one
constexpr uint32_t kLargestNameId = kMaxNames + kOtherNames;
constexpr uint32_t kMaxNameBytes = 1024;         // longer names are cut
constexpr uint32_t kMaxKernelNameBytes = 16384;  // mangled C++ templates: cut, they mean nothing
constexpr uint32_t kMaxMetadataBytes = 65536;
// Stacks in which the process made CUDA calls (trace.proto, StacksChunk). Ids are from 1 on, and
// those of a file have this added.
constexpr uint32_t kFirstSite = 1 << 24;
constexpr uint32_t kMostSiteFunctions = 1 << 15;
constexpr uint32_t kMostSites = 1 << 17;
static_assert(sizeof(ArenaEntry) == 16);

// ---- ring -----------------------------------------------------------------------------------

enum class RingState : uint32_t { kActive = 1, kThreadEnded = 2, kFree = 3 };
enum class RingUse : uint32_t {
  kThread = 0,     // what a thread does
  kCudaCalls = 1,  // its CUDA calls
  kGpu = 2,        // work on the process's GPUs; thread 0
};

struct RingPage {
  uint64_t magic;  // kRingMagic, stored last (release)
  uint32_t abi_version;
  uint32_t number;    // <n> of the file's name; unique in the process image
  uint64_t capacity;  // slots, a power of two
  uint32_t previous;  // the ring its thread came from (kRingEnd there); 0 none
  uint32_t state;     // RingState, by the producer
  uint64_t began_ns;  // of the image, as in the file's name
  uint64_t thread;    // whose records it holds; changes only while the ring is drained
  uint32_t use;       // RingUse, for good
  uint32_t pad0;
  uint64_t pad;
  // Own cache line each: written by the drainer; written by the producer.
  uint64_t tail;    // slots consumed: all below are in a chunk that is in the file
  uint64_t intent;  // end of the chunk that is being written; a drainer that goes on from the
                    // same tail ends its first chunk there too, so that what was
                    // written twice is the same chunk twice
  uint64_t pad1[6];
  uint64_t head;  // a lower bound of slots produced, stored at times
  uint64_t lost;  // records lost since the ring began
  // The wait that its thread is in, of which no record tells yet (runtime/open_wait.h).
  uint64_t wait_ticks;  // when it began
  uint32_t wait_word;   // MakeWord(kCall, its name, 0), stored last (release); 0: there is none
};
constexpr uint64_t kRingMagic = 0x31474e4952534c52;  // "RLSRING1"
constexpr uint64_t kFirstRingBytes = 64 * 1024;
constexpr uint64_t kLargestRingBytes = 4 << 20;
constexpr uint64_t kProcessRingBytes = 64 << 20;
static_assert(sizeof(RingPage) <= kPageSize);

}  // namespace rlscope::trace

#endif  // RLSCOPE_TRACE_LAYOUT_SHARED_PAGES_H_
