"""Numbers of a program's options, by its text and its command line."""

from __future__ import annotations

import ast

import pytest

from rlscope.analysis.list_code import number_given, passes_of
from rlscope.analysis.program_options import option_number
from rlscope.analysis.source_code import Source

PARSER = 'parser.add_argument("-n", "--num-envs", type=int, default=8)\n'
CONFIG = "class Args:\n    seed: int = 1\n    num_envs: int = 8\n"


@pytest.mark.parametrize("text", [PARSER, CONFIG, "class Args:\n    num_envs = 8\n"])
@pytest.mark.parametrize(
    ("command", "number"),
    [
        ("", 8),
        ("python train.py", 8),
        ("python train.py --num-envs 4", 4),
        ("python train.py --num_envs=4 --seed 3", 4),
        ("python train.py --args.num-envs 4", 4),
        ("python train.py --num-envs many", None),
        ("python train.py --num-envs", None),
        ("python 'train.py", 8),  # no command line
    ],
)
def test_the_command_line_comes_before_the_default(text: str, command: str, number: int | None):
    assert option_number(Source(ast.parse(text), command), "num_envs") == number


@pytest.mark.parametrize(
    "text",
    [
        "",
        'parser.add_argument("--num-envs", type=int)',
        'parser.add_argument("--num-envs", default=None)',
        'parser.add_argument("--num-envs", default=True)',
        'parser.add_argument("--envs", default=8)',
        'parser.add_argument("num_envs", default=8)',  # a place, and no option
        PARSER + "class Args:\n    num_envs: int = 4\n",
    ],
)
def test_options_of_which_the_text_does_not_say_one_number_are_not_known(text: str):
    assert option_number(Source(ast.parse(text)), "num_envs") is None


def test_a_number_may_be_computed_of_others():
    text = "SIDE = 8\nCELLS = SIDE * SIDE - 1\nfor each in range(CELLS + 1):\n    f()"
    assert passes_of(Source(ast.parse(text)), 4) == 64
    assert passes_of(Source(ast.parse(text.replace("8", "read()"))), 4) is None


def test_an_object_is_no_number_that_a_method_is_given():
    text = "class Maze:\n    def near(self):\n        return [f(x) for x in range(self)]\n"
    assert passes_of(Source(ast.parse(f"{text}Maze().near()")), 3) is None


def test_an_option_counts_passes_and_threads():
    text = (
        f"{CONFIG}torch.set_num_threads(args.num_envs)\nfor each in range(args.num_envs):\n    f()"
    )
    source = Source(ast.parse(text), "python train.py --num-envs 6")
    assert number_given(source, "set_num_threads") == 6
    assert passes_of(source, 6) == 6
    assert passes_of(Source(ast.parse(f"args.num_envs = 3\n{text}")), 7) == 3
