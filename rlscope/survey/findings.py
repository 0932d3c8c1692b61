"""The findings of the RL-Scope paper's survey (Gleeson et al. 2021, MLSys), S1 to S15.

Each is a list of claims, whose statistics are of one repetition of all cells; rlscope.survey.claims
has the interval and the verdict. Backend is the layer framework with cuda_api, which the paper
shows apart. Autograph is mode `function` (tf.function), Graph is mode `graph` (a Session of
tf.compat.v1).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from rlscope.survey.claims import (
    ABOVE,
    BELOW,
    COSTS,
    ENTRIES,
    SHARES,
    Claim,
    Finding,
    JudgedFinding,
    judge,
)
from rlscope.survey.comparison import (
    Absent,
    NeedsGpu,
    Number,
    Ran,
    Repetition,
    least,
    most,
    ratio,
    repetitions,
)
from rlscope.survey.results import Results
from rlscope.survey.runs import BACKEND, INFERENCE, LEARNING, OTHER, SIMULATION

TENSORFLOW, PYTORCH = "TensorFlow", "PyTorch"
# The paper's Backpropagation is all that is neither inference nor simulation.
_UPDATE = (LEARNING, OTHER)
_EAGER = {"mode": "eager"}
_TF_EAGER = {"framework": TENSORFLOW, "mode": "eager"}
_AUTOGRAPH = {"framework": TENSORFLOW, "mode": "function"}
_GRAPH = {"framework": TENSORFLOW, "mode": "graph"}
_PYTORCH = {"framework": PYTORCH, "mode": "eager"}
_LIBRARY = "Stable-Baselines3"
_PAPERS_ALGORITHMS = ("A2C", "PPO", "DDPG", "SAC")


def judge_all(results: Results) -> list[JudgedFinding]:
    """Every finding with its values and its verdict, in the paper's order; none where no cell is of
    an experiment of the paper's, as in a survey of other programs."""
    about = {finding.experiment for finding in FINDINGS}
    if not any(about.intersection(each.cell.experiment) for each in results.cells):
        return []
    found = list(repetitions(results))
    return [judge(finding, found) for finding in FINDINGS]


def _ratios(
    repetition: Repetition,
    first: dict[str, str],
    second: dict[str, str],
    of: Callable[[Ran], float],
    what: str,
) -> list[Number]:
    return [_over(one, other, of, what) for one, other in repetition.pairs(first, second)]


def _over(one: Ran, other: Ran, of: Callable[[Ran], float], what: str) -> Number:
    return Number(ratio(of(one), of(other), what), (one.name, other.name))


def _eager_pairs(repetition: Repetition) -> list[tuple[Ran, Ran]]:
    """Eager against everything else of equal work."""
    pairs = [
        (one, two) for one, two in repetition.pairs(_EAGER, {}) if two.label("mode") != "eager"
    ]
    if not pairs:
        raise Absent("not measured: no pair of eager against compiled has numbers")
    return pairs


def _total(ran: Ran) -> float:
    return ran.time()


def _s1(repetition: Repetition) -> Number:
    return least(_over(one, two, _total, "time") for one, two in _eager_pairs(repetition))


def _s1_entries(repetition: Repetition) -> Number:
    pairs = _eager_pairs(repetition)
    return least(_over(one, two, Ran.entries, "transitions") for one, two in pairs)


def _python_share(stage: Sequence[str]) -> Callable[[Ran], float]:
    def share(ran: Ran) -> float:
        part = ran.stage_time(*stage, layers=("python",))
        return ratio(part, ran.stage_time(*stage), "time of the stage")

    return share


def _s2(repetition: Repetition) -> Number:
    return least(
        number
        for stage in ((INFERENCE,), _UPDATE)
        for number in _ratios(
            repetition, _GRAPH, _AUTOGRAPH, _python_share(stage), "Python's share"
        )
    )


def _s3(repetition: Repetition) -> Number:
    return least(_ratios(repetition, _TF_EAGER, _PYTORCH, _total, "time"))


def _s3_entries(repetition: Repetition) -> Number:
    def entries(ran: Ran) -> float:
        return ran.entries(INFERENCE, *_UPDATE)

    return least(_ratios(repetition, _TF_EAGER, _PYTORCH, entries, "transitions"))


def _s4(repetition: Repetition) -> Number:
    found = _ratios(repetition, _GRAPH, _AUTOGRAPH, _total, "time")
    return most(Number(max(each.value, 1 / each.value) - 1, each.by) for each in found)


def _s5(repetition: Repetition) -> Number:
    best: dict[tuple[str, str, int | None], Ran] = {}
    compiled = [*repetition.where("framework", **_GRAPH)]
    for ran in (*compiled, *repetition.where("framework", **_AUTOGRAPH)):
        best[ran.task] = min(ran, best.get(ran.task, ran), key=_total)
    found = [
        _over(ran, best[ran.task], _total, "time")
        for ran in repetition.where("framework", **_PYTORCH)
        if ran.task in best
    ]
    if not found:
        raise Absent("not measured: no cell of PyTorch has one of Graph or Autograph beside it")
    return least(found)


