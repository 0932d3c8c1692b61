"""The sweep of one process as rows of the relations."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from rlscope import _trace
from rlscope.costs.record_costs import AUTOMATIC, NATIVE, OPERATION
from rlscope.relations.groups import group_of
from rlscope.relations.rows import blocked, stacks
from rlscope.relations.rows.breakdowns import Breakdowns
from rlscope.relations.rows.operations import NONE, NOT_RECORDED, UNLINKED, sources_of_rows

# The sweep's transitions inside the complete iterations that rates count.
_IN_ITERATIONS = "count_in_iterations"

_UNLINKED = -1


class ProcessRows:
    """The sweep of one process with numbers replaced by the texts and ids of the relations."""

    def __init__(
        self,
        process_id: int,
        swept: Mapping[str, Any],
        operation_ids: Any,
        own_folders: Sequence[str] = (),
        cuda: Mapping[str, Any] | None = None,
    ) -> None:
        """
        Args:
            own_folders: absolute paths of what is the program's own code, too.
            cuda: what `_trace.Directory.cuda_relations` found.
        """
        self.process_id = process_id
        self._own_folders = own_folders
        self._swept = swept
        self._cuda = cuda
        self._operation_ids = operation_ids
        self._texts = Texts(swept)

    def relations(self) -> dict[str, dict[str, Any]]:
        """The relations in layout PROCESS, but for instances and those of Breakdowns."""
        return {
            "timeline": self._texts.of(self._swept["timeline"]),
            "iteration": self._swept["iteration"],
            "progress": self._swept["progress"],
            "phase": self._phases(),
            "transition": self._transitions(),
            "native_call": self._texts.of(self._swept["native_call"]),
            "blocked": self._blocked(),
        }

    def breakdowns(self, thread_ids: Any, *, work_is_known: bool) -> Breakdowns:
        """The breakdowns, before they are corrected."""
        of_threads = [
            self._swept[name] for name in ("breakdown_by_thread", "bookkeeping_by_thread")
        ]
        by_thread = [
            {**columns, "thread_id": thread_ids(columns["thread"])} for columns in of_threads
        ]
        return Breakdowns(
            self.process_id,
            of_process=(self._swept["breakdown"], self._swept["bookkeeping"]),
            of_threads=(by_thread[0], by_thread[1]),
            by_stack=self._by_stack(),
            to_texts=self._texts.of,
            work_is_known=work_is_known,
        )

    def waits(self, thread_ids: Any) -> dict[str, Any]:
        """What Waits.add takes."""
        found = self._texts.of(self._swept["wait"])
        return {**found, "thread_id": thread_ids(found.pop("thread"))}

    def recorded_ns(self) -> int:
        """Time in recording windows."""
        return int(np.sum(self._swept["recording_window"]["duration_ns"]))

    def repeated(self) -> dict[str, list[int]]:
        """How often the code behind records ran, by kind: all annotated operations share theirs,
        so do all automatic ones, and each native function has its own."""
        found = self._swept["native_call"]
        calls: Counter[str] = Counter()
        for function, count in zip(found["function"], found["calls"].tolist(), strict=True):
            calls[function] += count
        operations = self._swept["operation"]
        instances: Counter[str] = Counter()
        for source, count in zip(
            operations["source"], operations["instances"].tolist(), strict=True
        ):
            instances[OPERATION if source == "explicit" else AUTOMATIC] += count
        return {
            NATIVE: [*calls.values()],
            **{kind: [count] for kind, count in instances.items() if count},
        }

    def operations(self) -> list[tuple[str, str, int]]:
        """Path, source and id in the run of each operation."""
        swept = self._swept["operation"]
        rows = zip(swept["path"], swept["source"], self._operation_ids.tolist(), strict=True)
        return [row for row in rows if row[-1] >= 0]

    def groups_of_loop(self) -> set[str]:
        """Groups of the operations in the training loop of the process."""
        swept = self._swept["breakdown"]
        paths = {
            self._texts.paths[operation]
            for stage, operation in zip(swept["stage"], swept["operation"].tolist(), strict=True)
            if stage == "loop"
        }
        return {group_of(path) for path in paths - {NONE, NOT_RECORDED}}

    def _blocked(self) -> dict[str, Any]:
        found = blocked.columns(self._swept["breakdown"], self._swept["state_reading"])
        return self._texts.of_lists(found)

    def _by_stack(self) -> Callable[[Mapping[str, Any]], dict[str, dict[str, Any]]]:
        """The relations of stacks, to be made when costs are known."""
        read = {
            "state_reading": self._swept["state_reading"],
            "stack": stacks.to_hold(self._swept["stack"]),
        }
        sites = stacks.to_hold(self._cuda["stack"]) if self._cuda is not None else None
        folders, launches, texts = self._own_folders, self._launches(), self._texts

        def relations(breakdown: Mapping[str, Any]) -> dict[str, dict[str, Any]]:
            made = stacks.relations({**read, "breakdown": breakdown}, folders, sites, launches)
            times = {name: texts.of_lists(made[name]) for name in ("stack_time", "source_line")}
            return {**made, **times}

        return relations

    def _launches(self) -> stacks.Launches:
        """Their operations as numbers of the sweep, or of UNLINKED."""
        if self._cuda is None:
            return []
        numbers = {text: number for number, text in enumerate(_operations(self._swept))}
        texts = _operations(self._cuda)
        names = ("stack", "stage", "operation", "calls", "gpu_ns")
        columns = (blocked.as_list(self._cuda["call_site"][name]) for name in names)
        return [
            (stack, stage, numbers[texts[operation]] if operation >= 0 else _UNLINKED, *times)
            for stack, stage, operation, *times in zip(*columns, strict=True)
        ]

    def _phases(self) -> dict[str, Any]:
        columns = self._swept["phase"]
        return {
            **columns,
            "name": self._texts.phase_names[np.asarray(columns["name"], dtype=np.int64)],
        }

    def _transitions(self) -> dict[str, Any]:
        columns = self._texts.of(self._swept["transition"])
        return with_rates(columns, self._swept["iteration"])


class Texts:
    """Numbers of operations, phases and layers of one process as texts."""

    def __init__(self, swept: Mapping[str, Any]) -> None:
        # The last one is number -1: work whose launch is not in the trace.
        self.paths = np.array([*swept["operation"]["path"], UNLINKED], dtype=object)
        self.phase_names = np.array(swept["phase_name"]["name"], dtype=object)
        self._sources = np.array([*sources_of_rows(swept["operation"]), None], dtype=object)
        self._layers = np.array(_trace.LAYERS, dtype=object)

    def of(self, columns: Mapping[str, Any]) -> dict[str, Any]:
        """The columns, those with such numbers as texts, and the operations' sources."""
        texts = {
            "operation": self.paths,
            "phase": self.phase_names,
            "layer": self._layers,
            "from_layer": self._layers,
            "to_layer": self._layers,
        }
        named = {
            name: texts[name][values] if name in texts else values
            for name, values in columns.items()
        }
        return {**named, "source": self._sources[columns["operation"]]}

    def of_lists(self, columns: Mapping[str, list[Any]]) -> dict[str, Any]:
        """The same of columns that are no arrays."""
        numbers = {name: np.array(columns[name], dtype=np.int64) for name in ("operation", "layer")}
        return self.of({**columns, **numbers})


def _operations(found: Mapping[str, Any]) -> list[tuple[str, str]]:
    """What tells operations from each other, by number."""
    rows = found["operation"]
    return list(zip(rows["path"], rows["source"], strict=True))


def with_rates(transition: Mapping[str, Any], iteration: Mapping[str, Any]) -> dict[str, Any]:
    """The columns of transitions with `per_iteration`: the count in complete iterations divided by
    their number, None without any. A process that has iterations of its own has rates by those
    alone."""
    source = "explicit" if "explicit" in iteration["source"] else "automatic"
    rows = zip(iteration["source"], iteration["complete"], strict=True)
    complete = sum(bool(whole) for of, whole in rows if of == source)
    counted = {name: values for name, values in transition.items() if name != _IN_ITERATIONS}
    counts = transition[_IN_ITERATIONS].tolist()
    rates = [count / complete if complete else None for count in counts]
    return {**counted, "per_iteration": rates}
