// The C ABI of librlscope.so, the only holder of process state: what _runtime, librlscope_cudart.so
// and any other producer in the process call. Nothing else crosses the boundary.
//
// Threads: every function may be called from any thread unless it says otherwise. No function
// throws, aborts, prints or sets errno. All return quickly and do nothing when RLSCOPE_DIR is
// unset.
#ifndef RLSCOPE_RUNTIME_RLSCOPE_H_
#define RLSCOPE_RUNTIME_RLSCOPE_H_

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define RLSCOPE_EXPORT __attribute__((visibility("default")))

struct rlscope_slot {
  uint64_t tsc;
  uint32_t duration;
  uint32_t word;
};

// One cache line. Only x86-64 aligns every thread's static TLS so; elsewhere the C library refuses
// a library that asks for it after the program's start.
#if defined(__x86_64__)
#define RLSCOPE_CACHE_LINE __attribute__((aligned(64)))
#else
#define RLSCOPE_CACHE_LINE
#endif

// Ticks of a unit of the times of probes: less than a millisecond at 1 GHz and more. The times
// begin again every 2^52 ticks, 17 days at 3 GHz, and threads that live then are not probed any
// more.
#define RLSCOPE_PROBE_SHIFT 20

// Per-thread state of the recorder, 64 bytes and all of our static TLS. The hot paths (hot.h
// and native_call.h in this folder) touch cursor, limit, lap, generation, next_probe and the call;
// everything else belongs to the slow path.
struct RLSCOPE_CACHE_LINE rlscope_thread {
  struct rlscope_slot* cursor;  // next slot; == limit: the slow path must run
  struct rlscope_slot* limit;
  // When the open native call began, in ticks, while its begin is held back: it becomes one record
  // when it returns, unless something is recorded inside. 0: nothing is held back.
  uint64_t call_start;
  void* context;             // contextvars.Context last seen by the annotations
  void* ring;                // private to the recorder
  uint32_t context_version;  // lower half of the count of Context switches when `context` was seen
  // A record after it makes a probe due (probe.h), in ticks >> RLSCOPE_PROBE_SHIFT; 0: not known
  // yet; UINT32_MAX: never.
  uint32_t next_probe;
  uint32_t lap : 8;        // lap bit of the slots up to limit
  uint32_t unringed : 24;  // records lost since the thread last had a ring
  uint32_t generation;     // rlscope_process.generation that cursor and ring belong to
  // The open native call: 0 none; even: MakeWord(kCall, its name, 0); odd: its begin is in the
  // trace, window << 1 | 1 with the number of the window in which it began.
  uint32_t call;
  uint32_t thread : 31;   // dense thread number, 0 none yet
  uint32_t in_place : 1;  // detached.cc runs work with the program's own descriptor table; written
                          // and read in the same call, under its signal block
};

extern RLSCOPE_EXPORT __thread struct rlscope_thread rlscope_self
    __attribute__((tls_model("initial-exec")));

// The state of the process; one relaxed load decides on the hot path. The page is wiped in a child
// that was made without fork handlers (raw clone), which then finds 0.
enum rlscope_state {
  RLSCOPE_UNKNOWN = 0,  // not initialised: call rlscope_initialize()
  RLSCOPE_RECORDING = 1,
  RLSCOPE_PAUSED = 2,  // initialised, not recording
  RLSCOPE_OFF = 3,     // never in this process
  RLSCOPE_TIMED = 4,   // as RLSCOPE_PAUSED, but annotations run a stopwatch
};
// Changed by atomic stores and read by atomic loads (Load() in hot.h): other threads record while
// an image opens, a window changes or a session ends.
struct rlscope_process_state {
  uint32_t state;
  uint32_t clock;               // ClockKind of base/clock_kind.h
  const uint32_t* window_word;  // changes when the wrapper starts or stops recording; never null
                                // unless state is RLSCOPE_UNKNOWN
  uint32_t window_seen;         // its value when the process last followed it
  uint32_t generation;          // of rings: a thread whose own differs must take a new one
  uint64_t window_start;        // ticks at which the running window began; 0: with the process
  uint32_t window;              // counts windows begun, and stretches of RLSCOPE_TIMED
  uint32_t ticks_per_us;        // of the clock, about; 0 until an image opens
  uint32_t reserved[1014];
};
extern RLSCOPE_EXPORT struct rlscope_process_state rlscope_process;

// The version of this file, with which a library that was loaded before must agree.
#define RLSCOPE_INTERFACE 8
RLSCOPE_EXPORT uint32_t rlscope_abi_version(void);

// Reads RLSCOPE_*, maps nothing, starts nothing. The constructor calls it; so does the import of
// _runtime in a process without the preload, and rls.profile after it set the environment.
RLSCOPE_EXPORT enum rlscope_state rlscope_initialize(void);

// Initialises if needed and follows a change of the wrapper's window. True: recording now.
RLSCOPE_EXPORT int rlscope_follow(void);

