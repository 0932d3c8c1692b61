"""The rules of automatic operations, applied with the whole run in sight.

A program is a list of calls, each with the calls inside it. Where the recorder must write before it
knows, this reads on: calls become tokens, and a token's name is decided by those that follow.

    kinds   S  Env.step            B  backward            N  no-grad block
            Z  Env.step of another environment
            F  module forward      O  optimizer step      E  block that enables gradients
            Q  forward of another module
            T  forward of one and the same module, which is given one item more than at the T before
            C  call of a compiled function      U  call with which a library trains a model
    Y  call with which a library asks a model    L  making of a random key
    P  a phase of that before the last
    J  compilation                        G  gradients are computed
    V  evaluation, saving, loading        I  execution of a module
    A  sample of a space of actions       D  draw of some out of many
    K  conversion of the observation      M  conversion of what K, M or W returned last, which each
    W  conversion of something else          F is given
    X  conversion of what forwards returned

Times are numbers of events: call number 0 is entered at 0, and so on, each enter and each exit one.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import takewhile

NOTHING, INFERENCE, BACKPROP, SIMULATION = "", "inference", "backprop", "simulation"
TARGET, ADVANTAGE = "target", "advantage"
GENERATION, REFERENCE = "generation", "reference"
UPDATE, COMPILATION = "update", "compilation"
APART, IMPORT, REPLAY = "evaluation", "import", "replay"


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


@dataclass
class Token:
    """What counts of a call: of a forward the part before an S, B or O that it encloses."""

    kind: str  # S F B O K M L W X, T from the fifth T in a row on; B of a C and a U, too
    start: int
    end: int
    is_elsewhere: bool = False  # an S that is a Z
    is_whole: bool = False  # a B that is an O as well
    is_aside: bool = False  # its first forward has no gradients
    has_backward: bool = False
    in_step: bool = False
    forwards: list[tuple[str, bool]] = field(default_factory=list)  # kind, with gradients
    nested: list[tuple[int, str]] = field(default_factory=list)  # kinds inside of others that have
    # gradients, each behind so many forwards
    is_left: bool = False  # it ended by itself
    is_given: bool = False  # its first forward, what was converted last
    has_output: bool = False  # its last part is an X
    is_named: bool = False  # its name does not depend on what follows

    @property
    def learning(self) -> set[str]:
        """Kinds of its forwards with gradients."""
        return {kind for kind, gradients in self.forwards if gradients}

    @property
    def aside(self) -> set[str]:
        """And of those without."""
        return {kind for kind, gradients in self.forwards if not gradients}


class Tokens:
    """The calls of a program that count, in the order in which they are met."""

    def __init__(self, calls: Program) -> None:
        self.found: list[Token] = []
        # Begin and end of each U that counts, and of each C that is known to compute gradients.
        self.whole: list[tuple[int, int]] = []
        self.compilations: list[tuple[int, int]] = []  # of each J and P
        self.apart: list[tuple[int, int]] = []  # of each V
        self.imports: list[tuple[int, int]] = []  # of each I
        self._trains = False  # C computes gradients
        # Begin of each F and C that nothing of its kind is around.
        self.policy_calls: list[int] = []
        self._import: tuple[int, int] | None = None  # depth and begin of the I that counts
        self._disturbed = 0  # open I in which something else began
        self._paused: int | None = None  # begin of a P in the C that is open, with no J behind it
        self._time = 0
        self._around: list[str] = []  # open calls, whether they count or not
        self._open: list[
            tuple[str, int, Token | None]
        ] = []  # kind, start, token that it is part of
        self._boundary = -1  # time of the last S, B or O that counts
        self._known = ""  # K and M, whose object would be known as the observation's, or a W's
        self._conversions = 0  # open ones of a known object
        self._run = 0  # T in a row
        self._items = 0  # that T were given so far, counted or not
        self._last: int | None = None  # items of the last T, if that was not the first of its run
        self._writes_with_gradients = False  # the last T
        self._has_key = False  # an L is open for the next F
        self._generates = False  # they are a generation, and nothing else has begun
        self._read(calls, gradients=True)

    def _read(self, calls: Program, gradients: bool) -> None:
        for call in calls:
            start = self._time
            kind = self._kind(call)
            self._items += kind == "T"
            enabled = {"N": False, "E": True}.get(kind, gradients)
            counts = self._is_apart(kind)
            if kind == "I":
                self._begin_import()
            if kind == "C" and not self._is_in("C"):
                self.policy_calls.append(start)
            self._trains |= kind == "B" and self._is_in("C") and not self._is_in("B")
            token = self._enter(kind, start, gradients)
            if counts and kind in "CU":
                token = self._begin_whole(kind, start)
            if kind == "S" and token is not None:
                token.is_elsewhere = call.kind == "Z"
            if counts or token is not None or self._is_mark(kind):
                self._disturb()
            is_made = kind == "W" and token is not None
            is_known = kind in self._known or kind == "L" or is_made
            self._conversions += is_known
            self._open.append((kind, start, token))
            self._time += 1
            self._around.append(call.kind)
            self._read(call.inside, enabled)
            self._around.pop()
            self._open.pop()
            self._conversions -= is_known
            self._leave(kind, token)
            if is_made:
                is_known = start >= self._boundary
            if is_known and kind != "L":
                self._known = "KM"
            elif kind == "W":
                self._known = self._known.replace("M", "")
            if kind == "S" and not self._is_in("SUV"):
                self._known = "K"
            if kind == "I":
                self._leave_import()
            if counts:
                self._leave_code(kind, start)
            if kind == "C" and not self._is_in("CJPV"):
                self._end_phases()
            if counts and token is not None and kind in "CU":
                self._end_whole(token)
            self._time += 1

    def _kind(self, call: Call) -> str:
        """Its letter; "." where it counts for nothing: a U or Y inside another one, a U inside of
        what it is a part of."""
        kind = "S" if call.kind == "Z" else call.kind
        if kind in "UY" and kind in self._around:
            return "."
        return "." if kind == "U" and not self._is_apart(kind) else kind

    def _is_apart(self, kind: str) -> bool:
        """Whether a call is one of its own, and what it interrupts goes on behind it."""
        if kind in "JP":
            return not self._is_in("JPV")
        return kind in "CUV" and not self._is_in("SBOJPCUV") and self._current("FQTY") is None

    def _depth(self) -> int:
        return sum(kind == "I" for kind, _, _ in self._open)

    def _begin_import(self) -> None:
        """An I counts where nothing is open, and inside another one if something began in that."""
        is_outermost = self._depth() == self._disturbed
        is_part = self._is_in("SBOCJPUV") or self._conversions > 0 or self._is_open()
        is_part = is_part or self._has_key
        if is_outermost and not is_part and self._current("FQTY") is None and self._block() is None:
            self._import = (self._depth(), self._time)

    def _is_open(self) -> bool:
        """Whether there is a forward that nothing has named so far, or a backward without an O."""
        kinds = [each.kind for each in self.found]
        return self._awaits_name() or kinds[-1:] == ["B"]

    def _awaits_name(self) -> bool:
        kinds = (each.kind for each in reversed(self.found))
        return next((kind for kind in kinds if kind in "SBOFTAD"), "") in ("F", "T", "A")

    def _leave_import(self) -> None:
        if self._import is not None and self._import[0] == self._depth():
            self._end_import()
        self._disturbed = min(self._disturbed, self._depth())

    def _is_mark(self, kind: str) -> bool:
        """Whether a call without a token of its own, from its entry on, is an O or a block."""
        if kind == "N":
            is_part = self._current("FQTY") is not None or self._block() is not None
            return not is_part and not self._is_in("SBOCJPUV")
        return kind == "O" and not self._is_in("SBCJPUV")

    def _disturb(self) -> None:
        """Something else begins than an I."""
        self._disturbed = self._depth()
        self._end_import()

    def _end_import(self) -> None:
        if self._import is not None:
            self.imports.append((self._import[1], self._time))
        self._import = None

    def _is_in(self, kinds: str) -> bool:
        return any(kind in kinds for kind, _, _ in self._open)

    def _current(self, kinds: str) -> tuple[str, int, Token | None] | None:
        """The outermost open call of these kinds that no S, B or O lies inside of."""
        fresh = (each for each in self._open if each[0] in kinds and each[1] > self._boundary)
        return next(fresh, None)

    def _enter(self, kind: str, start: int, gradients: bool) -> Token | None:
        if self._is_in("SBCJPUV"):
            return None
        if kind == "S":
            return self._cut(Token("S", start, start))
        forward = self._current("FQTY")
        if kind in "KM":
            return self._conversion(kind, start)
        if kind == "W":
            return self._making(start)
        if kind in "AD":
            return self._choice(kind, start)
        if kind == "B":
            if forward is None:
                return self._cut(Token("B", start, start))
            if forward[2] is not None:
                forward[2].has_backward = True
            return None
        if kind == "L":
            return self._key(start)
        if kind in "FQTY" and forward is None:
            self.policy_calls.append(start)
            self._count(kind, gradients)
            if self._run == 5:
                return self._token(start)
            return self._forward(kind, start, gradients and kind != "Y")
        if kind in "FQT" and gradients and forward is not None and forward[2] is not None:
            forward[2].nested.append((len(forward[2].forwards), kind))
        return None

    def _count(self, kind: str, gradients: bool = False) -> None:
        """T in a row, all with gradients or all without. With what the first one was given the
        second is not compared."""
        if self._run and gradients != self._writes_with_gradients:
            self._run = 0
        self._writes_with_gradients = gradients
        if kind != "T" or self._is_in("O"):
            self._run = 0
        elif self._run == 0:
            self._run, self._last = 1, None
        else:
            follows = self._last in (None, self._items - 1)
            self._run = min(self._run + 1, 5) if follows else 1
            self._last = self._items

    def _token(self, start: int) -> Token:
        """A T that goes on a generation, until the block around it ends."""
        self._generates, self._has_key = True, False
        self._end("F", start)
        token = self.found[-1]
        if token.kind != "T" or token.end >= 0:
            token = Token("T", start, -1)
            self.found.append(token)
        return token

    def _forward(self, kind: str, start: int, gradients: bool) -> Token:
        block = self._block()
        begin = start if block is None else block
        if self._generates and self.found[-1].end < 0:  # in the block of the generation
            self.found[-1].end = begin = start
        self._generates = self._has_key = False
        token = next((each for each in self.found if each.kind == "F" and each.end < 0), None)
        if token is None:
            self._end("KMW", begin)
            token = Token("F", begin, -1, is_aside=not gradients, in_step=self._is_in("O"))
            token.is_given = kind == "F" and "M" in self._known
            self.found.append(token)
        token.has_output = False
        token.forwards.append((kind, gradients))
        return token

    def _conversion(self, kind: str, start: int) -> Token | None:
        is_part = self._is_in("O") or self._current("FQTY") is not None or self._block() is not None
        if is_part or self._generates or kind not in self._known or self._conversions > 0:
            return None
        self._has_key &= kind == "M" or not any(each.kind in "KM" for each in self._for_next())
        token = Token(kind, start, -1)
        self.found.append(token)
        return token

    def _for_next(self) -> list[Token]:
        """K, M, L and W since anything else, the latest first."""
        return list(takewhile(lambda each: each.kind in "KMLW", reversed(self.found)))

    def _making(self, start: int) -> Token | None:
        """A W, where nothing is open but what another one began."""
        is_part = self._is_in("O") or self._current("FQTY") is not None or self._block() is not None
        if is_part or self._awaits_name() or self._conversions > 0 or self._expects_step():
            return None
        begins = next((each.kind for each in self._for_next() if each.kind != "M"), "M")
        if self._for_next() and begins != "W":
            return None
        if self.found[-1:] and self.found[-1].kind == "D":
            return None
        if all(each.kind != "S" for each in self.found):
            return None
        token = Token("W", start, -1)
        self.found.append(token)
        return token

    def _output(self, kind: str) -> None:
        """The end of an X, an A or a D."""
        if self._is_in("SBOCJPUV" + kind) or self._current("FQTY") is not None:
            return
        last = [each for each in reversed(self.found) if each.kind not in "KMLWX"]
        behind = next((each.kind for each in last if each.kind != "F"), "")
        if not last or last[0].kind != "F" or behind == "D":
            return
        if self._block() is None:
            self.found.append(Token("X", self._time, self._time))
        elif last[0].end < 0:
            last[0].has_output = True

    def _key(self, start: int) -> Token | None:
        """An L, where nothing is open that it is a part of."""
        is_part = self._is_in("O") or self._current("FQTY") is not None or self._block() is not None
        if is_part or self._awaits_name() or self._conversions > 0 or self._expects_step():
            return None
        if self.found and self.found[-1].kind == "D":
            return None
        self._has_key = True
        token = Token("L", start, start)
        self.found.append(token)
        return token

    def _expects_step(self) -> bool:
        """Whether an update goes on with the next O."""
        has_step = False
        for position in reversed(range(len(self.found))):
            kind = self.found[position].kind
            behind = reversed(self.found[:position])
            if kind == "B":
                return True
            if kind == "F":
                waiting = takewhile(
                    lambda each: each.kind in "FKMLWX", [self.found[position], *behind]
                )
                return has_step and any(each.has_backward for each in waiting)
            before = next((each.kind for each in behind if each.kind not in "KMLWX"), "S")
            if kind in "STAD" or (kind in "KMLW" and before not in "FTA"):
                return False
            has_step |= kind == "O"
        return False

    def _begin_whole(self, kind: str, start: int) -> Token:
        """A C that is not known to compute gradients is a forward without any."""
        if kind == "C" and not self._trains:
            self._count(kind)
            return self._forward(kind, start, gradients=False)
        return self._cut(Token("B", start, start, is_whole=True))

    def _end_whole(self, token: Token) -> None:
        if token.kind == "B":
            self.whole.append((token.start, self._time))
            token.end = self._time
        elif self._trains:
            self._cut(Token("B", self._time, self._time, is_whole=True))
        else:
            return self._end_forward()
        self._boundary = self._time
        self.found.append(Token("O", self._time, self._time))

    def _choice(self, kind: str, start: int) -> Token | None:
        """An A or D ends the block around it, as far as that counts."""
        if self._is_in("O" + kind) or self._current("FQTY") is not None or self._awaits_name():
            return None
        if kind == "D" and self.found and self.found[-1].kind == "D":
            return None
        self._end("KMW", start)
        self._boundary = start
        self._has_key = False
        token = Token(kind, start, start)
        self.found.append(token)
        return token

    def _block(self) -> int | None:
        """Where the outermost no-grad block began that counts here. One that began inside a forward
        or an O does not."""
        for position, (kind, start, _) in enumerate(self._open):
            around = {each for each, begin, _ in self._open[:position] if begin > self._boundary}
            steps = any(each == "O" for each, _, _ in self._open[:position])
            if kind == "N" and start > self._boundary and not around & set("FQTY") and not steps:
                return start
        return None

    def _leave_code(self, kind: str, start: int) -> None:
        """The end of a C, J, P or V that counts."""
        if kind == "V":
            self.apart.append((start, self._time))
        if kind in "JP":
            begin = start if self._paused is None else self._paused
            self._paused = begin if kind == "P" and self._is_in("C") else None
            if self._paused is None:
                self.compilations.append((begin, self._time))

    def _end_phases(self) -> None:
        """The end of the outermost C, whether it counts or not."""
        if self._paused is not None:
            self.compilations.append((self._paused, self._time))
        self._paused = None

    def _leave(self, kind: str, token: Token | None) -> None:
        if kind == "O" and not self._is_in("SBOCJPUV"):
            self._cut(Token("O", self._time, self._time))
        elif kind in "SB" and token is not None:
            token.end = self._boundary = self._time
        elif kind in "KMW" and token is not None:
            self._end("KMW", self._time)
        elif kind in "XAD":
            self._output(kind)
        elif kind in "FQTYN" and not self._is_in("C"):
            self._end_forward()

    def _end_forward(self) -> None:
        if self._current("FQTY") is None and self._block() is None:
            self._end("FT", self._time, is_left=True)

    def _end(self, kinds: str, time: int, *, is_left: bool = False) -> None:
        for token in self.found:
            if token.kind in kinds and token.end < 0:
                token.end, token.is_left = time, is_left

    def _cut(self, token: Token) -> Token:
        """An S, B or O: what encloses it ends where it begins, as far as it counts."""
        self._end("FTKMW", self._time)
        self._boundary = self._time
        self._run, self._generates = 0, False
        self._has_key = False
        self.found.append(token)
        return token


def names(calls: Program) -> list[str]:
    """The name of the track from each event to the next one; the last entry is what remains."""
    track = [NOTHING] * events(calls)
    tokens = Tokens(calls)
    named = {UPDATE: tokens.whole, APART: tokens.apart, IMPORT: tokens.imports,
             COMPILATION: tokens.compilations}  # fmt: skip
    apart = ((start, end, name) for name, parts in named.items() for start, end in parts)
    found = ((start, end, APART) for start, end in evaluations(tokens))
    for start, end, name in (*intervals(tokens.found), *apart, *found):
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


def intervals(tokens: Sequence[Token]) -> Iterator[tuple[int, int, str]]:
    """(start, end, name) of every part of the track that has one."""
    waiting: list[Token] = []  # forwards whose name is open
    drawn: Token | None = None  # the draw of a batch, of which an update may follow
    chosen: int | None = None  # when an action was chosen, and no update has followed
    converted: list[Token] = []  # conversions that no forward has followed, before that
    output: int | None = None  # the end of the last X that no forward has followed
    trained: set[str] = set()
    trains = False
    generated = updated = False  # since the last S; a generation since the last O, too
    position = 0
    while position < len(tokens):
        token = tokens[position]
        position += 1
        if token.kind == "F":
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
            chosen, drawn, output = token.start, None, None
            converted = _proven(converted)
            continue
        if token.kind == "X":
            output = token.end
            continue
        if token.kind == "D":
            drawn = token
            converted = []
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
            output = None
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
            acts = [*([] if chosen is None else [chosen]), *(each.start for each in waiting)]
            if acts and any(each.kind in "SO" for each in tokens[: position - 1]):
                end = token.start if output is None else output
                yield from _open(waiting, acts[0], end, INFERENCE)
                yield from _for_forward(converted, acts[0])
            else:
                yield from _themselves(waiting)
            has_acted = sum(each.kind == "S" for each in tokens[: position - 1]) > 1
            if drawn is not None and not waiting and has_acted:
                yield drawn.start, token.start, INFERENCE
            yield token.start, token.end, SIMULATION
            waiting, generated, updated = [], False, False
        elif token.kind == "B" or any(each.has_backward for each in waiting):
            learning = {kind for each in waiting for kind in each.learning}
            trained |= learning
            trains |= bool(learning)
            steps = any(each.kind == "S" for each in tokens[:position])
            end, after = _end_of_backprop(tokens, token.end, position, steps)
            if drawn is not None:
                yield drawn.start, waiting[0].start if waiting else token.start, REPLAY
            others = {kind for each in waiting for kind in each.aside} - trained
            is_first = not any(
                gradients for each in waiting[:1] for _, gradients in each.forwards[:1]
            )
            of_others = REFERENCE if generated else TARGET
            of_trained = ADVANTAGE if is_first and not updated else BACKPROP
            yield from _backprop(waiting, token.start, end, of_others if others else of_trained)
            generated &= not any(each.kind == "O" for each in tokens[position - 1 : after])
            waiting, updated, position = [], True, after
        else:  # an O without a B
            yield from _themselves(waiting)
            waiting, generated = [], False
        converted, chosen, drawn, output = [], None, None, None
    yield from _themselves(waiting)


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
