"""What to mend in a run: the rows of relation `finding`, each with its evidence and its lines."""

from __future__ import annotations

import shlex
from itertools import islice
from typing import Any

from rlscope.agents import quoted
from rlscope.agents.answer import Answer, answer, opened
from rlscope.agents.folder import Folder
from rlscope.analysis import advice
from rlscope.report import answer as advised
from rlscope.report.answer import Shown

_SENTENCES = frozenset(("title", "evidence", "fix", "no_effect"))


def findings(folder: Folder, run: str, *, limit: int) -> Answer:
    """The best `limit` findings; none and no `answer`: nothing can be said of the run."""
    notes: list[str] = []
    said_run = quoted.unmarked(run)
    with opened(folder.run(run), notes) as trace:
        found = advice.advice(trace)
        said = advised.read(trace)
        pairs = zip(found.findings, said.findings, strict=False)
        shown = [_finding(row, each) for row, each in islice(pairs, limit)]
        return answer(
            {
                "run": quoted.text(said_run),
                "answer": quoted.text(said.sentence, quoted.SENTENCE) if said.sentence else None,
                "loop": None if found.loop is None else vars(found.loop),
                "findings": shown,
                "more": len(said.findings) - len(shown),
                "failed_rules": [quoted.text(each, quoted.SENTENCE) for each in said.failures],
                "notes": [quoted.text(each, quoted.SENTENCE) for each in notes],
                "query": shlex.join(["rlscope", "advise", said_run, "--format", "json"]),
            }
        )


def _finding(row: dict[str, Any], said: Shown) -> dict[str, Any]:
    return {
        **{
            key: quoted.value(found, quoted.SENTENCE if key in _SENTENCES else quoted.NAME)
            for key, found in row.items()
            if key != "evidence_sql"
        },
        "price": said.price,
        "code": [
            {"line": line.number, "text": quoted.text(line.text), "is_found": line.is_found}
            for line in said.code
        ],
        "query": quoted.lines(row["evidence_sql"]),
    }
