"""Imports, evaluations, saving and loading: what a program does apart from its loop."""

from __future__ import annotations

from pathlib import Path

from support.process.automatic_programs import ENVIRONMENT, iterations, names
from support.process.installed import need
from support.process.recorded_child import record

from rlscope.opening import load


def imports(directory: str, modules: dict[str, str]) -> str:
    """The begin of a script that can import these modules, and has imported a known package, which
    is one import."""
    folder = Path(directory).parent
    for name, text in {"pettingzoo": "", **modules}.items():
        (folder / f"{name}.py").write_text(text)
    begin = (
        "import threading, rlscope.auto, rlscope as rls\nrlscope.auto.begin()\nimport pettingzoo\n"
    )
    return f"import sys\nsys.path.insert(0, {str(folder)!r})\n{begin}"


def test_an_import_is_one_operation_with_those_inside(directory: str) -> None:
    begin = imports(directory, {"outer": "import inner", "inner": ""})
    assert names(record(directory, begin + "import outer\nimport inner, outer\n")) == ["import"] * 2


def test_imports_count_from_that_of_a_known_package(directory: str) -> None:
    modules = {"before": "", "package": "import pettingzoo, behind", "behind": ""}
    begin = imports(directory, modules).replace("import pettingzoo\n", "import before, package\n")
    assert names(record(directory, begin)) == ["import"] * 2  # pettingzoo, behind


def test_a_process_without_a_known_package_records_no_import(directory: str) -> None:
    begin = imports(directory, {"outer": ""}).replace("import pettingzoo\n", "import outer\n")
    assert record(directory, begin).threads() == []


def test_imports_do_not_count_from_a_module_that_only_tells_roles(directory: str) -> None:
    known = "assert 'multiprocessing.util' not in sys.modules\nimport multiprocessing.util, outer\n"
    begin = imports(directory, {"outer": ""}).replace("import pettingzoo\n", known)
    assert record(directory, begin).threads() == []


def test_no_import_counts_without_automatic_operations(directory: str) -> None:
    begin = imports(directory, {"outer": ""}).replace("auto.begin()", "auto.begin(False)")
    assert record(directory, begin + "import multiprocessing.util, outer\n").threads() == []


def test_a_module_of_c_code_is_an_import(directory: str) -> None:
    begin = imports(directory, {})
    script = "assert '_zoneinfo' not in sys.modules\nimport _zoneinfo\n"
    found = names(record(directory, begin + script))
    assert found == ["import"] * 3  # it is loaded, then executed


def test_a_module_that_cannot_be_imported_ends_its_import(directory: str) -> None:
    begin = imports(directory, {"broken": "1 / 0", "whole": ""})
    script = "try:\n    import broken\nexcept ZeroDivisionError:\n    import whole\n"
    assert names(record(directory, begin + script)) == ["import"] * 3


def test_imports_count_before_the_first_explicit_operation(directory: str) -> None:
    begin = imports(directory, {"early": "", "late": ""})
    script = "import early\nwith rls.operation('mine'):\n    pass\nimport late\n"
    recorded = record(directory, begin + script)
    assert names(recorded) == ["import"] * 2
    assert recorded.operations() == ["+mine", "-mine"]
    with load(directory) as trace:
        rows = trace.sql("SELECT path, source FROM operation ORDER BY path").to_dicts()
    assert [(row["path"], row["source"]) for row in rows] == [
        ("import", "automatic"),
        ("mine", "explicit"),
    ]


def test_an_import_belongs_to_the_thread_that_imports(directory: str) -> None:
    begin = imports(directory, {"worker": ""})
    script = "thread = threading.Thread(target=__import__, args=['worker'])\nthread.start()\n"
    recorded = record(directory, begin + script + "thread.join()\n")
    tracks = [names(recorded, thread) for thread in recorded.threads()]
    assert tracks == [["import"], ["import"]]


def test_an_explicit_operation_inside_an_import_ends_it(directory: str) -> None:
    module = "import rlscope as rls\nwith rls.operation('mine'):\n    pass\n"
    recorded = record(directory, imports(directory, {"trains": module}) + "import trains\n")
    assert names(recorded) == ["import"] * 2
    with load(directory) as trace:
        (_, (ended,)) = trace.sql(
            "SELECT ended FROM operation_instance JOIN operation USING (operation_id)"
            " WHERE path = 'import' ORDER BY start_ns"
        )
    assert ended == "exit"


def test_a_program_that_trains_while_it_is_imported_is_seen(directory: str) -> None:
    program = ENVIRONMENT.partition("import gymnasium\n")[2]
    program += "env.reset()\nforward()\nimport lazy\nenv.step(0)\nimport later\n"
    begin = imports(directory, {"train": "import gymnasium\n" + program, "lazy": "", "later": ""})
    recorded = record(directory, begin + "import train\n")
    found = names(recorded)
    assert found[-4:] == ["simulation", "inference", "simulation", "import"]
    assert set(found[:-4]) == {"import"}
    assert iterations(recorded) == [1]


