"""The command line of a workload: one option for each field of its dataclass Args.

    @dataclass
    class Args:
        num_envs: Count = 8
        \"\"\"environments that step together\"\"\"
        vector: Literal["sync", "async"] = "sync"
        \"\"\"how they step\"\"\"
        annotate: bool = True
        \"\"\"annotate operations for rlscope\"\"\"

    args = parse_args(Args, "PPO on CartPole")    # --num-envs 4 --vector async --no-annotate

The string under a field is the help of its option. A value that cannot be right is one line on
stderr and exit code 2.
"""

import argparse
import ast
import inspect
import math
import textwrap
from collections.abc import Callable
from dataclasses import Field, fields
from typing import Annotated, Any, Literal, NoReturn, TypeVar, get_args, get_origin

Args = TypeVar("Args")

Count = Annotated[int, "at least 1"]
Device = Annotated[str, "a device of PyTorch that is there"]


class _Parser(argparse.ArgumentParser):
    def error(self, message: str) -> NoReturn:
        self.exit(2, f"{self.prog}: {message} (--help lists the options)\n")


def parse_args(kind: type[Args], description: str, argv: list[str] | None = None) -> Args:
    """The Args that a command line asks for: --total-timesteps 5000, --no-annotate."""
    parser = _Parser(
        description=description,
        formatter_class=argparse.ArgumentDefaultsHelpFormatter,
        allow_abbrev=False,
    )
    meanings = field_docstrings(kind)
    for field in fields(kind):  # type: ignore[arg-type]
        option = "--" + field.name.replace("_", "-")
        parser.add_argument(
            option, default=field.default, help=meanings[field.name], **_reading(field)
        )
    return kind(**vars(parser.parse_args(argv)))


def field_docstrings(owner: type) -> dict[str, str]:
    """The string under each field of a dataclass, which Python itself throws away."""
    meanings: dict[str, str] = {}
    for base in reversed(owner.__mro__[:-1]):
        (definition,) = ast.parse(textwrap.dedent(inspect.getsource(base))).body
        assert isinstance(definition, ast.ClassDef)
        for field, below in zip(definition.body, definition.body[1:], strict=False):
            if isinstance(field, ast.AnnAssign) and isinstance(below, ast.Expr):
                assert isinstance(field.target, ast.Name)
                meanings[field.target.id] = ast.literal_eval(below.value)
    return meanings


def _reading(field: Field[Any]) -> dict[str, Any]:
    """How argparse reads the text that is given for a field."""
    if isinstance(field.default, bool):
        return {"action": argparse.BooleanOptionalAction}
    if get_origin(field.type) is Literal:
        return {"type": str, "choices": get_args(field.type)}
    if field.type == Device:
        return {"type": _device}
    if isinstance(field.default, str):
        return {"type": str}
    return {"type": _number(isinstance(field.default, int), 1 if field.type == Count else 0)}


def _number(whole: bool, least: int) -> Callable[[str], float]:
    def read(text: str) -> float:
        try:
            value = int(text) if whole else float(text)
        except ValueError:
            value = math.nan
        if not least <= value < math.inf:
            expected = "a whole number" if whole else "a number"
            raise argparse.ArgumentTypeError(f"{text!r} is not {expected}, at least {least}")
        return value

    return read


def _device(text: str) -> str:
    import torch

    try:
        torch.zeros(1, device=text).item()
    except (AssertionError, NotImplementedError, RuntimeError) as error:
        reason = str(error).partition("\n")[0]
        raise argparse.ArgumentTypeError(f"{text!r} cannot be used: {reason}") from None
    return text
