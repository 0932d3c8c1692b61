"""Advice on time in functions of libraries: at the line that led there, and silent elsewhere."""

from __future__ import annotations

import pytest
from support.files.loop_rows import FILE, Time, calls, found, loop_rows
from support.files.relation_rows import SECOND

from rlscope import registry

LIBRARY = "/lib/python3/site-packages"
TORCH = f"{LIBRARY}/torch"
SCIPY = f"{LIBRARY}/scipy/stats"
DISTRIBUTION = f"{TORCH}/distributions/distribution.py"
TAPE = f"{LIBRARY}/tensorflow/python/eager/backprop.py"
OPTIMIZER = f"{LIBRARY}/keras/src/optimizers/base_optimizer.py"
# Rule, operation, and a function that makes it speak.
SPEAKING = [
    ("argument_validation", "inference", (DISTRIBUTION, "Distribution.__init__")),
    ("argument_validation", "inference", (DISTRIBUTION, "Distribution._validate_sample")),
    ("optimizer_loop", "update", (f"{TORCH}/optim/adamw.py", "_single_tensor_adamw")),
    ("optimizer_loop", "update", (f"{TORCH}/optim/sgd.py", "_single_tensor_sgd")),
    ("checkpoints", "saving", (f"{TORCH}/serialization.py", "save")),
    (
        "logging_calls",
        "(none)",
        (f"{TORCH}/utils/tensorboard/writer.py", "SummaryWriter.add_scalar"),
    ),
    ("logging_calls", "update", ("/lib/python3.11/logging/__init__.py", "Logger.info")),
    ("machine_readings", "(none)", (f"{LIBRARY}/psutil/__init__.py", "Process.memory_full_info")),
    ("object_copies", "(none)", ("/lib/python3.11/copy.py", "deepcopy")),
    ("object_copies", "simulation", ("/lib/python3.11/json/__init__.py", "dumps")),
    ("repeated_reading", "(none)", (f"{LIBRARY}/numpy/lib/_npyio_impl.py", "loadtxt")),
    ("repeated_reading", "loading", (f"{TORCH}/serialization.py", "load")),
    ("repeated_reading", "(none)", (f"{LIBRARY}/pandas/io/parsers/readers.py", "read_csv")),
    ("table_rows", "simulation", (f"{LIBRARY}/pandas/core/indexing.py", "_LocIndexer.__getitem__")),
    ("library_distributions", "inference", (f"{SCIPY}/_distn_infrastructure.py", "rv_frozen.rvs")),
    ("library_distributions", "update", (f"{SCIPY}/_multivariate.py", "multivariate_normal.pdf")),
    ("state_keys", "simulation", (f"{LIBRARY}/numpy/_core/arrayprint.py", "_array_str")),
    ("state_keys", "(none)", (f"{TORCH}/_tensor_str.py", "_str")),
    ("step_statistics", "update", (f"{SCIPY}/_stats_py.py", "skew")),
    ("step_statistics", "update", (f"{LIBRARY}/numpy/lib/_function_base_impl.py", "quantile")),
    ("step_statistics", "update", (f"{LIBRARY}/numpy/lib/_histograms_impl.py", "histogram")),
    ("weight_arrays", "backprop", (f"{LIBRARY}/keras/src/layers/layer.py", "Layer.set_weights")),
    ("weight_arrays", "update", (f"{LIBRARY}/keras/engine/training.py", "Model.get_weights")),
    ("eager_calls", "inference", (f"{LIBRARY}/keras/src/layers/layer.py", "Layer.__call__")),
    ("unjitted_jax", "(none)", (f"{LIBRARY}/jax/_src/numpy/ufunc_api.py", "ufunc.__call__")),
    ("unjitted_jax", "(none)", (f"{LIBRARY}/jax/_src/array.py", "ArrayImpl.__getitem__")),
    ("unjitted_jax", "inference", (f"{LIBRARY}/jax/_src/nn/functions.py", "relu")),
    ("unjitted_jax", "inference", (f"{LIBRARY}/jax/_src/random.py", "split")),
    ("unjitted_jax", "inference", (f"{LIBRARY}/jax/_src/random/core.py", "categorical")),
    ("unjitted_jax", "inference", (f"{LIBRARY}/jax/_src/prng.py", "random_split")),
    ("eager_calls", "inference", (f"{LIBRARY}/keras/engine/base_layer.py", "Layer.__call__")),
    ("eager_calls", "backprop", (TAPE, "GradientTape.gradient")),
    ("eager_calls", "backprop", (OPTIMIZER, "BaseOptimizer.apply_gradients")),
    ("environment_makes", "(none)", (f"{LIBRARY}/gymnasium/envs/registration.py", "make")),
    ("environment_makes", "evaluation", (f"{LIBRARY}/gym/envs/registration.py", "make_vec")),
    ("environment_makes", "simulation", (f"{LIBRARY}/dm_control/suite/__init__.py", "load")),
    ("space_makes", "simulation", (f"{LIBRARY}/gymnasium/spaces/box.py", "Box.__init__")),
    ("module_walks", "inference", (f"{TORCH}/nn/modules/module.py", "Module.eval")),
    ("module_walks", "(none)", (f"{TORCH}/nn/modules/module.py", "Module.to")),
    ("integrators", "simulation", (f"{LIBRARY}/scipy/integrate/_ivp/ivp.py", "solve_ivp")),
    (
        "manager_items",
        "replay",
        ("/lib/python3.11/multiprocessing/managers.py", "BaseProxy._callmethod"),
    ),
    ("rendering", "simulation", (f"{LIBRARY}/games/world.py", "World.render")),
    ("rendering", "simulation", (f"{LIBRARY}/games/world.py", "World._paint")),
    ("rendering", "simulation", (f"{LIBRARY}/games/world.py", "draw_scene")),
    ("rendering", "simulation", (f"{LIBRARY}/matplotlib/figure.py", "Figure.draw")),
    ("plots", "(none)", (f"{LIBRARY}/matplotlib/pyplot.py", "pause")),
    ("plots", "update", (f"{LIBRARY}/seaborn/relational.py", "lineplot")),
]
# What the fix wins at most of the time in such a function, if that is more than it.
MOST = {"table_rows": 1.15, "environment_makes": 2, "space_makes": 1.1}
# What the fix wins at least of the time in such a function, if that is not most of it.
PARTS = {
    "_single_tensor_sgd": 0.6,
    "_single_tensor_rmsprop": 0.4,
    "ufunc.__call__": 0.75,
    "relu": 0.75,
    "solve_ivp": 0.8,
    "Layer.set_weights": 0.84,
    "Model.get_weights": 0.84,
}
# Functions of the same libraries that are what the rule advises, or nothing that it looks for.
SILENT = [
    ("argument_validation", "inference", (f"{TORCH}/distributions/normal.py", "Normal.sample")),
    ("optimizer_loop", "update", (f"{TORCH}/optim/adamw.py", "_fused_adamw")),
    ("optimizer_loop", "update", (f"{TORCH}/optim/rmsprop.py", "_single_tensor_rmsprop")),
    ("optimizer_loop", "update", (f"{TORCH}/optim/sgd.py", "_multi_tensor_sgd")),
    ("checkpoints", "loading", (f"{TORCH}/serialization.py", "load")),
    ("logging_calls", "update", (f"{TORCH}/distributions/normal.py", "Normal.log_prob")),
    ("logging_calls", "update", (f"{LIBRARY}/jax/_src/numpy/ufuncs.py", "log")),
    ("machine_readings", "(none)", ("/lib/python3.11/resource.py", "getrusage")),
    ("object_copies", "(none)", ("/lib/python3.11/copy.py", "copy")),
    ("object_copies", "simulation", ("/lib/python3.11/json/__init__.py", "load")),
    ("repeated_reading", "simulation", ("/lib/python3.11/json/__init__.py", "dump")),
    ("repeated_reading", "simulation", ("/lib/python3.11/json/__init__.py", "loads")),  # a message
    ("eager_calls", "compilation", (f"{LIBRARY}/keras/src/layers/layer.py", "Layer.__call__")),
    ("unjitted_jax", "update", (f"{LIBRARY}/jax/_src/traceback_util.py", "api_boundary")),
    ("picture_work", "update", (f"{LIBRARY}/torchvision/transforms/v2.py", "RandomCrop.forward")),
    ("picture_work", "simulation", (f"{LIBRARY}/scipy/ndimage/filters.py", "gaussian_filter")),
    ("repeated_reading", "(none)", (f"{LIBRARY}/numpy/lib/_npyio_impl.py", "savetxt")),
    ("table_rows", "(none)", (f"{LIBRARY}/pandas/io/parsers/readers.py", "read_csv")),
    ("step_statistics", "update", (f"{LIBRARY}/numpy/lib/_function_base_impl.py", "clip")),
    ("weight_arrays", "(none)", (f"{LIBRARY}/keras/src/layers/layer.py", "Layer.get_weights")),
    ("weight_arrays", "backprop", (f"{LIBRARY}/keras/src/layers/layer.py", "Layer.weights")),
    ("eager_calls", "inference", (f"{LIBRARY}/keras/src/layers/layer.py", "Layer.build")),
    ("eager_calls", "backprop", (TAPE, "GradientTape.watch")),
    ("unjitted_jax", "(none)", (f"{LIBRARY}/jax/_src/numpy/array_constructors.py", "asarray")),
    ("space_makes", "simulation", (f"{LIBRARY}/gymnasium/spaces/box.py", "Box.sample")),
    ("module_walks", "inference", (f"{TORCH}/nn/modules/module.py", "Module._call_impl")),
    ("module_walks", "backprop", (f"{TORCH}/nn/modules/module.py", "Module.zero_grad")),
    ("manager_items", "replay", ("/lib/python3.11/multiprocessing/managers.py", "Server.serve")),
    ("rendering", "inference", (f"{LIBRARY}/games/world.py", "World.render")),
    ("rendering", "simulation", (f"{LIBRARY}/games/world.py", "World.rendering_mode")),
    ("rendering", "simulation", (f"{LIBRARY}/games/world.py", "draw_card")),
    ("plots", "simulation", (f"{LIBRARY}/matplotlib/pyplot.py", "pause")),
    ("plots", "update", (f"{LIBRARY}/games/matplotlib.py", "plot")),
]