def test_what_is_inside_an_evaluation_belongs_to_it(directory: str) -> None:
    evaluation = """
def evaluate():
    env.reset(); forward(); env.step(0)
    import lazy
    inner()
inner = runtime.watch("saving", lambda: optimize())
evaluate = runtime.watch("evaluation", evaluate)
env.reset(); forward(); env.step(0)
forward(); backward(); optimize()
evaluate()
forward(); evaluate(); env.step(0)
runtime.watch("forward", lambda: evaluate())()
"""
    begin = imports(directory, {"lazy": ""})
    recorded = record(directory, begin + ENVIRONMENT + evaluation)
    found = [name for name in names(recorded) if name != "import"]
    assert found == [
        *("simulation", "inference", "simulation", "backprop", "evaluation"),
        *("inference", "evaluation", "inference", "simulation"),
        "inference",
    ]
    assert iterations(recorded) == [1, 1]  # none begins in an evaluation


def test_what_makes_the_batch_of_an_update_is_an_operation(directory: str) -> None:
    """With its forwards, which RLlib makes with gradients that nothing uses."""
    update = """
batch = runtime.watch("update", lambda: (forward(), "batch"))
env.reset(); forward(); env.step(0)
batch(); forward(); backward(); optimize()
batch(); forward(); backward(); optimize()
forward(); env.step(0)
"""
    recorded = record(directory, imports(directory, {}) + ENVIRONMENT + update)
    found = [name for name in names(recorded) if name != "import"]
    assert found == [
        *("simulation", "inference", "simulation"),
        *("update", "backprop", "update", "backprop"),
        *("inference", "simulation"),
    ]
    assert iterations(recorded) == [1, 1]


def test_a_pipeline_from_environment_to_module_is_a_conversion(directory: str) -> None:
    """Whatever it is given; and only where the forward that comes next is inference."""
    pipeline = """
connect = runtime.watch("connector", lambda episodes: dict(episodes))
env.reset()
connect({}); forward(); env.step(0)
connect({}); forward(); env.step(0)
connect({})
forward(); backward(); optimize()
"""
    recorded = record(directory, imports(directory, {}) + ENVIRONMENT + pipeline)
    found = [name for name in names(recorded) if name != "import"]
    acts = ("inference", "inference", "simulation")
    assert found == ["simulation", *acts, *acts, "backprop"]


_STABLE_BASELINES3 = """
import warnings
warnings.simplefilter("ignore")  # of the libraries about each other
import torch, gymnasium
from stable_baselines3 import PPO
from stable_baselines3.common.callbacks import EvalCallback
torch.set_num_threads(1)
model = PPO("MlpPolicy", "CartPole-v1", n_steps=16, batch_size=16, n_epochs=2, seed=1)
evaluates = EvalCallback(
    gymnasium.make("CartPole-v1"), eval_freq=8, n_eval_episodes=1, verbose=0, warn=False
)
model.learn(32, callback=evaluates)
model.save({path!r})
PPO.load({path!r})
torch.save(model.policy.state_dict(), {path!r} + ".pt")
torch.load({path!r} + ".pt")
"""


def test_a_library_evaluates_saves_and_loads(directory: str) -> None:
    need("stable_baselines3")
    begin = imports(directory, {})
    script = _STABLE_BASELINES3.format(path=str(Path(directory).parent / "model"))
    found = names(record(directory, begin + script, timeout=300))
    counts = {name: found.count(name) for name in set(found) - {"import"}}
    assert counts == {
        # As without a callback, in test_automatic_libraries.py. A draw and the buffer's call that
        # follows it are one stretch of replay here.
        "simulation": 33,
        "inference": 32,
        "advantage": 2,
        "backprop": 4,
        "replay": 36,
        "evaluation": 4,
        "saving": 2,
        "loading": 2,
    }


_LOADS = """
import warnings
warnings.simplefilter("ignore")
import time, torch
from stable_baselines3 import DQN
torch.set_num_threads(1)

class Mine(DQN):
    @classmethod
    def load(cls, *arguments, **options):
        return super().load(*arguments, **options)

    def _setup_model(self):  # makes networks, and the buffer
        super()._setup_model()
        time.sleep(0.3)

Mine("MlpPolicy", "CartPole-v1", buffer_size=1, device="cpu").save({path!r})
env = Mine("MlpPolicy", "CartPole-v1", buffer_size=1).get_env()
began = time.monotonic_ns()
Mine.load({path!r}, env=env)
print(time.monotonic_ns() - began)
"""


def test_a_watched_function_of_pickle_can_be_pickled(directory: str) -> None:
    """By name, as in what a program sends to its workers."""
    begin = "import rlscope.auto\nrlscope.auto.begin()\nimport pickle\n"
    check = "assert pickle.loads(pickle.dumps(pickle.dump)) is pickle.dump\n"
    watched = "pickle.dump(1, open('/dev/null', 'wb'))\n"
    assert names(record(directory, begin + check + watched)) == ["saving"]


def test_loading_a_model_lasts_until_the_model_is_there(directory: str) -> None:
    """With the networks that it makes; and a load that calls another one is one operation."""
    need("stable_baselines3")
    begin = imports(directory, {})
    script = _LOADS.format(path=str(Path(directory).parent / "model"))
    stopwatch = int(record(directory, begin + script, timeout=300).output)
    with load(directory) as trace:
        rows = trace.sql(
            "SELECT duration_ns FROM operation_instance JOIN operation USING (operation_id)"
            " WHERE path = 'loading'"
        ).to_dicts()
    (duration,) = (row["duration_ns"] for row in rows)
    assert 300_000_000 < duration <= stopwatch
