"""The steps, the most valuable first: a call that is cut short has done the best that it could.

A plan for 9, 25 or 45 minutes is as many of them, from the top, as fit (`acceptance.py --list`).
Seconds are those of an H100 machine with PyTorch, JAX and CuPy; a limit is what a step gets before
it is ended.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from dataclasses import dataclass

import capture_steps
import cost_steps
import cupti_steps
import data_steps
import life_steps
import machine_steps
import table_steps
import time_steps
import training_steps
import turn_steps
import window_steps
from gpu_runs import Bench, Figures

Run = Callable[..., Figures]


@dataclass(frozen=True)
class Step:
    """One question to the machine."""

    name: str
    expect_s: float
    limit_s: float
    run: Callable[[Bench], Figures]
    group: str = ""
    """What its steps answer together, for a call that has time for one question."""

    @property
    def question(self) -> str:
        """The first sentence of what runs."""
        run = self.run.func if isinstance(self.run, functools.partial) else self.run
        return " ".join((run.__doc__ or "").split(". ")[0].split())


def _step(name: str, expect_s: float, run: Run, **options: object) -> Step:
    return Step(name, expect_s, max(30.0, 4 * expect_s), functools.partial(run, **options))


def _cost(name: str, expect_s: float, run: Run, **options: object) -> Step:
    """A step about what recording costs: useful by itself, and quick."""
    return Step(name, expect_s, MOST_COST_S, functools.partial(run, **options), "cost")


def _setting(name: str, expect_s: float, run: Run, **options: object) -> Step:
    """A step about a way of using CUPTI that rlscope could choose instead."""
    return Step(name, expect_s, MOST_COST_S, functools.partial(run, **options), "settings")


def _share(loop: str, expect_s: float) -> Step:
    """A step about the default beside recording all."""
    run = functools.partial(turn_steps.shared, loop=loop)
    return Step(f"cost-share-{loop}", expect_s, MOST_COST_S, run, "shares")


MOST_COST_S = 90.0

PLAN = [
    _step("machine", 5, machine_steps.machine),
    # Is what is recorded right?
    _step("attaching-torch", 13, capture_steps.attaching, library="torch"),
    _step("counts", 3, capture_steps.counts),
    _step("golden-records", 6, data_steps.golden_records),
    _step("runtime-static", 12, capture_steps.runtime_loops, linked="static"),
    _step("runtime-shared", 12, capture_steps.runtime_loops, linked="shared"),
    _step("same-training", 24, training_steps.same_as_profiler, program="torch_training.py"),
    _step("graphs-driver", 3, capture_steps.graphs, program="driver_graph.py"),
    _step("nesting", 3, capture_steps.nesting),
    _step("injection", 2, capture_steps.injection),
    # What does it cost?
    _step("late-graphs", 4, capture_steps.late_graphs),
    # GPU work in windows: is it right?
    _step("windows-sac", 60, window_steps.windows, loop="sac"),
    _step("windows-graphs", 40, window_steps.graphs, loop="dqn"),
    _step("windows-launches", 20, window_steps.windows, loop="launches", ways=("whole", "tenth")),
    _step("cost-of-calls", 75, cost_steps.calls),
    _step("cost-of-training", 130, cost_steps.training),
    # A training loop, as users have it.
    _step("learner", 18, training_steps.learner),
    _step("ppo", 20, training_steps.ppo),
    _step("stable-baselines", 15, training_steps.stable_baselines),
    _step("million", 30, capture_steps.million),
    _step("times", 68, time_steps.lengths_and_clock),
    _step("what-if", 120, data_steps.what_if),
    # Does the program live and end as without us?
    _step("ending-quick", 5, life_steps.ending, way="quick"),
    _step("ending-fork", 6, life_steps.ending, way="fork"),
    _step("kill", 8, life_steps.kill),
    _step("ending-spawn", 12, life_steps.ending, way="spawn"),
    _step("ending-threads", 6, life_steps.ending, way="threads"),
    _step("ending-memory", 7, life_steps.ending, way="memory"),
    _step("ending-profiler", 10, life_steps.ending, way="profiler"),
    _step("profiler-yield", 9, life_steps.yielded),
    _step("profiler-torn-down", 12, life_steps.torn_down),
    _step("reset", 2, life_steps.reset),
    _step("subscribed", 2, capture_steps.subscribed),
    _step("other-injection", 6, capture_steps.other_injection),
    _step("finalize-threads", 8, cupti_steps.finalizing, kind="threads"),
    _step("finalize-graphs", 5, cupti_steps.finalizing, kind="graphs"),
    _step("permission", 5, life_steps.permission),
    # Libraries and kinds of launches.
    _step("same-libraries", 20, training_steps.same_as_profiler, program="torch_libraries.py"),
    _step("attaching-jax", 6, capture_steps.attaching, library="jax"),
    _step("attaching-cupy", 4, capture_steps.attaching, library="cupy"),
    _step("attaching-triton", 10, capture_steps.attaching, library="triton"),
    _step("attaching-numba", 4, capture_steps.attaching, library="numba"),
    _step("graphs-torch", 10, capture_steps.graphs, program="torch_graph.py"),
    _step("learner-graph", 18, training_steps.learner, changes=("--graph",)),
    _step("learner-amp", 18, training_steps.learner, changes=("--amp",)),
    _step("learner-compile", 90, training_steps.learner, changes=("--compile",)),
    # Data for models of the hardware, and of what a change is worth.
    _step("kernel-table", 60, table_steps.kernel_table),
    _step("busy-share", 40, machine_steps.busy_share),
    _step("golden-loops", 70, data_steps.golden_loops),
    _step("hardware-trace", 3, capture_steps.hardware_trace),
    _step("interposed", 8, capture_steps.interposed),
    # What does recording cost, by turns inside of one process? (--first cost) Which way of using
    # CUPTI would cost less? (--first settings)
    _cost("cost-sac", 36, turn_steps.recorded, loop="sac"),
    _cost("cost-off-sac", 32, cupti_steps.stages, loop="sac"),
    _share("sac", 70),
    _share("dqn", 70),
    _share("ppo-vector", 70),
    _share("ppo-pixels", 70),
    _share("sampling-cached", 70),
    _cost("cost-twins-sac", 45, cupti_steps.twins, loop="sac"),
    _cost("cost-twins-dqn", 45, cupti_steps.twins, loop="dqn"),
    _cost("cost-twins-ppo-vector", 45, cupti_steps.twins, loop="ppo-vector"),
    _setting("cost-calls-sac", 30, cupti_steps.settings, loop="sac", group="calls"),
    _setting("cost-records-sac", 30, cupti_steps.settings, loop="sac", group="records"),
    _cost("cost-launches", 22, turn_steps.recorded, loop="launches"),
    _cost("profiler-sac", 24, turn_steps.profiled, loop="sac"),
    _setting("cost-interposed-sac", 28, cupti_steps.interposed, loop="sac"),
    _cost("cost-sampling-cached", 36, turn_steps.recorded, loop="sampling-cached"),
    _cost("cost-dqn", 36, turn_steps.recorded, loop="dqn"),
    _cost("cost-ppo-vector", 36, turn_steps.recorded, loop="ppo-vector"),
    _cost("cost-ppo-pixels", 36, turn_steps.recorded, loop="ppo-pixels"),
    _cost("cost-sampling", 36, turn_steps.recorded, loop="sampling"),
    _setting("cost-flush-sac", 42, cupti_steps.settings, loop="sac", group="flush"),
    _setting("cost-attributes-sac", 66, cupti_steps.processes, loop="sac"),
    _cost("cost-off-launches", 20, cupti_steps.stages, loop="launches"),
    _cost("profiler-dqn", 24, turn_steps.profiled, loop="dqn"),
    _cost("profiler-sampling-cached", 24, turn_steps.profiled, loop="sampling-cached"),
    _cost("profiler-ppo-vector", 24, turn_steps.profiled, loop="ppo-vector"),
    _cost("profiler-ppo-pixels", 24, turn_steps.profiled, loop="ppo-pixels"),
    _cost("profiler-sampling", 24, turn_steps.profiled, loop="sampling"),
    _share("launches", 45),
    _setting("cost-twins-launches", 30, cupti_steps.twins, loop="launches"),
    _setting("cost-calls-launches", 15, cupti_steps.settings, loop="launches", group="calls"),
    _setting("cost-records-launches", 15, cupti_steps.settings, loop="launches", group="records"),
    _setting("cost-interposed-launches", 15, cupti_steps.interposed, loop="launches"),
]

GROUPS = sorted({step.group for step in PLAN} - {""})


def in_order(first: str | None) -> list[Step]:
    """The plan, with the steps of one group before the others."""
    return sorted(PLAN, key=lambda step: step.group != first)
