"""What `rlscope summary` says of a run: sentences, and the tables that they are made of."""

from __future__ import annotations

from rlscope.agents import quoted
from rlscope.agents.answer import Answer, answer, asked, opened
from rlscope.agents.folder import Folder
from rlscope.report import answer as advised
from rlscope.report import headline

_STATES, _PROCESSES, _LOSSES = 20, 4, 5


def summary(folder: Folder, run: str) -> Answer:
    """The answer, where the time goes, and operations, iterations and losses as tables."""
    notes: list[str] = []
    with opened(folder.run(run), notes) as trace:
        said = headline.read(trace)
        first = advised.read(trace, most=0).sentence
        warnings = [*said.first, *(each.text for each in said.details if each.warning)]
        return answer(
            {
                "run": quoted.text(quoted.unmarked(run)),
                "what": quoted.text(said.run),
                "answer": quoted.text(first, quoted.SENTENCE) if first else None,
                "headline": quoted.text(said.sentence, quoted.SENTENCE),
                "warnings": [quoted.text(each, quoted.SENTENCE) for each in warnings],
                "details": [
                    quoted.text(each.text, quoted.SENTENCE)
                    for each in said.details
                    if not each.warning and not each.minor
                ],
                "operations": asked(trace, "loop_layer", rows=_STATES),
                "iterations": asked(trace, "iteration_summary", processes=_PROCESSES),
                "losses": asked(trace, "loss_summary", rows=_LOSSES),
                "notes": [quoted.text(each, quoted.SENTENCE) for each in notes],
            }
        )
