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
    """Of one library, so that nothing but the algorithm differs."""
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
        "Eager is slower than compiled, as it crosses into the backend more often",
        [
            Claim("the smallest time per step of eager over any other mode", _s1, ABOVE, 1.0,
                  "1.9 to 4.8 (figure 4)"),
            Claim("the smallest such ratio of transitions into the backend, per iteration",
                  _s1_entries, ABOVE, 1.0, of=ENTRIES),
        ],
        "framework",
        "Other modes: tf.function, a Session's graph, torch.compile, jax.jit, of the same "
        "algorithm and environment in any framework. In mode scan the environment is a part of "
        "the compiled program, too.",
    ),
    Finding(
        "S2",
        "Autograph cuts Python's share of inference and backpropagation",
        [
            Claim("the smallest Python share of a stage in Graph, over that in Autograph", _s2,
                  ABOVE, 1.0, "shares fall (figure 4)", within=(INFERENCE, *_UPDATE)),
        ],
        "framework",
    ),
    Finding(
        "S3",
        "PyTorch's eager mode beats TensorFlow's, by fewer transitions",
        [
            Claim("the smallest time per step of TensorFlow over PyTorch, both eager", _s3, ABOVE,
                  1.0, "2.3 (abstract)"),
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
            Claim("the largest difference in time per step, of the faster one", _s4, BELOW, 0.2,
                  "within about 20 % (figure 4)", percent=True),
        ],
        "framework",
    ),
    Finding(
        "S5",
        "The better of Graph and Autograph beats PyTorch's eager mode",
        [
            Claim("the smallest time per step of PyTorch eager over the better of the two", _s5,
                  ABOVE, 1.0, "2.0 (figure 4)"),
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
            Claim("the smallest CUDA call time over GPU time, of a framework", _s7, ABOVE, 1.0,
                  "3.6 on average"),
        ],
        "framework",
        of_gpu=True,
    ),
    Finding(
        "S8",
        "Autograph adds no perceptible GPU time",
        [
            Claim("the largest GPU time per step of Autograph over Graph", _s8, BELOW, 1.1,
                  "about 1 (figure 4)"),
        ],
        "framework",
        "The bound of 10 % more is ours: the paper says imperceptible.",
        of_gpu=True,
    ),
    Finding(
        "S9",
        "Autograph inflates inference by time in the backend, not by transitions",
        [
            Claim("the smallest backend time of inference in Autograph, over Graph", _s9, ABOVE,
                  1.0, "3.2 (figure 4)", within=(INFERENCE,)),
            Claim("the same of one transition", _s9_each, ABOVE, 1.0, within=(INFERENCE,)),
        ],
        "framework",
    ),
    Finding(
        "S10",
        "Autograph can inflate Python's time in simulation",
        [
            Claim("the largest Python time of simulation in Autograph, over Graph", _s10, ABOVE,
                  1.0, "up to 2", within=(SIMULATION,)),
        ],
        "framework",
        "In the paper by the hyper-parameters of tf-agents' loop; our programs have one loop for "
        "both modes.",
    ),
    Finding(
        "S11",
        "DDPG's Graph backpropagation is slow by an abstraction",
        [
            Claim("time of updates of DDPG in Graph, over Autograph", _s11, ABOVE, 1.0,
                  "3.7 (figure 4)", within=_UPDATE),
        ],
        "framework",
        "In the paper by an Adam that was written in Python for MPI; our Graph program has "
        "TensorFlow's own.",
    ),
    Finding(
        "S12",
        "On-policy algorithms are at least 3.5 times more bound by simulation",
        [
            Claim("the smallest simulation share of an on-policy algorithm, over the largest of an "
                  "off-policy one", _s12, ABOVE, 3.5, "at least 3.5; 3.4 by figure 5", of=SHARES),
        ],
        "algorithm",
        "All algorithms are those of Stable-Baselines3, with its own hyper-parameters.",
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
        "nvidia-smi says much more than the GPU works",
        [
            Claim("the largest polled utilisation over the time in which GPU work ran", _s14, ABOVE,
                  1.0, "100 % against 0.4 % (figure 8)"),
        ],
        "scaleup",
        of_gpu=True,
    ),
    Finding(
        "S15",
        "Without correction, profiling inflates times by 1.4 to 2.0",
        [
            Claim("recorded over corrected time of the training loops, mean over the cells", _s15,
                  ABOVE, 1.4, "1.4 to 2.0 (figure 11)", of=COSTS),
        ],
        "all",
        "The paper's profiler, not this one: where it does not hold, recording is cheaper now.",
    ),
)  # fmt: skip
