"""Answers of steps, and the JSON lines that keep them: one a step, as soon as it has ended."""

from __future__ import annotations

import json
import os
import time
import traceback
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from gpu_runs import Bench, Failure, Figures, Skip

STATUSES = ("PASS", "FAIL", "SKIP")


@dataclass
class Answer:
    """What a step found."""

    step: str
    status: str
    seconds: float
    reason: str = ""
    figures: Figures = field(default_factory=dict)

    def row(self) -> dict[str, Any]:
        """For JSON; dataclasses.asdict() takes a Counter apart wrongly."""
        return vars(self)


def find_answer(step: str, run: Callable[[Bench], Figures], bench: Bench) -> Answer:
    """Runs a step; whatever it raises is its answer."""
    begin = time.monotonic()
    status, reason, figures = "PASS", "", {}
    try:
        figures = run(bench)
    except Skip as skip:
        status, reason = "SKIP", str(skip)
    except Failure as failure:
        status, reason, figures = "FAIL", str(failure), failure.figures
    except Exception as error:
        traceback.print_exc()
        status, reason = "FAIL", f"{type(error).__name__}: {error}"
    return Answer(step, status, round(time.monotonic() - begin, 1), reason, figures)


def append(file: Path, answer: Answer) -> None:
    """One line, on the disk when this returns: what comes after it may end the machine's lease."""
    with open(file, "a") as stream:
        stream.write(json.dumps(answer.row(), default=str) + "\n")
        stream.flush()
        os.fsync(stream.fileno())


def read(files: Iterable[Path]) -> list[Answer]:
    """Answers of earlier calls; a line that was cut off is left out."""
    lines = [line for file in files for line in file.read_text().splitlines()]
    return list(filter(None, map(_parsed, lines)))


def _parsed(line: str) -> Answer | None:
    try:
        return Answer(**json.loads(line))
    except (ValueError, TypeError):
        return None


def finished(answers: Iterable[Answer]) -> set[str]:
    """Steps that need not be run again: the last answer of each counts."""
    last = {answer.step: answer.status for answer in answers}
    return {step for step, status in last.items() if status == "PASS"}
