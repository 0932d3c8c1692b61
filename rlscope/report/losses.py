"""The meaning of each kind of loss, for the reader of a report."""

from __future__ import annotations

MEANING = {
    "ring_full": "records that a thread could not write because the drainer was too slow",
    "no_ring": "threads whose records had no room, because the rings reached their memory limit",
    "no_drainer": "processes that went on without recording, because the process that drains the "
    "rings was gone",
    "rolled_up": "events that rlscope kept only as sums (--rollup)",
    "cut": "processes that went on after recording was cut short",
    "damaged_ring": "files of DIR/rings that were cut short or damaged while they were drained",
    "missing_trace": "processes that recorded and whose files are all gone",
    "no_files": "processes that recorded nothing because they could not make their files",
    "names": "names beyond the limit of a process; their time is in (other)",
    "exit_without_enter": "ends of operations that were not open; they are ignored",
    "fork_without_record": "children made by fork that recorded nothing",
    "iteration_of_other_thread": "calls of rls.iteration() by a second thread; they are ignored",
    "late_attach": "time before the recorder was attached to the process",
    "metadata_too_long": "metadata that was too long to keep",
    "cuda_dropped": "records of GPU work that CUPTI had no room for",
    "gpu_work_without_launch": "pieces of GPU work whose launch is not in the trace",
    "gpu_unfinished": "pieces of GPU work that had not ended when their process did, or when "
    "rlscope ended a window (--gpu-share)",
    "gpu_unrecorded": "iterations in which GPU work was not, or not all, recorded (--gpu-share). "
    "Numbers of GPU work are those of the other iterations",
    "gpu_window_edge": "CUDA calls that were under way when a window of GPU work ended "
    "(--gpu-share). Their GPU work may be missing",
    "cuda_paused": "gaps in which the program's own profiler had CUPTI (--cupti=yield)",
    "cuda_displaced": "gaps in which another profiler in the process got the records of GPU work",
    "call_site": "CUDA calls with stacks of Python that did not fit. Their GPU time has no line",
    "cuda_interposed": "processes recorded without CUPTI (--cuda=interpose). They have calls of "
    "the CUDA runtime library only, and neither GPU work nor launches inside cuBLAS, cuDNN, NCCL, "
    "Triton and JAX",
    "damaged_bytes": "bytes of the trace that could not be read",
    "missing_records": "records that were damaged, or never reached a file",
    "unreadable_file": "files of the trace, or rings of a process, that could not be read at all",
    "clamped": "times that rlscope moved, and nesting that it mended, so that they fit each other",
    "exit_out_of_order": "operations that ended while others inside them were open",
    "call_end_without_begin": "ends of native calls whose begin was not recorded",
    "paths": "entries into operations beyond the limit of a process; their time is in (other)",
    "too_deep": "operations inside 512 others, or calls inside 16,384, which an import left out",
    "undecodable_chunk": "chunks of trace files that were whole and made no sense",
}
