"""The rules of automatic operations, applied with the whole run in sight.

Where the recorder must write before it knows, this reads on: calls become tokens
(automatic_tokens.py), and a token's name is decided by those that follow.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import takewhile

from support.process.automatic_letters import Program, events
from support.process.automatic_tokens import Token, Tokens

NOTHING, INFERENCE, BACKPROP, SIMULATION = "", "inference", "backprop", "simulation"
TARGET, ADVANTAGE = "target", "advantage"
GENERATION, REFERENCE = "generation", "reference"
UPDATE, COMPILATION = "update", "compilation"
APART, IMPORT, REPLAY = "evaluation", "import", "replay"


def names(calls: Program, *, environment: bool = True) -> list[str]:
    """The name of the track from each event to the next one; the last entry is what remains.

    environment: whether the process has stepped one.
    """
    track = [NOTHING] * events(calls)
    tokens = Tokens(calls)
    named = {UPDATE: tokens.whole, APART: tokens.apart, REPLAY: tokens.batches,
             IMPORT: tokens.imports, COMPILATION: tokens.compilations}  # fmt: skip
    apart = ((start, end, name) for name, parts in named.items() for start, end in parts)
    found = ((start, end, APART) for start, end in evaluations(tokens))
    for start, end, name in (*intervals(tokens, environment), *apart, *found):
        track[start:end] = [name] * (end - start)
    return track


def evaluations(tokens: Tokens) -> Iterator[tuple[int, int]]:
    """(start, end) of each stretch of S in one environment, if the thread comes from the other one,
    goes back to it without an update, and learns from that one only."""
    steps = [token for token in tokens.found if token.kind in "SBO"]
    keys = [(token.kind == "S", token.is_elsewhere) for token in steps]
    position = 0
    while position < len(steps):
        end = position + 1
        while end < len(steps) and keys[end] == keys[position]:
            end += 1
        first, last = steps[position].start, steps[end - 1].start
        acts = any(first < call < last for call in tokens.policy_calls)
        is_back = end < len(steps) and keys[end] == (True, not keys[position][1])
        if acts and is_back and _learns_from_the_other(steps[:position], steps[position]):
            yield first, steps[end - 1].end
        position = end


def _learns_from_the_other(before: Sequence[Token], step: Token) -> bool:
    """Whether four updates or more in a row came from the environment that the last S before this
    one is of, one of them from it alone, and none at all from that of this one."""
    fed: list[tuple[bool, bool]] = []  # of each update: the environment, and whether it was alone
    last: bool | None = None
    is_alone = True
    is_fed = False
    for token in before:
        if token.kind == "S":
            is_alone &= last in (None, token.is_elsewhere)
            last, is_fed = token.is_elsewhere, False
        elif last is not None and not is_fed:
            fed.append((last, is_alone))
            is_alone = is_fed = True
    in_a_row = list(takewhile(lambda update: update[0] == last, reversed(fed)))
    is_foreign = step.kind == "S" and last not in (None, step.is_elsewhere)
    learned = {environment for environment, _ in fed}
    alone = any(alone for _, alone in in_a_row)
    return is_foreign and len(in_a_row) >= 4 and alone and step.is_elsewhere not in learned


Interval = tuple[int, int, str]
"""Start, end and name."""


def intervals(tokens: Tokens, environment: bool) -> Iterator[Interval]:
    """Every part of the track that has a name."""
    yield from _Reading(tokens, environment).intervals()


class _Reading:
    """What is known of a thread up to a token. Each kind of token has a method, which gives what
    the token names."""

    def __init__(self, tokens: Tokens, environment: bool) -> None:
        self.tokens: Sequence[Token] = tokens.found
        self.changes = tokens.changes
        self.imports = [start for start, _ in tokens.imports]
        self.environment = environment
        self.position = 0  # of the next token
        self.waiting: list[Token] = []  # forwards whose name is open
        self.drawn: Token | None = None  # the draw of a batch, of which an update may follow
        self.chosen: int | None = None  # when an action was chosen, and no update has followed
        self.converted: list[Token] = []  # conversions that no forward has followed, before that
        self.output: int | None = None  # the end of the last X that no forward has followed
        self.trained: set[str] = set()
        self.trains = False
        self.generated = False  # since the last S and O
        self.updated = False  # since the last S
        self.acts_first = False
        # No forward was between the last update's S and its B; before the first one, those that
        # acted had gradients.
        self.learns_as_acted = self.has_learned = False
        self.prepared: int | None = None  # since when such a thread has had only conversions

    def intervals(self) -> Iterator[Interval]:
        parts = {"F": self.forward, "A": self.choice, "X": self.conversion_of_result,
                 "D": self.draw, "T": self.text, "S": self.step, "E": self.test,
                 **dict.fromkeys("KMLW", self.conversion)}  # fmt: skip
        while self.position < len(self.tokens):
            token = self.tokens[self.position]
            self.position += 1
            trains = token.kind == "B" or any(each.has_backward for each in self.waiting)
            yield from parts.get(token.kind, self.update if trains else self.lone_step)(token)
        yield from _themselves(self.waiting)

    def before(self) -> Sequence[Token]:
        return self.tokens[: self.position - 1]

    def end_cycle(self) -> None:
        """After an S, a B or an O."""
        self.waiting, self.converted = [], []
        self.chosen = self.drawn = self.output = None

    def forward(self, token: Token) -> Iterator[Interval]:
        chose = self.waiting and self.output is not None and not token.in_step
        is_last = not self.environment and not token.may_go_on
        if chose and (self.acts_first or is_last):
            yield from self.acted(self.output)
        self.prepared = None
        if not self.waiting and not token.is_given:
            self.converted = _proven(self.converted)
        self.output = token.end if token.has_output else None
        frozen = _are_frozen(token, self.trained)
        if not (self.generated and self.trains and token.is_aside and token.ends):
            self.waiting.append(token)
            return
        start = token.start
        for is_frozen, end in zip(frozen, token.ends, strict=False):
            yield start, end, REFERENCE if is_frozen else BACKPROP
            start = end
        if token.is_left:
            yield start, token.end, REFERENCE if frozen[-1] else BACKPROP
            start = token.end
        self.waiting.append(replace(token, end=start, has_backward=False, is_named=True))
        if not token.is_left:
            self.waiting.append(replace(token, start=start))

    def acted(self, end: int) -> Iterator[Interval]:
        """What waits for a name is inference: an action was chosen."""
        start = self.waiting[0].start if self.chosen is None else self.chosen
        if any(each.kind in "SO" for each in self.before()):
            yield from _open(self.waiting, start, end, INFERENCE)
        else:
            yield from _themselves(self.waiting)
        yield from _for_forward(self.converted, start)
        self.waiting, self.converted = [], []
        self.chosen = self.output = None

    def test(self, token: Token) -> Iterator[Interval]:
        """What waits for a name tested an update."""
        end = token.start if self.output is None else self.output
        yield from _open(self.waiting, self.waiting[0].start, end, BACKPROP)
        self.waiting, self.output = [], None

    def choice(self, token: Token) -> Iterator[Interval]:
        self.chosen = token.start
        self.drawn = self.output = self.prepared = None
        self.converted = _proven(self.converted)
        return iter(())

    def conversion_of_result(self, token: Token) -> Iterator[Interval]:
        self.output = token.end
        return iter(())

    def draw(self, token: Token) -> Iterator[Interval]:
        if self.waiting:  # of a thread that acts before it learns
            yield from self.acted(token.start if self.output is None else self.output)
        self.drawn, self.prepared = token, None
        has_key = any(each.kind == "L" for each in self.converted)
        self.converted = [] if has_key else _proven(self.converted)

    def text(self, token: Token) -> Iterator[Interval]:
        self.trained |= {kind for _, kind in token.nested}
        first = self.waiting[0] if self.waiting else token
        if self.tokens[self.position - 2].kind == "T":
            first = self.tokens[self.position - 2]
        start = first.start if self.chosen is None else self.chosen
        yield from _open(self.waiting, start, token.end, GENERATION)
        for begin, end, _ in _for_forward(self.converted, start):
            yield begin, end, GENERATION
        self.end_cycle()
        self.generated, self.prepared = True, None

    def conversion(self, token: Token) -> Iterator[Interval]:
        if not self.waiting and self.chosen is None:
            self.drawn = None
            again = token.kind == "K" and any(each.kind in "KMW" for each in self.converted)
            if token.kind in "LW":
                self.converted = _proven(self.converted)
            self.converted = [token] if again else [*self.converted, token]
        return iter(())

    def step(self, token: Token) -> Iterator[Interval]:
        self.acts_first = token.acts_first
        if self.waiting and not self.has_learned:
            self.learns_as_acted = any(each.learning for each in self.waiting)
        acts = [each.start for each in self.waiting]
        if self.chosen is not None:
            acts = [self.chosen, *acts]
        draws = self.drawn is not None and not self.drawn.is_batch
        if draws and any(self.drawn.start < each < token.start for each in self.imports):
            draws = False
        if draws and sum(each.kind == "S" for each in self.before()) > 1:
            acts = [self.drawn.start, *acts]
        if acts and any(each.kind in "SO" for each in self.before()):
            end = token.start if self.output is None else self.output
            yield from _open(self.waiting, acts[0], end, INFERENCE)
            yield from _for_forward(self.converted, acts[0])
        else:
            yield from _themselves(self.waiting)
        yield token.start, token.end, SIMULATION
        self.end_cycle()
        self.generated = self.updated = False
        self.prepared = token.end if self.learns_as_acted else None

    def update(self, token: Token) -> Iterator[Interval]:
        waiting = self.waiting
        learning = {kind for each in waiting for kind in each.learning}
        self.trained |= learning
        self.trains |= bool(learning)
        steps = any(each.kind == "S" for each in self.tokens[: self.position])
        end, after = _end_of_backprop(self.tokens, token.end, self.position, steps)
        end = self.end_of_changes(end, after)
        if self.drawn is not None:
            yield self.drawn.start, waiting[0].start if waiting else token.start, REPLAY
        start = token.start if self.prepared is None or token.is_whole else self.prepared
        if token.kind == "B" and not token.is_whole and steps and not self.updated:
            self.learns_as_acted = not waiting and self.drawn is None and self.chosen is None
            self.has_learned = True
        yield from _backprop(waiting, start, end, self.name_of_aside())
        self.generated &= not any(
            each.kind == "O" for each in self.tokens[self.position - 1 : after]
        )
        self.end_cycle()
        self.updated, self.position, self.prepared = True, after, None

    def end_of_changes(self, end: int, after: int) -> int:
        """The end of an update, with four changes of tensors or more behind its last B or O."""
        limit = self.tokens[after].start if after < len(self.tokens) else math.inf
        changes = [time for time in self.changes if end < time < limit]
        return changes[-1] if len(changes) >= 4 else end

    def name_of_aside(self) -> str:
        """What forwards without gradients are in an update that has others with them."""
        if {kind for each in self.waiting for kind in each.aside} - self.trained:
            return REFERENCE if self.generated else TARGET
        first = self.waiting[0].forwards[:1] if self.waiting else []
        is_first = not any(gradients for _, gradients in first)
        is_rollout = is_first and not self.updated and self.drawn is None
        return ADVANTAGE if is_rollout else BACKPROP

    def lone_step(self, token: Token) -> Iterator[Interval]:
        """An O without a B."""
        yield from _themselves(self.waiting)
        self.end_cycle()
        self.generated, self.prepared = False, None


def _proven(converted: Sequence[Token]) -> list[Token]:
    """What a forward is given for certain: not what began with a W."""
    return [] if converted and converted[0].kind == "W" else list(converted)


def _are_frozen(token: Token, trained: set[str]) -> list[bool]:
    """Of each forward: whether its module was not trained when it was called. Adds those that lie
    inside of others."""
    frozen = []
    for number, (kind, gradients) in enumerate(token.forwards):
        trained |= {each for behind, each in token.nested if behind <= number}
        frozen.append(not gradients and kind not in trained)
    trained |= {each for _, each in token.nested}
    return frozen


def _open(forwards: Sequence[Token], start: int, end: int, name: str) -> Iterator[Interval]:
    """Forwards and the time between them, but for those that have their name."""
    for token in forwards:
        if token.is_named:
            yield start, token.start, name
            start = token.end
    yield start, end, name


def _themselves(forwards: Sequence[Token]) -> Iterator[Interval]:
    yield from ((each.start, each.end, INFERENCE) for each in forwards if not each.is_named)


def _for_forward(converted: Sequence[Token], start: int) -> Iterator[Interval]:
    """Conversions for a forward that begins at `start`; from a key on all time is for it."""
    yield from _themselves(converted)
    yield from ((each.start, start, INFERENCE) for each in converted if each.kind == "L")


def _backprop(waiting: Sequence[Token], start: int, end: int, aside: str) -> Iterator[Interval]:
    learns = next((each for each in waiting if each.learning), None)
    begin = start if learns is None else learns.end if learns.is_aside else learns.start
    yield from _open([each for each in waiting if each.start >= begin], begin, end, BACKPROP)
    for token in waiting:
        if token.is_aside and not token.is_named:
            yield token.start, token.end, BACKPROP if learns is None else aside


def _end_of_backprop(
    tokens: Sequence[Token], end: int, position: int, steps: bool
) -> tuple[int, int]:
    """The end of the last B or O before the next S, K or F, and the position of that one.

    `steps`: the thread has had an S, or else a whole update is one of its own.
    """
    while position < len(tokens):
        token = tokens[position]
        if token.is_whole and not steps:
            break
        if token.kind in "SKMTADL" or (token.kind == "F" and not token.in_step):
            break
        if token.kind in "BO":
            end = token.end
        position += 1
    return end, position
