"""PyTorch notes where each operator was called, as its detection of anomalies does."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from rlscope.amounts import share
from rlscope.analysis.critical_loop import Loop
from rlscope.analysis.finding import Finding, Rule
from rlscope.analysis.function_time import of_functions
from rlscope.analysis.list_code import number_given
from rlscope.analysis.source_code import source_of

if TYPE_CHECKING:
    from rlscope.relations.trace import Trace

# What each operator calls then, in C++.
_NOTES = (r".*/torch/fx/traceback\.py:format_stack",)
_SWITCHES = ("set_detect_anomaly", "detect_anomaly")


def _find(trace: Trace, loop: Loop) -> Iterator[Finding]:
    found = of_functions(trace, loop, _NOTES)
    if found is None:
        return
    file, line = _switch(trace, {file for file, _ in found.places}) or (found.file, found.line)
    yield Finding(
        title="PyTorch's detection of anomalies takes "
        f"{share(found.time.saving_ns, loop.loop_ns)} of the loop",
        evidence=f"{found.readings} readings of the loop's stack lie where PyTorch notes the stack "
        "of an operator. Its backward also looks for NaN in each gradient.",
        evidence_sql=found.evidence_sql,
        fix="Leave out torch.autograd.set_detect_anomaly(True) and detect_anomaly().",
        no_effect="No effect where you look for the cause of a NaN: then it is needed.",
        price=found.time.part(1.1, 1.3, 1.6),
        file=file,
        line=line,
    )


def _switch(trace: Trace, files: set[str]) -> tuple[str, int] | None:
    """The line that turns it on."""
    for file in sorted(files):
        source = source_of(trace, file)
        for name in _SWITCHES:
            line = source.call_of(name)
            if line is not None and number_given(source, name) != 0:  # False turns it off
                return file, line
    return None


RULE = Rule(_find)
