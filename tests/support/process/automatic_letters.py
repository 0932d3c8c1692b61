"""Programs by the calls that count for automatic operations, each call a letter.

    kinds   S  Env.step            B  backward            N  no-grad block
            Z  Env.step of another environment
            F  module forward      O  optimizer step      E  block that enables gradients
            Q  forward of another module
            T  forward of one and the same module, which is given one item more than at the T before
            C  call of a compiled function      U  call with which a library trains a model
            c  call of one that returns nothing
            Y  call with which a library asks a model    L  making of a random key
            J  compilation                        P  a phase of one before the last
            V  evaluation, saving, loading        I  execution of a module
            A  sample of a space of actions       D  draw of some out of many
            G  taking a batch out of a buffer     H  change of a tensor in place
            K  conversion of the observation      W  conversion of something else
            M  conversion of what K, M or W returned last; each F is given that
            X  conversion of what forwards returned

Times are numbers of events: call number 0 is entered at 0, and so on, each enter and each exit one.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field


@dataclass
class Call:
    """One call, or one block."""

    kind: str
    inside: list[Call] = field(default_factory=list)


Program = Sequence[Call]


def program(text: str) -> list[Call]:
    """A program by letters: calls in parentheses are inside the one before them.

    >>> program("N(F)S")
    [Call(kind='N', inside=[Call(kind='F', inside=[])]), Call(kind='S', inside=[])]
    """
    stack: list[list[Call]] = [[]]
    for letter in text.replace(" ", ""):
        if letter == "(":
            stack.append(stack[-1][-1].inside)
        elif letter == ")":
            stack.pop()
        else:
            stack[-1].append(Call(letter))
    return stack[0]


def events(calls: Program) -> int:
    """How many enters and exits a program has."""
    return sum(2 + events(call.inside) for call in calls)