def _s6(repetition: Repetition) -> Number:
    return most(
        Number(
            ratio(ran.gpu_time(*stage), ran.stage_time(*stage), "time of the stage"), (ran.name,)
        )
        for ran in repetition.some("framework")
        for stage in ((INFERENCE,), _UPDATE)
    )


def _s7(repetition: Repetition) -> Number:
    by_framework: dict[str, list[Ran]] = {}
    for ran in repetition.some("framework"):
        by_framework.setdefault(ran.label("framework"), []).append(ran)
    return least(
        Number(
            ratio(
                sum(ran.time(lambda row: row.layer == "cuda_api") for ran in of_one),
                sum(ran.gpu_time() for ran in of_one),
                "GPU time",
            ),
            tuple(ran.name for ran in of_one),
        )
        for of_one in by_framework.values()
    )


def _s8(repetition: Repetition) -> Number:
    return most(_ratios(repetition, _AUTOGRAPH, _GRAPH, lambda ran: ran.gpu_time(), "GPU time"))


def _backend_inference(ran: Ran) -> float:
    return ran.stage_time(INFERENCE, layers=BACKEND)


def _s9(repetition: Repetition) -> Number:
    return least(_ratios(repetition, _AUTOGRAPH, _GRAPH, _backend_inference, "Backend time"))


def _s9_each(repetition: Repetition) -> Number:
    def one_entry(ran: Ran) -> float:
        return ratio(_backend_inference(ran), ran.entries(INFERENCE), "transitions")

    return least(_ratios(repetition, _AUTOGRAPH, _GRAPH, one_entry, "Backend time"))


def _s10(repetition: Repetition) -> Number:
    def python(ran: Ran) -> float:
        return ran.stage_time(SIMULATION, layers=("python",))

    return most(_ratios(repetition, _AUTOGRAPH, _GRAPH, python, "Python's time in simulation"))


def _s11(repetition: Repetition) -> Number:
    found = [
        _over(one, two, lambda ran: ran.stage_time(*_UPDATE), "time of updates")
        for one, two in repetition.pairs(_GRAPH, _AUTOGRAPH)
        if one.label("algorithm") == "DDPG"
    ]
    if not found:
        raise Absent("not measured: no pair of DDPG has numbers")
    return least(found)


def _simulation(ran: Ran) -> float:
    return ran.share(SIMULATION)


def _s12(repetition: Repetition) -> Number:
    """Algorithms of one library, so that nothing but the algorithm differs."""
    for name in _PAPERS_ALGORITHMS:
        repetition.some("algorithm", framework=_LIBRARY, algorithm=name)
    on = repetition.some("algorithm", framework=_LIBRARY, policy="on-policy")
    off = repetition.some("algorithm", framework=_LIBRARY, policy="off-policy")
    return _over(
        min(on, key=_simulation), max(off, key=_simulation), _simulation, "the share of simulation"
    )


def _s13(repetition: Repetition) -> Number:
    return least(Number(_simulation(ran), (ran.name,)) for ran in repetition.some("simulator"))


def _s14(repetition: Repetition) -> Number:
    ran = repetition.some("scaleup")
    for each in ran:
        if not each.run.has_gpu:
            raise NeedsGpu(f"{each.name}: {each.run.gpu_absence}")
    found = [
        Number(ratio(reading.polled_percent, reading.busy_percent, "GPU time"), (each.name,))
        for each in ran
        for reading in each.run.readings
        if reading.kind == "gpu" and reading.busy_percent is not None
    ]
    if not found:
        raise NeedsGpu("no poller read a GPU")
    return most(found)


def _s15(repetition: Repetition) -> Number:
    costs = [ran.run.cost for ran in repetition.some()]
    found = [1 + cost[0] for cost in costs if cost is not None]
    if not found:
        raise Absent("not measured: no cell has a known cost of recording")
    return Number(sum(found) / len(found))


