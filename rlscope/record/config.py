"""The RLSCOPE_* variables: meaning, defaults, and a report of unknown ones."""

import os
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, fields
from typing import Any

from rlscope.errors import RecordingError

_PREFIX = "RLSCOPE_"
_MOST_BYTES = (1 << 63) - 1  # a signed number of 64 bits, in which the drainer takes it
_OF_TESTS = "RLSCOPE_TEST_"  # switches of the project's own tests; no program reads them


AUTO = "auto"
GPU_SHARE = re.compile(r"auto|\d{1,3}(\.\d{1,6})?%")


@dataclass(frozen=True)
class Config:
    """Settings that travel to every process of a run by its environment."""

    directory: str = field(default="", metadata={"variable": "RLSCOPE_DIR"})
    """Absolute path of the trace directory. Empty or unset: the process is not recorded."""
    min_free: int = field(default=1 << 30, metadata={"variable": "RLSCOPE_MIN_FREE"})
    """Recording stops while this many bytes are still free on the disk of the trace, so that the
    program's own files find room (default 1 GiB)."""
    intercept: str = field(
        default="patch",
        metadata={"variable": "RLSCOPE_INTERCEPT", "choices": ("patch", "monitoring", "off")},
    )
    """Engine that records native calls: `patch`, where that is refused `monitoring`; or `off`."""
    numpy: bool = field(default=False, metadata={"variable": "RLSCOPE_NUMPY"})
    """Calls into NumPy are layer framework."""
    waits: bool = field(default=True, metadata={"variable": "RLSCOPE_WAITS"})
    """Waits are recorded, where native calls are by `patch`."""
    gc: bool = field(default=True, metadata={"variable": "RLSCOPE_GC"})
    """Garbage collections are recorded."""
    probes: bool = field(default=True, metadata={"variable": "RLSCOPE_PROBES"})
    """The cost of recording is measured in the program, by probes."""
    stacks: bool = field(default=True, metadata={"variable": "RLSCOPE_STACKS"})
    """Records of CUDA calls say which line of Python made the call."""
    auto: bool = field(default=True, metadata={"variable": "RLSCOPE_AUTO"})
    """Operations are found without annotation, until the program opens one of its own."""
    lines: str = field(
        default="stacks",
        metadata={"variable": "RLSCOPE_LINES", "choices": ("stacks", "backward")},
    )
    """Lines of Python have the time of their stacks; with `backward`, those of a forward also have
    that of their part of PyTorch's backward."""
    source: str = field(default="", metadata={"variable": "RLSCOPE_SOURCE"})
    """Absolute folders, joined by colons, whose files are the program's own code."""
    cuda: str = field(
        default="cupti",
        metadata={"variable": "RLSCOPE_CUDA", "choices": ("cupti", "interpose", "off")},
    )
    """How CUDA calls and GPU work are recorded: by NVIDIA's CUPTI; calls of the CUDA runtime
    library alone, by standing in front of it (`interpose`); or `off`."""
    cuda_api: str = field(
        default="chosen", metadata={"variable": "RLSCOPE_CUDA_API", "choices": ("chosen", "all")}
    )
    """CUDA functions that are recorded: those that launch, copy, allocate or wait; or all."""
    cuda_parts: str = field(
        default="all",
        metadata={"variable": "RLSCOPE_CUDA_PARTS", "choices": ("all", "calls", "work")},
    )
    """What CUPTI is asked for: calls, GPU work, or both."""
    gpu_share: str = field(
        default="100%",
        metadata={"variable": "RLSCOPE_GPU_SHARE", "pattern": GPU_SHARE, "such_as": "auto or 10%"},
    )
    """How much of the iterations' GPU work is recorded: 100%, N%, or with `auto`, which rls-prof
    sets, as much as costs at most 3 % of the loop, by an estimate of the run itself."""
    gpu_calls: str = field(
        default="always",
        metadata={"variable": "RLSCOPE_GPU_CALLS", "choices": ("always", "windows")},
    )
    """CUDA calls are recorded always, or only where GPU work is."""
    cuda_graph_trace: str = field(
        default="graph",
        metadata={"variable": "RLSCOPE_CUDA_GRAPH_TRACE", "choices": ("graph", "node")},
    )
    """What a launch of a CUDA graph is: one piece of GPU work, or each of its kernels."""
    cupti: str = field(default="", metadata={"variable": "RLSCOPE_CUPTI"})
    """Folders, joined by colons, in which CUPTI is looked for after those of the program's CUDA."""
    cupti_yield: bool = field(default=False, metadata={"variable": "RLSCOPE_CUPTI_YIELD"})
    """torch.profiler gets CUPTI while it profiles; that gap is counted."""
    simulators: str = field(default="", metadata={"variable": "RLSCOPE_SIMULATORS"})
    """Modules, joined by commas, whose native code is layer simulator."""
    environments: str = field(default="", metadata={"variable": "RLSCOPE_ENVIRONMENTS"})
    """Classes of environments, MODULE:CLASS joined by commas."""

    @classmethod
    def from_environ(cls, environ: Mapping[str, str] | None = None) -> "Config":
        """Reads the variables; unset or empty ones keep their defaults.

        Raises:
            RecordingError: a value is not of its field's type.
        """
        source = os.environ if environ is None else environ
        given: dict[str, Any] = {}
        for setting in fields(cls):
            variable = setting.metadata["variable"]
            text = source.get(variable, "")
            if text:
                choices = setting.metadata.get("choices", ())
                given[setting.name] = _parse(variable, text, type(setting.default), choices)
                _check_pattern(variable, text, setting.metadata)
        return cls(**given)


