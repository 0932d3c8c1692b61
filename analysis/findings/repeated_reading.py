"""The loop reads files, and makes arrays or objects of them, again and again."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from rlscope.amounts import plural, share
from rlscope.analysis import verdicts
from rlscope.analysis.critical_loop import Loop
from rlscope.analysis.finding import Finding, Rule
from rlscope.analysis.function_time import (
    calls_beside,
    of_functions,
    time_of_function,
    time_of_functions,
)
from rlscope.analysis.source_code import source_of

if TYPE_CHECKING:
    from rlscope.relations.trace import Trace

# What makes arrays, tables or objects of a file: one library is one row.
_FILES = (
    r".*/numpy/lib/_?npyio(_impl)?\.py:(load|loadtxt|genfromtxt|fromregex|NpzFile\..*)",
    r".*/torch/serialization\.py:load",
    r".*/json/__init__\.py:load",
    r".*/yaml/__init__\.py:(safe_|full_|unsafe_)?load(_all)?",
    r".*/pandas/io/.*:read_.*",
    r".*/polars/io/.*:(read|scan)_.*",
    r".*/pyarrow/parquet/core\.py:read_table",
    r".*/safetensors/(torch|numpy)\.py:load(_file)?",
    r".*/h5py/_hl/dataset\.py:Dataset\.__getitem__",
    r".*/joblib/numpy_pickle\.py:load",
    r".*/PIL/Image\.py:open",
)
# What makes objects of a text, which may be a message as well.
_TEXTS = (r".*/json/__init__\.py:loads", r".*/json/decoder\.py:.*")
# What handles a file that is read.
_READS = frozenset("close open read read_bytes read_text readline readlines seek".split())


def _find(trace: Trace, loop: Loop) -> Iterator[Finding]:
    found = of_functions(trace, loop, (*_FILES, *_TEXTS), waits=True)
    if found is None:
        return
    files = of_functions(trace, loop, _FILES, waits=True)
    places = files.places if files is not None else frozenset()
    places |= {place for place in found.places if _opens(trace, *place)}
    if not places:
        return
    if (found.file, found.line) not in places:
        found = files
    if found is None:
        return
    time = time_of_functions(trace, loop, (*_FILES, *_TEXTS), places, waits=True)
    place = found.file, found.line
    time = time.plus(calls_beside(trace, loop, place, _READS, but=places))
    whole_ns = time_of_function(trace, loop, place)
    if verdicts.is_most(time.saving_ns, whole_ns):  # the rest makes something of the data
        time = time.times(max(whole_ns / time.saving_ns, 1)).within(loop.loop_ns)
    yield Finding(
        title=f"reading data takes {share(time.saving_ns, loop.loop_ns)} of the loop",
        evidence=f"{found.readings} readings of the loop's stack lie in functions that read files, "
        f"called from {plural(len(places), 'line')} of the program. What a function does that "
        "mostly reads is counted, too.",
        evidence_sql=found.evidence_sql,
        fix="Read the data once, before the loop, and keep objects, arrays or tensors of it.",
        no_effect="No effect where each call reads something else, and memory cannot hold all of "
        "it.",
        price=time.part(0.7, 1.0, 1.0),
        operation=found.operation,
        file=found.file,
        line=found.line,
    )


def _opens(trace: Trace, file: str, line: int) -> bool:
    """Whether the function around a line opens a file."""
    source = source_of(trace, file)
    around = source.function_at(line) or (line, line)
    return any(source.calls_any(each, _READS) for each in range(around[0], around[1] + 1))


RULE = Rule(_find, of_lines=True)
