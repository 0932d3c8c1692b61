"""A network is given the state of another one through dictionaries, again and again."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from rlscope.amounts import plural, share
from rlscope.analysis.critical_loop import Loop
from rlscope.analysis.finding import Finding, Rule
from rlscope.analysis.function_time import of_functions, time_of_functions
from rlscope.analysis.source_code import Source

if TYPE_CHECKING:
    from rlscope.relations.trace import Trace

_DICTIONARIES = (r".*/torch/nn/modules/module\.py:Module\.(load_)?state_dict",)
_COPIES = (r".*/copy\.py:deepcopy",)


def _find(trace: Trace, loop: Loop) -> Iterator[Finding]:
    found = of_functions(trace, loop, (*_DICTIONARIES, *_COPIES), where=Source.copies_state)
    if found is None:
        return
    copies = time_of_functions(trace, loop, _COPIES, found.places)
    dictionaries = time_of_functions(trace, loop, _DICTIONARIES, found.places)
    yield Finding(
        title="copying a network through its dictionary takes "
        f"{share(found.time.saving_ns, loop.loop_ns)} of the loop",
        evidence=f"{found.readings} readings of the loop's stack lie in state_dict, "
        f"load_state_dict and copy.deepcopy, called from {plural(len(found.places), 'line')} of "
        "the program.",
        evidence_sql=found.evidence_sql,
        fix="Copy the tensors in place, all at once: torch._foreach_copy_(list("
        "target.parameters()), list(net.parameters())), under torch.no_grad().",
        no_effect="Little effect where tensors are large, and none where the dictionary is kept.",
        price=dictionaries.part(0.3, 0.7, 0.85).plus(copies.part(0.85, 1.0, 1.0)),
        operation=found.operation,
        file=found.file,
        line=found.line,
    )


RULE = Rule(_find, of_lines=True)