FINDINGS = (
    Finding(
        "S1",
        "Eager is slower than compiled, because it enters the backend more often",
        [
            Claim("the smallest ratio of time per step, eager over any other mode", _s1, ABOVE, 1.0,
                  "1.9 to 4.8 (figure 4)"),
            Claim("the smallest such ratio of transitions into the backend, per iteration",
                  _s1_entries, ABOVE, 1.0, of=ENTRIES),
        ],
        "framework",
        "The other modes are tf.function, a Session's graph, torch.compile and jax.jit. They have "
        "the same algorithm and environment, in any framework. In mode scan, the environment is a "
        "part of the compiled program, too.",
    ),
    Finding(
        "S2",
        "Autograph cuts Python's share of inference and backpropagation",
        [
            Claim("the smallest ratio of Python's share of a stage, Graph over Autograph", _s2,
                  ABOVE, 1.0, "shares fall (figure 4)", within=(INFERENCE, *_UPDATE)),
        ],
        "framework",
    ),
    Finding(
        "S3",
        "PyTorch's eager mode beats TensorFlow's, with fewer transitions",
        [
            Claim("the smallest ratio of time per step, TensorFlow over PyTorch, both eager", _s3,
                  ABOVE, 1.0, "2.3 (abstract)"),
            Claim("the smallest such ratio of transitions in inference and backpropagation, per "
                  "iteration", _s3_entries, ABOVE, 1.0, of=ENTRIES,
                  within=(INFERENCE, *_UPDATE)),
        ],
        "framework",
    ),
    Finding(
        "S4",
        "Autograph and Graph are on par, and neither always wins",
        [
            Claim("the largest difference in time per step, as a share of the faster one", _s4,
                  BELOW, 0.2, "within about 20 % (figure 4)", percent=True),
        ],
        "framework",
    ),
    Finding(
        "S5",
        "The better of Graph and Autograph beats PyTorch's eager mode",
        [
            Claim("the smallest ratio of time per step, PyTorch eager over the better of the two",
                  _s5, ABOVE, 1.0, "2.0 (figure 4)"),
        ],
        "framework",
    ),
    Finding(
        "S6",
        "GPU time is small in all frameworks",
        [
            Claim("the largest share of inference or backpropagation while the GPU works", _s6,
                  BELOW, 0.129, "at most 12.9 % (talk)", percent=True, of=SHARES),
        ],
        "framework",
        of_gpu=True,
    ),
    Finding(
        "S7",
        "The CPU spends more time in CUDA calls than the GPU in kernels",
        [
            Claim("the smallest ratio of CUDA call time to GPU time, by framework", _s7, ABOVE, 1.0,
                  "3.6 on average"),
        ],
        "framework",
        of_gpu=True,
    ),
    Finding(
        "S8",
        "Autograph adds no perceptible GPU time",
        [
            Claim("the largest ratio of GPU time per step, Autograph over Graph", _s8, BELOW, 1.1,
                  "about 1 (figure 4)"),
        ],
        "framework",
        "The bound of 10 % more is ours. The paper says imperceptible.",
        of_gpu=True,
    ),
    Finding(
        "S9",
        "Autograph inflates inference through time in the backend, not through transitions",
        [
            Claim("the smallest ratio of backend time in inference, Autograph over Graph", _s9,
                  ABOVE, 1.0, "3.2 (figure 4)", within=(INFERENCE,)),
            Claim("the same ratio for one transition", _s9_each, ABOVE, 1.0, within=(INFERENCE,)),
        ],
        "framework",
    ),
    Finding(
        "S10",
        "Autograph can inflate Python's time in simulation",
        [
            Claim("the largest ratio of Python's time in simulation, Autograph over Graph", _s10,
                  ABOVE, 1.0, "up to 2", within=(SIMULATION,)),
        ],
        "framework",
        "In the paper, the hyper-parameters of tf-agents' loop cause it. Our programs have one "
        "loop for both modes.",
    ),
    Finding(
        "S11",
        "An abstraction makes DDPG's Graph backpropagation slow",
        [
            Claim("the ratio of DDPG's time of updates, Graph over Autograph", _s11, ABOVE, 1.0,
                  "3.7 (figure 4)", within=_UPDATE),
        ],
        "framework",
        "In the paper, the abstraction is an Adam that was written in Python for MPI. Our Graph "
        "program has TensorFlow's own Adam.",
    ),
    Finding(
        "S12",
        "On-policy algorithms are at least 3.5 times more bound by simulation",
        [
            Claim("the smallest simulation share of an on-policy algorithm, over the largest share "
                  "of an off-policy one", _s12, ABOVE, 3.5, "at least 3.5; 3.4 by figure 5",
                  of=SHARES),
        ],
        "algorithm",
        "All algorithms come from Stable-Baselines3, with its own hyper-parameters.",
    ),
    Finding(
        "S13",
        "Simulation is a large bottleneck in every simulator",
        [
            Claim("the smallest share of simulation", _s13, ABOVE, 0.38,
                  "at least 38 %, 99.4 % in AirLearning (figure 7)", percent=True, of=SHARES),
        ],
        "simulator",
    ),
    Finding(
        "S14",
        "nvidia-smi reports much more than the GPU works",
        [
            Claim("the largest ratio of polled utilisation to the time in which GPU work ran", _s14,
                  ABOVE, 1.0, "100 % against 0.4 % (figure 8)"),
        ],
        "scaleup",
        of_gpu=True,
    ),
    Finding(
        "S15",
        "Without correction, profiling inflates times by 1.4 to 2.0",
        [
            Claim("the ratio of recorded to corrected time of the training loops, the mean over "
                  "cells", _s15, ABOVE, 1.4, "1.4 to 2.0 (figure 11)", of=COSTS),
        ],
        "all",
        "This finding is about the paper's profiler, not this one. If it does not hold, recording "
        "is cheaper now.",
    ),
)  # fmt: skip