def rule(name: str):
    return registry.load(registry.FINDINGS, name)


@pytest.mark.parametrize(("name", "operation", "function"), SPEAKING)
def test_the_line_that_led_to_the_function_is_named(name, operation, function):
    callers = ((f"{LIBRARY}/between.py", "between"), function, (f"{LIBRARY}/deeper.py", "deeper"))
    trace = loop_rows(
        Time(operation, "framework", 3 * SECOND, 7, callers),
        Time(operation, "python", SECOND, 9, callers),
        Time("(none)", "python", SECOND, 11),
    )
    (finding,) = found(rule(name), trace)
    assert (finding.file, finding.line, finding.operation) == (FILE, 7, operation)
    price = finding.price
    assert price is not None
    part = PARTS.get(function[1], 0.85)
    most = MOST.get(name, 1)
    assert part * 4 * SECOND <= price.saving_ns <= most * 4 * SECOND
    assert 0 < price.low_ns < price.saving_ns <= price.high_ns


@pytest.mark.parametrize(("name", "operation", "function"), SILENT)
def test_other_functions_are_no_cause(name, operation, function):
    time = Time(operation, "framework", 4 * SECOND, 7, (function,))
    assert found(rule(name), loop_rows(time)) == []


@pytest.mark.parametrize(("name", "operation", "function"), SPEAKING)
def test_a_few_readings_are_no_evidence(name, operation, function):
    time = Time(operation, "python", 3 * SECOND, 7, (function,), readings=3)
    assert found(rule(name), loop_rows(time)) == []


