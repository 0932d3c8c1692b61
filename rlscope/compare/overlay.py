"""Several runs beside each other, each a row: seeds, commits, settings."""

from __future__ import annotations

import os
import shlex
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import count

import numpy as np

from rlscope.analysis.operations import BETWEEN, OUTSIDE
from rlscope.compare import comparison, environments, findings, iterations
from rlscope.compare.measured import Measured
from rlscope.compare.readings import Values

_QUARTILES = (0.25, 0.5, 0.75)


@dataclass(frozen=True)
class Spread:
    """Quartiles of an iteration's time, in ns."""

    low: float
    median: float
    high: float


@dataclass(frozen=True)
class Overlay:
    """Runs in the order in which they were named, and what is beside each other."""

    runs: Sequence[Measured]
    names: Sequence[str]
    """Of the runs: no two are the same."""
    arguments: Sequence[str]
    """Of each run, those that not all runs have."""
    facts: Sequence[tuple[str, Sequence[str]]]
    """Kind -> value of each run, where they differ; the program is none."""
    warnings: Sequence[str]
    loops: Sequence[Spread | None]
    """None: the run has no complete iteration."""
    operations: Sequence[tuple[str, Sequence[Spread | None]]]
    """Own time of an iteration in each operation, the longest first; None: the run lacks it."""
    findings: Sequence[tuple[str, Sequence[float | None]]]
    """Titles, and what each run's is worth; None: the run has no such finding."""


def of(runs: Sequence[Measured]) -> Overlay:
    """The runs beside each other."""
    arguments = [_arguments(run) for run in runs]
    return Overlay(
        runs,
        _names([run.directory for run in runs]),
        [shlex.join(_own(each, arguments)) for each in arguments],
        _facts(runs),
        comparison.warnings(runs),
        [_spread(iterations.loop_series(run)) for run in runs],
        _operations(runs),
        findings.of_runs(runs),
    )


def _names(directories: Sequence[str]) -> list[str]:
    """The last part of each path; of more than one run, more parts, or a number."""
    parts = [os.path.abspath(each).split(os.sep) for each in directories]
    for length in range(1, max(map(len, parts)) + 1):
        found = [os.sep.join(each[-length:]) for each in parts]
        if len(set(found)) == len(found):
            return found
    return [f"{name} ({number})" for name, number in zip(directories, count(1), strict=False)]


def _arguments(run: Measured) -> list[str]:
    """The words of its command after what it runs."""
    command = run.facts.get("program", "")
    try:
        words = shlex.split(command)
    except ValueError:
        words = command.split()
    script = environments.script_of(command)
    names = [os.path.basename(each) for each in words]
    return words[names.index(script) + 1 :] if script in names else words


def _own(words: Sequence[str], every: Sequence[Sequence[str]]) -> list[str]:
    """Words that some other run has fewer of, each with the option that it is the value of."""
    counts, common = Counter(words), Counter(words)
    for each in every:
        common &= Counter(each)
    own = [counts[word] > common[word] for word in words]
    return [
        word
        for place, word in enumerate(words)
        if own[place] or (word.startswith("-") and any(own[place + 1 : place + 2]))
    ]


def _facts(runs: Sequence[Measured]) -> list[tuple[str, list[str]]]:
    differing = environments.differing(runs, [])
    return [
        (fact.kind, [run.facts.get(fact.kind, environments.ABSENT) for run in runs])
        for fact in differing
        if fact.kind != "program"
    ]


def _spread(series: Values) -> Spread | None:
    return Spread(*map(float, np.quantile(series, _QUARTILES))) if series.size else None


def _operations(runs: Sequence[Measured]) -> list[tuple[str, list[Spread | None]]]:
    found = [
        (
            BETWEEN if path == OUTSIDE else path,
            [_spread(iterations.operation_series(run, path)) for run in runs],
        )
        for path in iterations.paths(run for run in runs if run.series)
    ]
    return sorted(found, key=lambda each: -max(own.median if own else 0.0 for own in each[1]))
