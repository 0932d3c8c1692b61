"""Advice on calls of Keras that make data sets."""

from __future__ import annotations

import pytest
from support.files.loop_rows import FILE, Time, found, loop_rows
from support.files.relation_rows import SECOND

from rlscope import registry

LIBRARY = "/lib/python3/site-packages"
TRAINER = f"{LIBRARY}/keras/src/backend/tensorflow/trainer.py"
TRAINER_ON_BATCH = (TRAINER, "TensorFlowTrainer.train_on_batch")
PREDICT = (TRAINER, "TensorFlowTrainer.predict")
EACH_BATCH = (TRAINER, "TensorFlowTrainer._make_function.<locals>.function")
HANDLER = (
    f"{LIBRARY}/keras/src/utils/traceback_utils.py",
    "filter_traceback.<locals>.error_handler",
)


def rule(name: str):
    return registry.load(registry.FINDINGS, name)


def predicting(beside_ns: int, steps_ns: int, text: str = ""):
    return loop_rows(
        Time("backprop", "framework", beside_ns, 7, (HANDLER, PREDICT)),
        Time("backprop", "framework", SECOND, 7, (HANDLER,)),
        Time("backprop", "framework", steps_ns, 7, (HANDLER, PREDICT, EACH_BATCH)),
        Time("inference", "framework", SECOND, 9, (HANDLER,)),  # a model that is called
        text=text,
    )


def test_data_sets_of_keras_for_single_batches_are_named():
    (finding,) = found(rule("data_set_calls"), predicting(3 * SECOND, SECOND))
    assert (finding.file, finding.line, finding.operation) == (FILE, 7, "backprop")
    assert finding.price is not None
    assert finding.price.saving_ns == pytest.approx(0.97 * 4 * SECOND)


def test_batches_of_an_older_keras_are_compiled_functions():
    function = (
        f"{LIBRARY}/tensorflow/python/eager/polymorphic_function/polymorphic_function.py",
        "Function.__call__",
    )
    trace = loop_rows(
        Time("backprop", "framework", SECOND, 7, (HANDLER, PREDICT)),
        Time("backprop", "framework", 4 * SECOND, 7, (HANDLER, PREDICT, function)),
    )
    assert found(rule("data_set_calls"), trace) == []


def test_data_sets_of_many_batches_are_what_they_are_for():
    assert found(rule("data_set_calls"), predicting(SECOND, 4 * SECOND)) == []


ROWS = """\
for state, action in batch:
    goal = net.predict(state)
    goal[0][action] = 1
    # one by one
    if rare:
        pass
    net.fit(state, goal)
step()
"""


def test_rows_that_keras_is_given_one_by_one_could_be_a_batch():
    """Then the batches themselves are fewer, too."""
    (finding,) = found(rule("data_set_calls"), predicting(3 * SECOND, SECOND, ROWS))
    assert (finding.file, finding.line) == (FILE, 7)
    assert finding.title.startswith("Keras is called for one row after the other")
    assert finding.price is not None
    assert finding.price.saving_ns == pytest.approx(0.97 * 5 * SECOND)


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("for state, action in batch", "for epoch in range(9)"),  # the same again
        ("for state, action in batch", "for state, action in batches"),
        ("for state, action in batch", "for state in np.array_split(rows, 8)"),
        ("for state, action in batch", "for net, state in nets"),
        ("net.fit(state", "net.fit(states[i:i + 8] + state"),  # minibatches
        ("for state, action in batch", "while state"),
    ],
)
def test_other_loops_are_not_over_rows(old, new):
    (finding,) = found(
        rule("data_set_calls"), predicting(3 * SECOND, SECOND, ROWS.replace(old, new))
    )
    assert finding.title.startswith("Keras makes data sets")


def test_a_loop_that_steps_an_environment_has_no_rows():
    trace = loop_rows(
        Time("backprop", "framework", 4 * SECOND, 7, (HANDLER, PREDICT)),
        Time("simulation", "python", SECOND, 5),
        text=ROWS,
    )
    (finding,) = found(rule("data_set_calls"), trace)
    assert finding.title.startswith("Keras makes data sets")


CALLED = """\
def replay(batch):
    for state, action in batch:
        goal = model(state)
        model.train_on_batch(state, goal)
    return model(other)
"""


@pytest.mark.parametrize(
    ("text", "lines"),
    [(CALLED, [3]), (CALLED.replace("for state, action in batch", "while state"), [])],
)
def test_models_that_are_called_for_one_row_after_the_other_are_named(text, lines):
    layer = (f"{LIBRARY}/keras/src/layers/layer.py", "Layer.__call__")
    trace = loop_rows(
        Time("backprop", "framework", 3 * SECOND, 3, (HANDLER, layer)),
        Time("backprop", "framework", SECOND, 4, (TRAINER_ON_BATCH,)),
        Time("backprop", "framework", SECOND, 5, (HANDLER, layer)),  # in no loop
        text=text,
    )
    findings = found(rule("data_set_calls"), trace)
    assert [each.line for each in findings] == lines
    for each in findings:
        assert each.price is not None
        assert each.price.saving_ns == pytest.approx(0.97 * 4 * SECOND)