WAITING = ("machine_readings", "manager_items", "plots", "repeated_reading")


@pytest.mark.parametrize(("name", "operation", "function"), SPEAKING)
def test_what_waits_meanwhile_is_mended_where_no_call_is_needed(name, operation, function):
    """Saving in which the loop waits for a disk is another finding. Reading data once has no such
    wait any more."""
    time = Time(operation, "wait", 3 * SECOND, 7, (function,))
    rest = Time(operation, "python", SECOND, 9)
    assert len(found(rule(name), loop_rows(time, rest))) == (name in WAITING)


def test_files_that_the_saving_function_renames_are_a_part_of_saving():
    text = (
        "def save(net):\n    torch.save(net, 'new')\n    os.replace('new', 'old')\nos.remove(a)\n"
    )
    trace = loop_rows(
        Time("saving", "python", 2 * SECOND, 2, ((f"{TORCH}/serialization.py", "save"),)),
        *(Time("(none)", "python", SECOND, line) for line in (3, 4)),
        text=text,
    )
    (finding,) = found(rule("checkpoints"), trace)
    assert finding.line == 2
    assert finding.price is not None
    assert finding.price.saving_ns == pytest.approx(0.9 * 3 * SECOND)


ASSIGN = (
    f"{LIBRARY}/tensorflow/python/ops/resource_variable_ops.py",
    "BaseResourceVariable.assign",
)
FOLLOWS = """def follow(slow, net):
    for old, new in zip(slow, net):
        value = 0.99 * old + 0.01 * new
        old.assign(value)
    print("followed")
optimizer.apply(gradients)
slow.assign(net)
"""


