"""Advice on embeddings whose updates go through all of their rows."""

from __future__ import annotations

import pytest
from support.files.loop_rows import FILE, Time, calls, found_by, loop_rows
from support.files.relation_rows import SECOND

MODULE = ("/lib/torch/nn/modules/module.py", "Module._call_impl")
EMBEDDING = ("/lib/torch/nn/modules/sparse.py", "Embedding.forward")
BACKWARD = ("/lib/torch/_tensor.py", "Tensor.backward")
OPTIMIZER = "/lib/torch/optim/optimizer.py"
UPDATE = (OPTIMIZER, "Optimizer.profile_hook_step.<locals>.wrapper")
ZEROS = (OPTIMIZER, "Optimizer.zero_grad")


def learning(*, inside=(MODULE, EMBEDDING), forward_s: float = 1.0, call_us: int = 100):
    """Forwards, 3 s of backwards, 3 s of updates, and 1 s of zeros."""
    return loop_rows(
        Time("backprop", "framework", int(forward_s * SECOND), 4, inside),
        Time("backprop", "framework", 3 * SECOND, 5, (BACKWARD,)),
        Time("backprop", "framework", 3 * SECOND, 6, (UPDATE,)),
        Time("backprop", "framework", SECOND, 7, (ZEROS,)),
        native_call=[
            calls("backprop", "torch:_fused_adam_", 10, 10 * call_us * 1000),
            calls("backprop", "torch:_foreach_add_", 10, SECOND),
        ],
    )


def test_updates_of_all_rows_are_named_where_the_embedding_is_asked():
    (finding,) = found_by("dense_embeddings", learning())
    assert (finding.file, finding.line, finding.operation) == (FILE, 4, "backprop")
    assert finding.price is not None
    assert finding.price.saving_ns == pytest.approx(0.9 * (3 + 1 + 3 - 2 * 1) * SECOND)


@pytest.mark.parametrize("other", [{"inside": (MODULE,)}, {"forward_s": 1.4}, {"call_us": 99}])
def test_other_networks_and_shorter_updates_are_none(other):
    assert found_by("dense_embeddings", learning(**other)) == []