// Makes room for at least `slots` (1 or 2) in the calling thread's ring: writes the begin of a call
// that was held back, creates the ring, follows a window change, wakes the drainer, grows, waits,
// or counts a loss. False: drop the record.
RLSCOPE_EXPORT int rlscope_make_room(uint32_t slots);

// Id of a name, made if new: in the process page before the id is returned. kind and layer as in
// trace/layout/shared_pages.h. Takes a lock. Returns the id of "(other)" when the table is full.
RLSCOPE_EXPORT uint32_t rlscope_intern_name(uint32_t entry_kind, uint32_t layer, const char* text,
                                            uint64_t length);

// Native calls (native_call.h). The slow half of a call's return: what was held back is not the
// usual complete record. `end_ticks` is when it returned.
RLSCOPE_EXPORT void rlscope_end_call(uint64_t end_ticks) __attribute__((cold));

// The calling thread waited from one reading of the clock to the other, inside whatever call is
// open: for the GIL, between two bytecodes or at the end of a call. `word` is that of its name.
// A thread without a ring records nothing.
RLSCOPE_EXPORT void rlscope_record_wait(uint32_t word, uint64_t start_ticks, uint64_t end_ticks);

// Inode of the file that is mapped at an address; 0: none, or it cannot be known. Reads
// /proc/self/maps, half a millisecond in a large process, and the program sees no descriptor of it.
RLSCOPE_EXPORT uint64_t rlscope_inode_at(const void* address);

// Native code calls into Python, and Python returns to it: in between the thread is in no native
// call. The caller keeps the struct and pairs the two on one C stack, exceptions included.
struct rlscope_callback {
  uint64_t held;        // call_start of the call around it; only while nothing records
  uint32_t call;        // rlscope_thread.call of the call around it; 0 none
  uint32_t recorded;    // 1: the begin of the callback is in the trace
  uint32_t window;      // rlscope_process.window
  uint32_t generation;  // rlscope_process.generation
};
RLSCOPE_EXPORT void rlscope_begin_callback(struct rlscope_callback* callback);
RLSCOPE_EXPORT void rlscope_end_callback(const struct rlscope_callback* callback);

// Probes (probe.h). The calling thread has written a record at `ticks`, after its next_probe. A
// random number if a probe is to run now, and rlscope_end_probe() must follow; 0: none is. It has
// room for four slots, holds no call back, and its image and window are those of its last record.
RLSCOPE_EXPORT uint32_t rlscope_begin_probe(uint64_t ticks) __attribute__((cold));
// Writes what it measured (trace::ProbeKind; kProbeKinds: nothing) between two readings of the
// clock, and says when the next one is due. `began_ticks` is what rlscope_begin_probe() got.
RLSCOPE_EXPORT void rlscope_end_probe(uint32_t probe, uint64_t start_ticks, uint64_t end_ticks,
                                      uint64_t began_ticks) __attribute__((cold));

// Records of any kind; slow path of the annotations, fine for anything rare.
RLSCOPE_EXPORT void rlscope_record(uint32_t kind, uint32_t id);
RLSCOPE_EXPORT void rlscope_record_value(uint32_t kind, uint32_t id, uint64_t value);

RLSCOPE_EXPORT void rlscope_set_process_name(const char* text, uint64_t length);
RLSCOPE_EXPORT void rlscope_set_thread_name(const char* text, uint64_t length);
// The calling thread exists from here on, as from a record that it makes: its stacks are read.
RLSCOPE_EXPORT void rlscope_begin_thread(void);
// The calling thread is none of the interpreter's: outside of callbacks its time has no owner.
// Before its first record; later, and in the main thread, it changes nothing.
RLSCOPE_EXPORT void rlscope_begin_native_thread(void);
// From code that knows the interpreter: a function that returns whether the calling thread runs no
// Python code. Called once of a thread whose first record is a CUDA call, without the interpreter's
// lock: autograd launches kernels from threads of its own.
RLSCOPE_EXPORT void rlscope_set_outside_test(int (*runs_no_python)(void));
RLSCOPE_EXPORT void rlscope_add_metadata(const char* key, uint64_t key_length, const char* json,
                                         uint64_t json_length);