def _check_pattern(variable: str, text: str, metadata: Mapping[str, Any]) -> None:
    pattern = metadata.get("pattern")
    if pattern is not None and not pattern.fullmatch(text):
        raise RecordingError(f"{variable} must be such as {metadata['such_as']}, not {text!r}")


def _parse(variable: str, text: str, kind: type, choices: Sequence[str]) -> int | str:
    if choices and text not in choices:
        raise RecordingError(f"{variable} must be one of {', '.join(choices)}, not {text!r}")
    if kind is str:
        return text
    if kind is bool:
        return _parse_switch(variable, text)
    if text.isascii() and text.isdigit() and len(text) < 20 and int(text) <= _MOST_BYTES:
        return int(text)
    raise RecordingError(
        f"{variable} must be a whole number of bytes, at most {_MOST_BYTES}, not {text!r}"
    )


def _parse_switch(variable: str, text: str) -> bool:
    if text in ("0", "1"):
        return text == "1"
    raise RecordingError(f"{variable} must be 0 or 1, not {text!r}")


def known_variables() -> list[str]:
    """Names of all variables, sorted."""
    return sorted(setting.metadata["variable"] for setting in fields(Config))


def unknown_variables(environ: Mapping[str, str] | None = None) -> list[str]:
    """One sentence for each RLSCOPE_* variable that rlscope does not know.

    >>> unknown_variables({"RLSCOPE_DRI": "/tmp/run"})
    ['RLSCOPE_DRI is unknown and has no effect: did you mean RLSCOPE_DIR?']
    """
    source = os.environ if environ is None else environ
    known = known_variables()
    ours = (n for n in source if n.startswith(_PREFIX) and not n.startswith(_OF_TESTS))
    unknown = sorted(name for name in ours if name not in known)
    return [f"{name} is unknown and has no effect: {_remedy(name, known)}" for name in unknown]


def _remedy(name: str, known: list[str]) -> str:
    from difflib import get_close_matches  # 2 ms, and only for a name that is wrong

    # Without the prefix that they all share, which would make any two of them near.
    endings = [variable.removeprefix(_PREFIX) for variable in known]
    near = get_close_matches(name.removeprefix(_PREFIX), endings, n=1)
    return f"did you mean {_PREFIX}{near[0]}?" if near else f"the known ones are {', '.join(known)}"
