"""Options of rls-prof that say what to record, when, and for how long."""

from __future__ import annotations

import argparse

from rlscope.commands.options import layers, values
from rlscope.commands.options.rare import RareOptions


def prepare(parser: argparse.ArgumentParser, rare: RareOptions) -> None:
    """Declares the options, each group under its heading."""
    what = parser.add_argument_group("what to record")
    _prepare_what(what, rare)
    _prepare_cuda(what, rare)
    _prepare_when(parser.add_argument_group("when to record"))
    _prepare_how_long(parser.add_argument_group("how long to run, and how much to keep"), rare)


def _prepare_what(group: argparse._ArgumentGroup, rare: RareOptions) -> None:
    group.add_argument(
        "--auto",
        action=argparse.BooleanOptionalAction,
        help="find inference, simulation and backprop without annotations, until the program opens "
        "an operation of its own (default: --auto)",
    )
    layers.prepare(group, rare)
    group.add_argument(
        "--sample-seconds",
        type=values.period,
        metavar="S",
        default=1.0,
        help="read CPU, memory and GPU of the machine every S seconds, at least "
        f"{values.SHORTEST_PERIOD}; 0: never (default: 1)",
    )
    group.add_argument(
        "--source",
        type=values.source,
        metavar="PACKAGE",
        action="append",
        default=[],
        help="files of PACKAGE are the program's own code: a folder, or the name of an installed "
        "module such as stable_baselines3. The report names lines of your own code. Repeat for "
        "several",
    )
    group.add_argument(
        "--lines",
        choices=("backward",),
        default="",
        help="with backward, lines of a PyTorch forward also get the time of their part of the "
        "backward. rlscope watches one backward in 37, and more of the first eight. It slows down "
        "those that it watches",
    )
    rare.add(
        group,
        "--no-stacks",
        dest="stacks",
        action="store_false",
        help="do not read which lines of Python the program is in, nor which ones make CUDA calls. "
        "rls-prof reads the former from outside, some 100 times a second",
    )
    rare.add(
        group,
        "--no-source-text",
        dest="source_text",
        action="store_false",
        help="keep no copy of the program's own files in the trace. The report then names lines "
        "without their text",
    )
    rare.add(
        group,
        "--no-probes",
        dest="probes",
        action="store_false",
        help="do not measure what recording costs while the program runs. Measuring takes at most "
        "0.1 %% of the program's CPU time",
    )


def _prepare_when(group: argparse._ArgumentGroup) -> None:
    options = [
        ("--delay-iterations", values.iterations, "N", "start recording after N iterations"),
        (
            "--iterations",
            values.iterations,
            "N",
            "record N iterations (default: 0, all that follow)",
        ),
        ("--delay-seconds", values.seconds, "S", "start recording S seconds after the start"),
        ("--seconds", values.seconds, "S", "record for S seconds (default: 0, to the end)"),
    ]
    for name, kind, metavar, meaning in options:
        group.add_argument(name, type=kind, metavar=metavar, default=kind("0"), help=meaning)


def _prepare_how_long(group: argparse._ArgumentGroup, rare: RareOptions) -> None:
    options = [
        (
            "--exit-after-iterations",
            values.iterations,
            "N",
            "end the program after N iterations (default: 0, never). SystemExit is raised in the "
            "thread that counts them and in the main thread",
        ),
        (
            "--exit-after-seconds",
            values.seconds,
            "S",
            "end the program in the same way, at the first iteration after S recorded seconds "
            "(default: 0, never)",
        ),
    ]
    for name, kind, metavar, meaning in options:
        group.add_argument(name, type=kind, metavar=metavar, default=kind("0"), help=meaning)
    group.add_argument(
        "--rollup",
        type=values.minutes,
        metavar="MINUTES",
        default=0.0,
        help="keep single records of the last MINUTES only, and the sums of the whole run "
        "(default: 0, keep all). Processes that use CUDA keep all records",
    )
    rare.add(
        group,
        "--keep-iterations",
        type=values.iteration_ranges,
        metavar="A-B",
        default=(),
        help="with --rollup: keep all single records of iterations A to B in a trace of their own, "
        "DIR/iterations-A-B. Give several as 100-110,5000",
    )
    group.add_argument(
        "--max-size",
        type=values.size,
        metavar="SIZE",
        default=0,
        help="stop recording before the trace takes more than SIZE bytes, such as 500M or 20G "
        "(default: 0, no limit). K, M and G are powers of 1024. With --rollup, single records are "
        "removed before that",
    )


def _prepare_cuda(group: argparse._ArgumentGroup, rare: RareOptions) -> None:
    group.add_argument(
        "--cuda",
        choices=("cupti", "interpose", "off"),
        default="",
        help="how to record programs that use CUDA. By default (cupti), rlscope records CUDA calls "
        "and GPU work. With interpose it needs no CUPTI, and records only calls of the CUDA "
        "runtime library. With off it records none",
    )
    group.add_argument(
        "--cuda-api",
        choices=("chosen", "all"),
        default="",
        help="which CUDA calls to record: those that launch, copy, allocate or wait (chosen, the "
        "default), or all",
    )
    group.add_argument(
        "--gpu-share",
        type=values.gpu_share,
        metavar="SHARE",
        default="",
        help="how much GPU work to record: auto (the default), 100%%, or a part of the iterations "
        "such as 10%%. Recording it slows a program down that launches many small kernels. With "
        "a part, rlscope records it in windows of whole iterations, chosen at random. GPU times "
        "are then those of the windows. With auto, rlscope records all where that costs little, "
        "and else windows that should cost at most 3 %% of the loop. Windows need CUDA 12.6. If "
        "you record a part of the run only (--iterations, --seconds, ...), the default is 100%%",
    )
    _prepare_rare_cuda(group, rare)


def _prepare_rare_cuda(group: argparse._ArgumentGroup, rare: RareOptions) -> None:
    rare.add(
        group,
        "--gpu-calls",
        choices=("always", "windows"),
        default="",
        help="with --gpu-share: record CUDA calls always (the default), which costs some 3 to 5 %% "
        "in a program that launches much, or only where GPU work is recorded",
    )
    rare.add(
        group,
        "--cuda-parts",
        choices=("all", "calls", "work"),
        default="",
        help="record only calls (CUPTI's callbacks) or only work (its activity records), to "
        "measure what each part costs (default: all)",
    )
    rare.add(
        group,
        "--cuda-graph-trace",
        choices=("graph", "node"),
        default="",
        help="what a launch of a CUDA graph is. With graph, the default, it is one piece of GPU "
        "work. With node, each of its kernels is one, which costs more",
    )
    rare.add(
        group,
        "--cupti",
        choices=("hold", "yield"),
        default="",
        help="what to do when torch.profiler in the program wants CUPTI. With hold, the default, "
        "torch.profiler sees no GPU. With yield it gets CUPTI while it profiles, and the trace has "
        "a gap",
    )
