"""The rules of automatic operations, applied with the whole run in sight.

Where the recorder must write before it knows, this reads on: calls become tokens
(automatic_tokens.py), and a token's name is decided by those that follow.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import takewhile

from support.process.automatic_tokens import Program, Token, Tokens, events

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
    named = {UPDATE: tokens.whole, APART: tokens.apart, IMPORT: tokens.imports,
             COMPILATION: tokens.compilations}  # fmt: skip
    apart = ((start, end, name) for name, parts in named.items() for start, end in parts)
    found = ((start, end, APART) for start, end in evaluations(tokens))
    for start, end, name in (*intervals(tokens.found, environment), *apart, *found):
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


def intervals(tokens: Sequence[Token], environment: bool) -> Iterator[tuple[int, int, str]]:
    """(start, end, name) of every part of the track that has one."""
    waiting: list[Token] = []  # forwards whose name is open
    drawn: Token | None = None  # the draw of a batch, of which an update may follow
    chosen: int | None = None  # when an action was chosen, and no update has followed
    converted: list[Token] = []  # conversions that no forward has followed, before that
    output: int | None = None  # the end of the last X that no forward has followed
    trained: set[str] = set()
    trains = False
    generated = updated = False  # since the last S; a generation since the last O, too
    # No forward was between the last update's S and its B; before the first one, those that acted
    # had gradients.
    learns_as_acted = has_learned = False
    prepared: int | None = None  # since when such a thread has had nothing but conversions
    position = 0
    while position < len(tokens):
        token = tokens[position]
        position += 1
        if token.kind == "F":
            chose = waiting and output is not None and not token.in_step
            if chose and not environment and not token.may_go_on:
                yield from _chosen(waiting, output, tokens[: position - 1])
                waiting = []
            prepared = None
            if not waiting and not token.is_given:
                converted = _proven(converted)
            waiting.append(token)
            output = token.end if token.has_output else None
            is_frozen = _is_frozen(token, trained)
            if generated and trains and token.is_aside and token.is_left:
                yield token.start, token.end, REFERENCE if is_frozen else BACKPROP
                token.is_named = True
            continue
        if token.kind == "A":
            chosen, drawn, output, prepared = token.start, None, None, None
            converted = _proven(converted)
            continue
        if token.kind == "X":
            output = token.end
            continue
        if token.kind == "D":
            drawn, prepared = token, None
            has_key = any(each.kind == "L" for each in converted)
            converted = [] if has_key else _proven(converted)
            continue
        if token.kind == "T":
            trained |= {kind for _, kind in token.nested}
            first = waiting[0] if waiting else token
            if tokens[position - 2].kind == "T":
                first = tokens[position - 2]
            start = first.start if chosen is None else chosen
            yield from _open(waiting, start, token.end, GENERATION)
            parts = _for_forward(converted, start)
            yield from ((begin, end, GENERATION) for begin, end, _ in parts)
            waiting, converted, chosen, drawn, generated = [], [], None, None, True
            output = prepared = None
            continue
        if token.kind in "KMLW":
            if not waiting and chosen is None:
                drawn = None
                again = token.kind == "K" and any(each.kind in "KMW" for each in converted)
                if token.kind in "LW":
                    converted = _proven(converted)
                converted = [token] if again else [*converted, token]
            continue
        if token.kind == "S":
            if waiting and not has_learned:
                learns_as_acted = any(each.learning for each in waiting)
            acts = [*([] if chosen is None else [chosen]), *(each.start for each in waiting)]
            has_acted = sum(each.kind == "S" for each in tokens[: position - 1]) > 1
            if drawn is not None and has_acted:
                acts = [drawn.start, *acts]
            if acts and any(each.kind in "SO" for each in tokens[: position - 1]):
                end = token.start if output is None else output
                yield from _open(waiting, acts[0], end, INFERENCE)
                yield from _for_forward(converted, acts[0])
            else:
                yield from _themselves(waiting)
            yield token.start, token.end, SIMULATION
            waiting, generated, updated = [], False, False
            prepared = token.end if learns_as_acted else None
        elif token.kind == "B" or any(each.has_backward for each in waiting):
            learning = {kind for each in waiting for kind in each.learning}
            trained |= learning
            trains |= bool(learning)
            steps = any(each.kind == "S" for each in tokens[:position])
            end, after = _end_of_backprop(tokens, token.end, position, steps)
            if drawn is not None:
                yield drawn.start, waiting[0].start if waiting else token.start, REPLAY
            start = token.start if prepared is None or token.is_whole else prepared
            if token.kind == "B" and not token.is_whole and steps and not updated:
                learns_as_acted = not waiting and drawn is None and chosen is None
                has_learned = True
            others = {kind for each in waiting for kind in each.aside} - trained
            is_first = not any(
                gradients for each in waiting[:1] for _, gradients in each.forwards[:1]
            )
            of_others = REFERENCE if generated else TARGET
            of_trained = ADVANTAGE if is_first and not updated else BACKPROP
            yield from _backprop(waiting, start, end, of_others if others else of_trained)
            generated &= not any(each.kind == "O" for each in tokens[position - 1 : after])
            waiting, updated, position, prepared = [], True, after, None
        else:  # an O without a B
            yield from _themselves(waiting)
            waiting, generated, prepared = [], False, None
        converted, chosen, drawn, output = [], None, None, None
    yield from _themselves(waiting)


def _chosen(
    waiting: Sequence[Token], output: int | None, before: Sequence[Token]
) -> Iterator[tuple[int, int, str]]:
    """Forwards of which a program without an environment has converted what they returned."""
    if output is not None and any(each.kind == "O" for each in before):
        return _open(waiting, waiting[0].start, output, INFERENCE)
    return _themselves(waiting)


def _proven(converted: Sequence[Token]) -> list[Token]:
    """What a forward is given for certain: not what began with a W."""
    return [] if converted and converted[0].kind == "W" else list(converted)


def _is_frozen(token: Token, trained: set[str]) -> bool:
    """Whether no module of a forward, or of a block, was trained when it was called. Adds those
    that lie inside of others."""
    frozen = True
    for number, (kind, gradients) in enumerate(token.forwards):
        trained |= {each for behind, each in token.nested if behind <= number}
        frozen = frozen and not gradients and kind not in trained
    trained |= {each for _, each in token.nested}
    return frozen


def _open(
    forwards: Sequence[Token], start: int, end: int, name: str
) -> Iterator[tuple[int, int, str]]:
    """Forwards and the time between them, but for those that have their name."""
    for token in forwards:
        if token.is_named:
            yield start, token.start, name
            start = token.end
    yield start, end, name


def _themselves(forwards: Sequence[Token]) -> Iterator[tuple[int, int, str]]:
    yield from ((each.start, each.end, INFERENCE) for each in forwards if not each.is_named)


def _for_forward(converted: Sequence[Token], start: int) -> Iterator[tuple[int, int, str]]:
    """Conversions for a forward that begins at `start`; from a key on all time is for it."""
    yield from _themselves(converted)
    yield from ((each.start, start, INFERENCE) for each in converted if each.kind == "L")


def _backprop(
    waiting: Sequence[Token], start: int, end: int, aside: str
) -> Iterator[tuple[int, int, str]]:
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