def test_a_loop_that_assigns_to_variables_is_named_with_all_its_lines():
    trace = loop_rows(
        Time("backprop", "framework", 2 * SECOND, 4, (ASSIGN,)),
        *(Time("backprop", "python", SECOND, line) for line in (3, 5)),
        text=FOLLOWS,
    )
    (finding,) = found(rule("variable_loop"), trace)
    assert (finding.file, finding.line, finding.operation) == (FILE, 4, "backprop")
    assert finding.price is not None
    assert finding.price.saving_ns == pytest.approx(0.86 * 3 * SECOND)


def test_the_loop_of_the_training_is_no_loop_over_variables():
    text = "for step in range(9):\n    env.step(act(state))\n    epsilon.assign(rate)\n"
    trace = loop_rows(
        Time("backprop", "framework", SECOND, 3, (ASSIGN,)),
        Time("simulation", "python", 4 * SECOND, 2),
        text=text,
    )
    assert found(rule("variable_loop"), trace) == []


@pytest.mark.parametrize(
    ("operation", "line"),
    [("backprop", 6), ("backprop", 7), ("inference", 4)],
    ids=["an optimizer", "no loop", "no update"],
)
def test_other_assignments_are_no_loop_over_variables(operation, line):
    time = Time(operation, "framework", 4 * SECOND, line, (ASSIGN,))
    assert found(rule("variable_loop"), loop_rows(time, text=FOLLOWS)) == []


def test_arithmetic_of_an_update_stays():
    """8 s of an update, of which three quarters are longer than an operator on few numbers."""
    function = (f"{TORCH}/optim/adam.py", "_single_tensor_adam")
    update = Time("update", "framework", 8 * SECOND, 7, (function,))
    small = calls("update", "torch._C:TensorBase.addcmul_", 1000, 1000 * 3000)
    (finding,) = found(rule("optimizer_loop"), loop_rows(update, native_call=[small]))
    assert finding.price is not None
    assert finding.price.saving_ns == pytest.approx(0.95 * 8 * SECOND)
    moves = calls("update", "torch._C:TensorBase.lerp_", 1000, 3 * SECOND)  # a target network
    large = calls("update", "torch._C:TensorBase.addcdiv_", 1000, 1000 * 3000 + 2 * SECOND)
    (finding,) = found(rule("optimizer_loop"), loop_rows(update, native_call=[small, moves, large]))
    assert finding.price is not None
    assert finding.price.saving_ns == pytest.approx((0.95 - 0.5 * 0.75) * 8 * SECOND)


def test_a_text_counts_as_data_where_its_function_reads_a_file():
    loads = ("/lib/python3.11/json/__init__.py", "loads")
    text = "def settings():\n    return json.loads(path.read_text())\n"
    (finding,) = found(
        rule("repeated_reading"),
        loop_rows(Time("simulation", "python", 4 * SECOND, 2, (loads,)), text=text),
    )
    assert (finding.file, finding.line) == (FILE, 2)


def test_what_writes_beside_is_no_part_of_reading():
    text = "def train():\n    row = json.load(file)\n    log.write(row)\n"
    load = ("/lib/python3.11/json/__init__.py", "load")
    trace = loop_rows(
        Time("(none)", "python", 2 * SECOND, 2, (load,)),
        Time("(none)", "python", 3 * SECOND, 3),
        text=text,
    )
    (finding,) = found(rule("repeated_reading"), trace)
    assert finding.price is not None
    assert finding.price.saving_ns == 2 * SECOND


def test_opening_the_file_is_a_part_of_reading():
    text = "def settings():\n    with open(path) as file:\n        return json.load(open(path))\n"
    load = ("/lib/python3.11/json/__init__.py", "load")
    trace = loop_rows(
        Time("simulation", "python", 2 * SECOND, 3, (load,)),
        Time("simulation", "python", SECOND, 2),
        text=text,
    )
    (finding,) = found(rule("repeated_reading"), trace)
    assert finding.price is not None
    assert finding.price.saving_ns == 3 * SECOND


