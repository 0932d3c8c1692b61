"""Cells of a survey: read, refused in one line, chosen."""

from __future__ import annotations

import shlex
import sys
from importlib.util import find_spec
from pathlib import Path

import pytest

from rlscope.errors import RlscopeError
from rlscope.survey import cells, requirements
from rlscope.survey.cells import Cell

ONE = '{ name = "mine", command = "python train.py --lr 1e-3" }'


def written(folder: Path, text: str) -> Path:
    path = folder / "cells.toml"
    path.write_text(text)
    return path


def test_one_line_is_a_cell(tmp_path: Path) -> None:
    (cell,) = cells.read(written(tmp_path, f"cells = [\n  {ONE},\n]\n"))
    assert cell == Cell("mine", "python train.py --lr 1e-3")
    assert cell.arguments() == [sys.executable, "train.py", "--lr", "1e-3"]
    assert cell.experiment == (cells.OWN,)
    assert cells.from_json(cell.to_json()) == cell


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("cells = [", "is not TOML"),
        ("cels = []", "expected `cells = ["),
        ("cells = 3", "expected `cells = ["),
        ("cells = [3]", "cell 1: it is not a table"),
        ('cells = [{ name = "a" }]', "cell a: it has no command"),
        ('cells = [{ command = "x" }]', "cell 1: it has no name"),
        ('cells = [{ name = "../a", command = "x" }]', "64 letters"),
        ('cells = [{ name = "a", command = " " }]', "its command is empty"),
        ("cells = [{ name = 'a', command = \"'x\" }]", "cannot be split"),
        ('cells = [{ name = "a", command = "x", warmpu = 3 }]', "did you mean warmup?"),
        ('cells = [{ name = "a", command = "x", warmup = -1 }]', "warmup is a whole number"),
        ('cells = [{ name = "a", command = "x", warmup = true }]', "warmup is a whole number"),
        ('cells = [{ name = "a", command = "x", steps = 0 }]', "steps of an iteration"),
        ('cells = [{ name = "a", command = "x", limit = 0 }]', "limit is a number of seconds"),
        ('cells = [{ name = "a", command = "x", labels = { a = 1 } }]', "labels are texts"),
        ('cells = [{ name = "a", command = "x", experiment = "b" }]', "is a list of texts"),
        ('cells = [{ name = "a", command = "x", experiment = ["all"] }]', "none of them 'all'"),
        ('cells = [{ name = "a", command = "x", experiment = ["<b>"] }]', "64 letters"),
        (f"cells = [{ONE}, {ONE}]", "two cells are called 'mine'"),
    ],
)
def test_a_file_that_is_wrong_is_refused_in_one_line(
    tmp_path: Path, text: str, message: str
) -> None:
    with pytest.raises(RlscopeError, match=r".") as failure:
        cells.read(written(tmp_path, text))
    assert message in str(failure.value)
    assert "\n" not in str(failure.value)


def test_a_file_that_is_no_utf8_or_not_there_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "cells.toml"
    with pytest.raises(RlscopeError, match="cannot read"):
        cells.read(path)
    path.write_bytes(b"\xff\xfe")
    with pytest.raises(RlscopeError, match="is not TOML"):
        cells.read(path)


def test_an_experiment_is_chosen_by_name() -> None:
    some = [
        Cell("a", "x", ("framework", "algorithm")),
        Cell("b", "x", ("simulator",), quick=False),
        Cell("c", "x"),
    ]
    assert [cell.name for cell in cells.chosen(some, ["all"])] == ["a", "b", "c"]
    assert [cell.name for cell in cells.chosen(some, ["algorithm", "own"])] == [
        "a",
        "c",
    ]
    with pytest.raises(ValueError, match="no experiment 'x'; there are: framework, algorithm"):
        cells.chosen(some, ["x"])


def test_the_matrix_is_whole() -> None:
    matrix = cells.matrix()
    assert {"framework", "algorithm", "simulator", "scaleup"} <= set(cells.experiments(matrix))
    for cell in matrix:
        assert cell.needs, f"{cell.name} needs no library"
        assert cell.label("algorithm") and cell.label("framework") and cell.label("environment")
        python, option, module = shlex.split(cell.command)[:3]
        assert (python, option) == ("python", "-m")
        assert find_spec(module) is not None, f"there is no {module}"
    compiled = [cell for cell in matrix if cell.quick and cell.label("mode") != "eager"]
    assert len(compiled) <= 4, "a quick survey has no time for more"


def test_a_missing_library_has_a_remedy() -> None:
    cell = Cell("a", "python x.py", needs=("json", "no_such_module", "no_such"))
    assert requirements.missing(cell) == ["no_such_module", "no_such"]
    assert requirements.absence(cell) == (
        "no_such_module, no_such are not installed: pip install no_such_module no_such"
    )
    assert requirements.absence(Cell("b", "python x.py", needs=("json",))) == ""
    assert requirements.remedy(["ale_py", "cv2"]) == "pip install 'rlscope[ale]'"


def test_what_a_cell_of_the_package_needs_is_in_an_extra() -> None:
    """The extras of this package, as pyproject.toml has them."""
    text = Path(__file__).parents[2].joinpath("pyproject.toml").read_text()
    for module in {module for cell in cells.matrix() for module in cell.needs}:
        remedy = requirements.remedy([module])
        extra = remedy.removeprefix("pip install 'rlscope[").removesuffix("]'")
        assert f"\n{extra} = [" in text, remedy


def test_the_device_goes_into_the_commands_that_take_it() -> None:
    taking = Cell("a", "python a.py --device {device} --steps 9", labels={"mode": "eager"})
    other = Cell("b", "python b.py")
    on_gpu, same = cells.on_device([taking, other], "cuda")
    assert on_gpu.arguments()[1:] == ["a.py", "--device", "cuda", "--steps", "9"]
    assert on_gpu.labels == {"mode": "eager", "device": "cuda"}
    assert same == other


def test_every_program_of_the_matrix_takes_the_device() -> None:
    assert all("--device {device} " in cell.command for cell in cells.matrix())


def test_policies_are_compared_within_one_library() -> None:
    found = [cell for cell in cells.matrix() if "algorithm" in cell.experiment]
    assert {cell.label("framework") for cell in found} == {"Stable-Baselines3"}
    assert {cell.label("algorithm") for cell in found} >= {"A2C", "PPO", "DDPG", "SAC"}


def test_cells_of_the_same_task_have_iterations_of_the_same_steps() -> None:
    steps: dict[tuple[str, str], set[int | None]] = {}
    for cell in cells.matrix():
        if "framework" in cell.experiment:
            task = cell.label("algorithm"), cell.label("environment")
            steps.setdefault(task, set()).add(cell.steps)
    assert all(len(each) == 1 for each in steps.values()), steps


def test_algorithms_are_compared_by_the_step() -> None:
    """An iteration of PPO has 2,048 of them, one of SAC a single one."""
    assert all(cell.steps for cell in cells.matrix() if "algorithm" in cell.experiment)
