"""What to run, and how to record it."""

from __future__ import annotations

from dataclasses import dataclass, field

from rlscope.rundir.kept_iterations import IterationRange


@dataclass(frozen=True)
class Settings:
    """What to run, and how to record it."""

    command: list[str]
    """Argument vector of the program."""
    output: str = ""
    """Trace directory; rlscope_out/<program>-<time> if empty."""
    force: bool = False
    """Replace the run that `output` holds."""
    name: str = ""
    """Name of the run."""
    delay_iterations: int = 0
    """Record from this iteration on, counted from 0."""
    iterations: int = 0
    """Record this many iterations, 0: all that follow."""
    exit_after_iterations: int = 0
    """End the program at the boundary after this many iterations, 0: never."""
    exit_after_seconds: float = 0.0
    """End the program at the next boundary once it has been recorded for so long, 0: never."""
    delay_seconds: float = 0.0
    """Record from this time on, counted from the program's start."""
    seconds: float = 0.0
    """Record for this long, 0: to the end."""
    rollup: float = 0.0
    """Keep single records for so many minutes only, 0: all of them."""
    keep_iterations: tuple[IterationRange, ...] = ()
    """Keep all single records of these iterations, though `rollup` is given."""
    max_size: int = 0
    """Most bytes of all files that recording writes, 0: no limit."""
    sample_seconds: float = 1.0
    """Period of the machine samples, 0: none."""
    intercept: str = ""
    """Engine that records native calls: patch, monitoring or off; as the environment says if
    empty."""
    cuda: str = ""
    """How CUDA is recorded: cupti, interpose or off; as the environment says if empty."""
    cupti: str = ""
    """Whether torch.profiler gets CUPTI: hold or yield; as the environment says if empty."""
    cuda_api: str = ""
    """CUDA functions that are recorded: chosen or all; as the environment says if empty."""
    cuda_parts: str = ""
    """Records that CUPTI makes: all, calls or work; as the environment says if empty."""
    gpu_share: str = ""
    """How much of the iterations' GPU work is recorded: 100%, auto or N%; as the environment says
    if empty."""
    gpu_calls: str = ""
    """CUDA calls where GPU work is not recorded: always or windows; as the environment says if
    empty."""
    cuda_graph_trace: str = ""
    """Records of a graph launch: graph or node; as the environment says if empty."""
    numpy: bool = False
    """Record calls into NumPy as layer framework."""
    waits: bool = True
    """Record what threads wait for; False switches it off, True leaves it to the environment."""
    probes: bool = True
    """Measure what recording costs in the program; False switches it off, True leaves it to the
    environment."""
    auto: bool | None = None
    """Find operations without annotation; as the environment says if None."""
    simulator: list[str] = field(default_factory=list)
    """Modules whose native code is layer simulator, beside the simulators that rlscope knows."""
    environment: list[str] = field(default_factory=list)
    """Classes of environments, as MODULE:CLASS, beside those that rlscope knows and finds."""
    stacks: bool = True
    """Read which lines of Python the threads are in."""
    lines: str = ""
    """backward: lines of forwards get the time of their backward; as the environment says if
    empty."""
    source: list[str] = field(default_factory=list)
    """Absolute folders whose files are the program's own code, beside what is no library."""
    source_text: bool = True
    """Keep the text of the program's own files."""
