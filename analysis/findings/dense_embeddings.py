"""Each update goes through all rows of a large embedding, of which a batch asks for a few."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from rlscope.amounts import duration, share
from rlscope.analysis import learning_verdicts, statement, training_lines
from rlscope.analysis.critical_loop import Loop
from rlscope.analysis.finding import Finding, Rule
from rlscope.analysis.function_time import of_functions
from rlscope.analysis.prices import Price
from rlscope.analysis.training_lines import time_of

if TYPE_CHECKING:
    from rlscope.relations.trace import Trace

_EMBEDDINGS = (r".*/torch/nn/modules/sparse\.py:Embedding(Bag)?\.forward",)
# A backward without large gradients takes about twice as long as its forward.
_OF_FORWARD = 2


def _find(trace: Trace, loop: Loop) -> Iterator[Finding]:
    learning = training_lines.asked(trace, loop, _EMBEDDINGS)["operations"]
    embedding = of_functions(trace, loop, _EMBEDDINGS, learning)
    updates = training_lines.direct(training_lines.optimizer_lines(trace, loop))
    if embedding is None or not updates:
        return
    forward = time_of(training_lines.direct(training_lines.forward_lines(trace, loop)))
    update = time_of(updates)
    asked = {"process_id": loop.process_id, "operations": learning}
    (call,) = statement.run(trace, "findings/update_call", **asked).to_dicts()
    if not learning_verdicts.are_updates_dense(
        update.saving_ns, forward.saving_ns, call["mean_ns"]
    ):
        return
    backwards = training_lines.direct(training_lines.backward_lines(trace, loop))
    beyond_ns = time_of(backwards).saving_ns - _OF_FORWARD * forward.saving_ns if backwards else 0
    won = update.plus(Price(max(beyond_ns, 0), 0, max(beyond_ns, 0)))
    yield Finding(
        title="updates that go through all rows of an embedding take "
        f"{share(won.saving_ns, loop.loop_ns)} of the loop",
        evidence=f"The network has an embedding. One operator of the optimizer takes "
        f"{duration(call['mean_ns'])}. The optimizer takes "
        f"{share(update.saving_ns, loop.loop_ns)} of the loop, and forwards take "
        f"{share(forward.saving_ns, loop.loop_ns)}.",
        evidence_sql=training_lines.shown(trace, loop),
        fix="Make it nn.Embedding(..., sparse=True), with torch.optim.SparseAdam for its weights.",
        no_effect="Little effect where a batch asks for most rows.",
        price=won.part(0.6, 0.9, 1.0).within(loop.loop_ns),
        operation=updates[0]["operation"],
        file=embedding.file,
        line=embedding.line,
    )


RULE = Rule(_find)