@pytest.mark.parametrize(("made_s", "price_s"), [(2, 5), (4, 3)])
def test_what_is_made_of_data_is_a_part_of_reading_that_takes_longer(made_s, price_s):
    text = "def opponent(name):\n    net = Policy()\n    net.fill(torch.load(name))\n"
    trace = loop_rows(
        Time("inference", "framework", made_s * SECOND, 2),
        Time("loading", "python", 3 * SECOND, 3, ((f"{TORCH}/serialization.py", "load"),)),
        text=text,
    )
    (finding,) = found(rule("repeated_reading"), trace)
    assert finding.price is not None
    assert finding.price.saving_ns == pytest.approx(price_s * SECOND)


@pytest.mark.parametrize("tenths", [9, 90], ids=["a little", "what the program is for"])
def test_not_all_evaluations_are_worth_a_word(tenths):
    time = Time("evaluation", "python", tenths * SECOND // 10, 5)
    assert found(rule("evaluations"), loop_rows(time)) == []


def test_evaluations_are_named_from_a_tenth_of_the_loop_on():
    (finding,) = found(rule("evaluations"), loop_rows(Time("evaluation", "python", 2 * SECOND, 5)))
    assert (finding.file, finding.line, finding.operation) == (FILE, 5, "evaluation")
    assert finding.price is not None
    assert finding.price.saving_ns == pytest.approx(0.9 * 2 * SECOND)


def test_layers_of_keras_on_pytorch_cannot_be_compiled_so():
    layer = (f"{LIBRARY}/keras/src/layers/layer.py", "Layer.__call__")
    torch = (f"{LIBRARY}/keras/src/backend/torch/numpy.py", "matmul")
    time = Time("inference", "framework", 4 * SECOND, 7, (layer, torch))
    assert found(rule("eager_calls"), loop_rows(time)) == []


def test_foreach_wins_something_on_a_gpu():
    rmsprop = (f"{TORCH}/optim/rmsprop.py", "_single_tensor_rmsprop")
    trace = loop_rows(
        Time("update", "framework", 4 * SECOND, 7, (rmsprop,)),
        Time("update", "cuda_api", SECOND, 8),
    )
    (finding,) = found(rule("optimizer_loop"), trace)
    assert "foreach=True" in finding.fix


def test_a_function_that_calls_itself_counts_once():
    render = (f"{LIBRARY}/games/world.py", "World.render")
    (finding,) = found(
        rule("rendering"), loop_rows(Time("simulation", "python", 2 * SECOND, 7, (render, render)))
    )
    assert finding.price is not None
    assert finding.price.saving_ns == 2 * SECOND


def test_what_python_makes_ready_for_a_text_is_a_part_of_it():
    """The lists that json is given, but no time of other lines."""
    dumps = ("/lib/python3.11/json/__init__.py", "dumps")
    trace = loop_rows(
        Time("(none)", "python", 2 * SECOND, 7, (dumps,)),
        Time("(none)", "python", SECOND, 7),
        Time("(none)", "python", SECOND, 8),
    )
    (finding,) = found(rule("object_copies"), trace)
    assert finding.price is not None
    assert finding.price.saving_ns == 3 * SECOND


def test_a_network_is_copied_through_its_dictionary():
    """At one line, with copy.deepcopy, which is no copy of objects then."""
    load = (f"{TORCH}/nn/modules/module.py", "Module.load_state_dict")
    deepcopy = ("/lib/python3.11/copy.py", "deepcopy")
    trace = loop_rows(
        Time("(none)", "framework", SECOND, 1, (load,)),
        Time("(none)", "python", 2 * SECOND, 1, (deepcopy,)),
        Time("(none)", "framework", SECOND, 2, (load,)),
        text="slow.load_state_dict(copy.deepcopy(net.state_dict()))\nnet.load_state_dict(new)\n",
    )
    (finding,) = found(rule("state_copies"), trace)
    assert finding.line == 1
    assert finding.price is not None
    assert finding.price.saving_ns == pytest.approx(2.7 * SECOND)
    assert found(rule("object_copies"), trace) == []


def test_reading_a_table_is_no_use_of_its_rows():
    inside = ((f"{LIBRARY}/pandas/core/frame.py", "DataFrame.__init__"),)
    time = Time("(none)", "python", 3 * SECOND, 1, inside)
    assert found(rule("table_rows"), loop_rows(time, text="pandas.read_csv(file)\n")) == []


@pytest.mark.parametrize(("rest_s", "won"), [(3, 1.15 * 4), (0.2, 4.2)])
def test_tables_slow_no_more_down_than_their_operations(rest_s, won):
    inside = ((f"{LIBRARY}/pandas/core/indexing.py", "_LocIndexer.__getitem__"),)
    trace = loop_rows(
        Time("(none)", "python", 4 * SECOND, 5, inside),
        Time("(none)", "python", round(rest_s * SECOND), 6),
    )
    (finding,) = found(rule("table_rows"), trace)
    assert finding.price is not None
    assert finding.price.saving_ns == pytest.approx(won * SECOND)


STACK = (
    (f"{TORCH}/fx/traceback.py", "format_stack"),
    ("/lib/python3.11/traceback.py", "walk_stack"),
)


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ("torch.autograd.set_detect_anomaly(True)\nnet(x)\n", 1),
        ("def f():\n    with torch.autograd.detect_anomaly():\n        net(x)\n", 2),
        ("torch.autograd.set_detect_anomaly(False)\n", 7),
        ("DEBUG = False\ntorch.autograd.set_detect_anomaly(DEBUG)\n", 7),
        ("", 7),  # another file turned it on
    ],
)
def test_the_line_that_looks_for_anomalies_is_named(text, line):
    """Notes of stacks cost less than all that PyTorch does for it."""
    trace = loop_rows(
        Time("backprop", "python", SECOND, 7, STACK),
        Time("inference", "python", SECOND, 7, STACK),
        text=text,
    )
    (finding,) = found(rule("anomaly_detection"), trace)
    assert (finding.line, finding.operation) == (line, None)
    assert finding.price is not None
    assert finding.price.saving_ns == pytest.approx(2.6 * SECOND)