// CUDA. Another profiler of this process, as torch.profiler, has CUPTI between the two calls: the
// gap is counted and timed. They wait for a flush, some milliseconds.
RLSCOPE_EXPORT void rlscope_pause_cuda(void);
RLSCOPE_EXPORT void rlscope_resume_cuda(void);
// Whether CUPTI is ours in this process. Quick.
RLSCOPE_EXPORT int rlscope_has_cuda(void);
// To measure what CUPTI costs: from now on CUPTI does only those parts. CUPTI's part of a call in
// which it is switched may be missing. Callbacks are to be switched while this process records
// nothing, or a call of another thread stays open until the next window. Launches of graphs leave
// records in any case: CUPTI 13.0 ends a process that launches a graph which was made while that
// was off. Waits for a flush, some milliseconds. Returns 0 where CUPTI is not ours, and does
// nothing.
enum rlscope_cuda_part {
  RLSCOPE_CUDA_CALLS = 1,  // callbacks of calls
  RLSCOPE_CUDA_WORK = 2    // activity records
};
RLSCOPE_EXPORT int rlscope_switch_cuda(uint32_t parts);
// GPU work in windows (--gpu-share). At the begin of an iteration, from its thread: GPU work is to
// be recorded from now on, or is not. A window that begins here has the whole iteration. Closing
// takes until the program waits for the GPU. Beginning takes some 10 ms.
enum rlscope_gpu_state {
  RLSCOPE_GPU_WHOLE = 0,  // there are no windows: nothing was done
  RLSCOPE_GPU_RECORDED = 1,
  RLSCOPE_GPU_CLOSING = 2,  // CUPTI is still at work; no window can begin
  RLSCOPE_GPU_OFF = 3
};
RLSCOPE_EXPORT enum rlscope_gpu_state rlscope_turn_gpu(int recorded);
// Another profiler of this process is at work, to which CUPTI is not left: windows neither attach
// nor end CUPTI until it is not kept any more.
RLSCOPE_EXPORT void rlscope_keep_cupti(int kept);
// How many launches this process has records of so far, up to 200 ms late. Quick.
RLSCOPE_EXPORT uint64_t rlscope_gpu_launches(void);
// Whether the program has CUDA graphs of which each launch is one piece of GPU work. No window may
// end then: no GPU has shown that such a graph lives on when CUPTI is ended. Quick.
RLSCOPE_EXPORT int rlscope_has_traced_graphs(void);
// A CUDA call that CUPTI does not see (librlscope_cudart.so); outermost calls become records. Where
// begin answers 1, end follows on the same C stack.
RLSCOPE_EXPORT int rlscope_begin_cuda_call(void);
RLSCOPE_EXPORT void rlscope_end_cuda_call(uint32_t name, uint32_t status);

// Windows of the calling process (rls.start, rls.stop). Nested calls do not add up.
RLSCOPE_EXPORT void rlscope_start(void);
RLSCOPE_EXPORT void rlscope_stop(void);

// Keeps this process from recording, whatever its windows are, until it is called with 0.
RLSCOPE_EXPORT void rlscope_hold(int held);

// Whether annotations run a stopwatch where this process would record if it were not held.
RLSCOPE_EXPORT void rlscope_time_operations(int timed);

// Begins an iteration: applies the wrapper's windows. Ignored and counted from a second thread.
// Returns flags.
enum rlscope_boundary {
  RLSCOPE_COUNTED = 1,      // an iteration began
  RLSCOPE_ENDS_PROGRAM = 2  // the program should end here (--exit-after-iterations)
};
RLSCOPE_EXPORT int rlscope_iteration(int automatic);

// The interpreter: begin from the bootstrap or `import rlscope`, end from its finalisation.
RLSCOPE_EXPORT void rlscope_python_begin(const char* version, const char* executable);
RLSCOPE_EXPORT void rlscope_python_end(void);
// Where a drainer finds the stacks of the interpreter's threads. Copied.
struct rlscope_interpreter_layout;
RLSCOPE_EXPORT void rlscope_describe_interpreter(const struct rlscope_interpreter_layout* layout);

// Call sites: the stacks of the interpreter in which the process makes CUDA calls. From code that
// knows the interpreter: `find` gives the number of the calling thread's stack, 0: it has none. It
// is called at the end of each CUDA call, without the interpreter's lock. `*kept` is its own, null
// at first; a fork child and a later session begin anew. Null: nobody can tell any more. Returns
// the one before. RLSCOPE_STACKS=0: none is ever called.
typedef uint32_t (*rlscope_call_site_finder)(void** kept);
RLSCOPE_EXPORT rlscope_call_site_finder rlscope_find_call_sites(rlscope_call_site_finder find);
// Numbers of a function and of a line in a call from `parent` (a stack, 0: none), made if they are
// new. 0: they do not fit. Take a lock.
RLSCOPE_EXPORT uint32_t rlscope_number_function(const char* file, uint64_t file_length,
                                                const char* name, uint64_t name_length,
                                                uint32_t first_line);
RLSCOPE_EXPORT uint32_t rlscope_number_stack(uint32_t parent, uint32_t function, uint32_t line);

RLSCOPE_EXPORT void rlscope_count_loss(uint32_t loss, uint64_t count);

// rls.profile without the wrapper: a helper thread of this process drains DIR until _end, which
// drains what is left, closes the files and puts the process back to RLSCOPE_OFF.
RLSCOPE_EXPORT int rlscope_profile_begin(const char* directory);
RLSCOPE_EXPORT void rlscope_profile_end(void);

// Tests and `rlscope doctor`: recorded slots of the calling thread since its ring was made.
RLSCOPE_EXPORT uint64_t rlscope_slots_of_thread(void);

#ifdef __cplusplus
}
#endif

#endif  // RLSCOPE_RUNTIME_RLSCOPE_H_