NORMAL = "MultivariateNormal(mean, {})"


@pytest.mark.parametrize(
    ("text", "is_found"),
    [
        (NORMAL.format("torch.diag_embed(var)"), True),
        (f"wide = torch.diag(var)\n{NORMAL.format('wide')}", True),
        (NORMAL.format("scale_tril=factor"), False),
    ],
)
def test_a_diagonal_needs_no_matrix(text, is_found):
    inside = ((f"{TORCH}/distributions/multivariate_normal.py", "MultivariateNormal.log_prob"),)
    lines = "\n".join(f"    {line}" for line in text.splitlines())
    trace = loop_rows(
        Time("inference", "framework", 2 * SECOND, 7, inside), text=f"def act():\n{lines}\n"
    )
    places = [finding.line for finding in found(rule("dense_normal"), trace)]
    assert places == ([1 + len(text.splitlines())] if is_found else [])


@pytest.mark.parametrize(
    ("text", "is_library"), [("model.learn(9)\n", True), ("opt.step()\n", False)]
)
def test_where_a_library_makes_the_optimizer_the_fix_says_how_to_reach_it(text, is_library):
    inside = ((f"{TORCH}/optim/adam.py", "_single_tensor_adam"),)
    trace = loop_rows(Time("update", "framework", 2 * SECOND, 1, inside), text=text)
    (finding,) = found(rule("optimizer_loop"), trace)
    assert ("policy_kwargs" in finding.fix) == is_library


@pytest.mark.parametrize(
    ("library", "threads", "beside_s"),
    [
        ("torch/utils/tensorboard/writer.py", 2, 1),
        ("torch/utils/tensorboard/writer.py", 3, 0),  # which of them writes?
        ("wandb/run.py", 2, 0),
    ],
)
def test_the_thread_of_a_writer_takes_time_from_the_loop_too(library, threads, beside_s):
    trace = loop_rows(
        Time("update", "python", 3 * SECOND, 4, ((f"{LIBRARY}/{library}", "log"),)),
        thread=[
            {"process_id": 0, "thread_id": n, "start_ns": n, "is_python": True}
            | {"running_ns": (1 if n else 9) * SECOND}
            for n in range(threads)
        ],
    )
    (finding,) = found(rule("logging_calls"), trace)
    assert finding.price is not None
    assert finding.price.saving_ns == pytest.approx(0.9 * (3 + beside_s) * SECOND)
