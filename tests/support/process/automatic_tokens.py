"""The calls of a program that count for automatic operations, read with the whole run in sight.

A program is a list of calls, each with the calls inside it. Those that count become tokens, in
order; automatic_model.py names them.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from itertools import takewhile

from support.process.automatic_letters import Call, Program


@dataclass
class Token:
    """What counts of a call: of a forward the part before an S, B or O that it encloses."""

    kind: str  # S F B O K M L W X, T from the fifth T in a row on; B of a C and a U, too; E: the
    # forwards before it tested an update
    start: int
    end: int
    is_elsewhere: bool = False  # an S that is a Z
    acts_first: bool = False  # an S of a thread that has chosen its action before the update
    is_whole: bool = False  # a B that is an O as well
    is_aside: bool = False  # its first forward has no gradients
    has_backward: bool = False
    in_step: bool = False
    forwards: list[tuple[str, bool]] = field(default_factory=list)  # kind, with gradients
    ends: list[int] = field(default_factory=list)  # of each of these
    nested: list[tuple[int, str]] = field(default_factory=list)  # kinds inside of others that have
    # gradients, each behind so many forwards
    is_left: bool = False  # it ended by itself
    is_given: bool = False  # its first forward, what was converted last
    has_output: bool = False  # its last part is an X
    may_go_on: bool = (
        False  # its first forward, a T or one like it, is none of the first of its run
    )
    is_batch: bool = False  # a D that is the end of a G
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
        self.batches: list[tuple[int, int]] = []  # of each G
        self.imports: list[tuple[int, int]] = []  # of each I
        self.changes: list[int] = []  # since when each H counts that may be a part of an update
        self._trains = {"C": False, "c": False}  # they compute gradients
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
        self._is_made = False  # what K, M or W returned last is for the next forward, and no token
        self._opened: bool | None = (
            None  # whether the forward that opened the operation was given what was converted
        )
        self._acts_given = False  # the last one that an S named was
        self._tests = False  # the operation that is open tests an update, if such a forward follows
        self._block_converts = False  # a K is for the first forward of the block
        self._run = 0  # T in a row
        self._items = 0  # that T were given so far, counted or not
        self._last: int | None = None  # items of the last T, if that was not the first of its run
        self._writes_with_gradients = False  # the last T
        self._alike: tuple[str, bool, int] | None = (
            None  # F, Q, T in a row: kind, gradients, number
        )
        self._has_key = False  # an L is open for the next F
        self._generates = False  # they are a generation, and nothing else has begun
        self._in_block = 0  # T of the run, in the block that is open
        self._changes = 0  # H in that block
        self._read(calls, gradients=True)

    def _read(self, calls: Program, gradients: bool) -> None:
        for call in calls:
            start = self._time
            kind = self._kind(call)
            self._items += kind == "T"
            enabled = {"N": False, "E": True}.get(kind, gradients)
            is_quiet = call.kind == "c" and not self._trains["c"]
            begins = self._is_apart(kind)
            counts = begins and not is_quiet
            if kind == "I":
                self._begin_import()
            if kind == "C" and not is_quiet and not self._is_in("C"):
                self.policy_calls.append(start)
            traced = next((each for each in self._around if each in "Cc"), None)
            if kind == "B" and traced is not None and not self._is_in("B"):
                self._trains[traced] = True
            token = self._enter(kind, start, gradients)
            if counts and kind in "CU":
                token = self._begin_whole(call.kind, start)
            if kind == "S" and token is not None:
                token.is_elsewhere = call.kind == "Z"
            if begins or token is not None or self._is_mark(kind):
                self._disturb()
            if kind == "N" and self._is_mark(kind):
                self._in_block = self._changes = 0
                self._block_converts = False
            goes_on = kind == "M" and self._is_made
            is_made = kind == "W" and token is not None
            is_known = kind in self._known or kind == "L" or is_made
            self._conversions += is_known
            self._open.append((kind, start, token))
            self._time += 1
            self._around.append(call.kind)
            self._read(call.inside, enabled)
            self._around.pop()
            if kind == "N" and self._block() == start:
                self._leave_block()
            self._open.pop()
            self._conversions -= is_known
            self._leave(kind, token)
            if is_made:
                is_known = start >= self._boundary
            self._note_made(kind, is_token=is_made, goes_on=goes_on)
            self._note_known(kind, is_known)
            if kind == "I":
                self._leave_import()
            if counts:
                self._leave_code(kind, start)
            if kind == "C" and not self._is_in("CJPVG"):
                self._end_phases()
                if is_quiet and not self._trains["c"]:
                    for _ in range(4):
                        self._change()
            if counts and token is not None and kind in "CU":
                self._end_whole(token, call.kind)
            self._time += 1

    def _note_made(self, kind: str, *, is_token: bool, goes_on: bool) -> None:
        """What a K, M or W returned. An S makes another observation."""
        if kind in "KMW":
            is_new = kind == "W" and not is_token and self._may_note()
            self._is_made = is_new or (goes_on and self._may_note())
        elif kind == "S" and not self._is_in("SUVG"):
            self._is_made = False

    def _note_known(self, kind: str, is_known: bool) -> None:
        """Whether the next K and M would be of a known object."""
        if is_known and kind != "L":
            self._known = "KM"
        elif kind == "W":
            self._known = self._known.replace("M", "")
        if kind == "S" and not self._is_in("SUVG"):
            self._known = "K"
        elif kind == "S" and self._is_in("UVG"):
            self._known = self._known.replace("K", "")  # of an observation before

    def _kind(self, call: Call) -> str:
        """Its letter; "." where it counts for nothing: a U or Y inside another one, a U inside of
        what it is a part of."""
        kind = {"Z": "S", "c": "C"}.get(call.kind, call.kind)
        if kind in "UY" and kind in self._around:
            return "."
        return "." if kind == "U" and not self._is_apart(kind) else kind

    def _is_apart(self, kind: str) -> bool:
        """Whether a call is one of its own, and what it interrupts goes on behind it."""
        if kind in "JP":
            return not self._is_in("JPVG")
        return kind in "CUVG" and not self._is_in("SBOJPCUVG") and self._current("FQTY") is None

    def _depth(self) -> int:
        return sum(kind == "I" for kind, _, _ in self._open)

    def _begin_import(self) -> None:
        """An I counts where nothing is open, and inside another one if something began in that."""
        is_outermost = self._depth() == self._disturbed
        is_part = self._is_in("SBOCJPUVG") or self._conversions > 0 or self._is_open()
        is_part = is_part or self._has_key
        if is_outermost and not is_part and self._current("FQTY") is None and self._block() is None:
            self._import = (self._depth(), self._time)

    def _is_open(self) -> bool:
        """Whether a text is written, an action was chosen, a forward with gradients waits for its
        name, or a backward for an O."""
        kinds = [each.kind for each in self.found]
        last = next((kind for kind in reversed(kinds) if kind in "SBOFTADE"), "")
        return last in ("T", "A") or kinds[-1:] == ["B"] or self._learns()

    def _awaits_name(self) -> bool:
        kinds = (each.kind for each in reversed(self.found))
        return next((kind for kind in kinds if kind in "SBOFTADE"), "") in ("F", "T", "A")

    def _leave_import(self) -> None:
        if self._import is not None and self._import[0] == self._depth():
            self._end_import()
        self._disturbed = min(self._disturbed, self._depth())

    def _is_mark(self, kind: str) -> bool:
        """Whether a call without a token of its own, from its entry on, is an O or a block."""
        if kind == "N":
            is_part = self._current("FQTY") is not None or self._block() is not None
            return not is_part and not self._is_in("SBOCJPUVG")
        return kind == "O" and not self._is_in("SBCJPUVG")

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
        if self._is_in("SBCJPUVG"):
            return None
        if kind == "S":
            if self._opened is not None and not any(each.acts_first for each in self._since_step()):
                self._acts_given = self._opened
            return self._cut(Token("S", start, start, acts_first=self._acts_first()))
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
        before = self._alike if self._alike and self._alike[:2] == (kind, gradients) else None
        self._alike = (
            None if self._is_in("O") else (kind, gradients, before[2] + 1 if before else 1)
        )
        if kind != "T" or self._is_in("O"):
            self._run = 0
        elif self._run == 0:
            self._run, self._in_block, self._last = 1, 1, None
        else:
            follows = self._last in (None, self._items - 1)
            self._run = min(self._run + 1, 5) if follows else 1
            self._in_block = self._in_block + 1 if follows else 1
            self._last = self._items

    def _change(self) -> None:
        if self._is_in("SBOCJPUVG") or self._current("FQTY") is not None or self._import:
            return
        if self._block() is None:
            self.changes.append(self._time)
        else:
            self._changes += 1

    def _leave_block(self) -> None:
        """A text that was written in a block does not go on after it. What was changed in one
        counts from there on, if it has no forward."""
        if all(token.end >= 0 for token in self.found):
            self.changes += [self._time] * self._changes
        if self.found and self.found[-1].kind == "T" and self.found[-1].end < 0:
            if self._in_block > 1:
                self._run, self._alike = 0, None

    def _token(self, start: int) -> Token:
        """A T that goes on a generation, until the block around it ends."""
        self._generates, self._has_key = True, False
        self._opened, self._tests = None, False
        self._end("F", start)
        token = self.found[-1]
        if token.kind != "T" or token.end >= 0:
            token = Token("T", start, -1)
            self.found.append(token)
        return token

    def _forward(self, kind: str, start: int, gradients: bool) -> Token:
        block = self._block()
        begin = start if block is None else block
        self._open_forward(kind, begin)
        if self._generates and self.found[-1].end < 0:  # in the block of the generation
            self.found[-1].end = begin = start
        self._generates = self._has_key = False
        token = next((each for each in self.found if each.kind == "F" and each.end < 0), None)
        if token is None:
            self._end("KMW", begin)
            token = Token("F", begin, -1, is_aside=not gradients, in_step=self._is_in("O"))
            token.is_given = kind == "F" and "M" in self._known
            token.may_go_on = self._run > 1 or (self._alike is not None and self._alike[2] == 2)
            self.found.append(token)
        token.has_output = False
        token.forwards.append((kind, gradients))
        return token

    def _open_forward(self, kind: str, begin: int) -> None:
        """A forward in a block that has one is given nothing."""
        if self._is_in("O") and self._expects_step():
            return
        is_given = (
            (kind == "F" and self._is_made)
            or (self._block() is not None and self._block_converts)
            or self._is_converted(is_proven=kind == "F" and "M" in self._known)
        )
        if self._tests and is_given and not self._is_in("O"):
            self._end_test(begin)
        if self._opened is None:
            acts_first = any(each.acts_first for each in self._since_step())
            tests = self._acts_given and not acts_first and self._expects_step()
            self._opened, self._tests = is_given, tests and not is_given
        self._is_made = False

    def _end_test(self, time: int) -> None:
        self.found.append(Token("E", time, time))
        self._opened, self._tests = None, False

    def _is_converted(self, is_proven: bool) -> bool:
        """Whether the program converted something for the forward that begins, before its block."""
        if self._awaits_name():
            return False
        converts = unproven = False
        for each in reversed(self._for_next()):
            if each.kind == "L":
                converts &= not unproven
            else:
                converts = True
            unproven = each.kind == "W" or (each.kind == "M" and unproven)
        return converts and (is_proven or not unproven)

    def _may_note(self) -> bool:
        """Whether what was made by now may be for the next forward."""
        is_part = self._is_in("SBOCJPUVG") or self._current("FQTY") is not None
        has_forward = any(each.kind in "FT" and each.end < 0 for each in self.found)
        steps = any(each.kind == "S" for each in self.found)
        return steps and not is_part and not has_forward

    def _conversion(self, kind: str, start: int) -> Token | None:
        is_part = self._is_in("O") or self._current("FQTY") is not None or self._block() is not None
        if kind == "K" and "K" in self._known and self._conversions == 0:
            self._convert_observation(start)
        if is_part or self._generates or kind not in self._known or self._conversions > 0:
            return None
        self._has_key &= kind == "M" or not any(each.kind in "KM" for each in self._for_next())
        token = Token(kind, start, -1)
        self.found.append(token)
        return token

    def _convert_observation(self, start: int) -> None:
        if self._is_in("O") or self._current("FQTY") is not None:
            return
        if self._block() is None and self._tests:
            self._end_test(start)
        elif self._block() is not None:
            has_forward = any(each.kind in "FT" and each.end < 0 for each in self.found)
            self._block_converts |= not has_forward

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

    def _learns(self) -> bool:
        """Whether one of the forwards that wait for a name has gradients."""
        last = (each for each in reversed(self.found) if each.kind not in "KMLWX")
        return any(each.learning for each in takewhile(lambda each: each.kind == "F", last))

    def _output(self, kind: str) -> None:
        """The end of an X, an A or a D."""
        if self._is_in("SBOCJPUVG" + kind) or self._current("FQTY") is not None:
            return
        last = [each for each in reversed(self.found) if each.kind not in "KMLWX"]
        behind = next((each.kind for each in last if each.kind != "F"), "")
        if not last or last[0].kind != "F" or behind == "D":
            return
        if self._learns() and not self._acts_now():
            return
        if self._block() is None:
            self._disturb()
            self.found.append(Token("X", self._time, self._time))
        elif last[0].end < 0:
            last[0].has_output = True

    def _since_step(self) -> list[Token]:
        """The last S and what followed; all, if there was none."""
        steps = [place for place, each in enumerate(self.found) if each.kind == "S"]
        return self.found[steps[-1] :] if steps else self.found

    def _acts_first(self) -> bool:
        """Whether the S that begins comes right after an update, if one was since the S before."""
        since = self._since_step()
        is_direct = has_backward = False
        for token in since:
            is_update = token.kind == "B" or (token.kind == "O" and (is_direct or has_backward))
            is_direct = is_update or (token.kind == "X" and is_direct)
            has_backward = token.kind == "F" and token.has_backward
        is_fed = any(each.kind in "BO" for each in since)
        return is_direct if is_fed else any(each.acts_first for each in since)

    def _acts_now(self) -> bool:
        """Whether the thread acts before it learns, and no X or D named a forward since its last
        S."""
        since = self._since_step()
        has_output = waits = False
        for token in since:
            if token.kind == "D" and waits:
                return False
            if token.kind in "BOFTAD":
                waits = token.kind == "F"
            if token.kind == "F" and has_output and not token.in_step:
                return False
            if token.kind in "BOFTX":
                has_output = token.kind == "X" or (token.kind in "FT" and token.has_output)
        return any(each.acts_first for each in since)

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
        if kind in "Cc" and not self._trains[kind]:
            self._count("C")
            return self._forward("C", start, gradients=False)
        return self._cut(Token("B", start, start, is_whole=True))

    def _end_whole(self, token: Token, kind: str) -> None:
        if token.kind == "B":
            self.whole.append((token.start, self._time))
            token.end = self._time
        elif self._trains.get(kind):
            self._cut(Token("B", self._time, self._time, is_whole=True))
        else:
            token.ends.append(self._time)
            return self._end_forward()
        self._boundary = self._time
        self.found.append(Token("O", self._time, self._time))

    def _choice(self, kind: str, start: int) -> Token | None:
        """An A or D ends the block around it, as far as that counts."""
        if self._is_in("O" + kind) or self._current("FQTY") is not None:
            return None
        if self._awaits_name() and (kind == "A" or not self._has_chosen()):
            return None
        if kind == "D" and self.found and self.found[-1].kind == "D":
            return None
        self._end("KMW", start)
        self._boundary = start
        self._has_key = False
        self._opened, self._tests = None, False
        token = Token(kind, start, start)
        self.found.append(token)
        return token

    def _has_chosen(self) -> bool:
        """Whether a thread that acts before it learns has had forwards without gradients since its
        last S, and nothing else that names forwards."""
        last = [each for each in reversed(self.found) if each.kind not in "KMLWX"]
        behind = next((each.kind for each in last if each.kind != "F"), "")
        is_forward = last[0].kind == "F" and behind != "D" and self._block() is None
        return is_forward and not self._learns() and self._acts_now()

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
        if kind == "G":
            self.batches.append((start, self._time))
            self._end_batch()
        if kind in "JP":
            begin = start if self._paused is None else self._paused
            self._paused = begin if kind == "P" and self._is_in("C") else None
            if self._paused is None:
                self.compilations.append((begin, self._time))

    def _end_batch(self) -> None:
        """As a D, but for what it says of an S."""
        if self._awaits_name() and not self._has_chosen():
            return
        if self.found and self.found[-1].kind == "D":
            return
        self._end("KMW", self._time)
        self._boundary = self._time
        self._has_key = False
        self._opened, self._tests = None, False
        self.found.append(Token("D", self._time, self._time, is_batch=True))

    def _end_phases(self) -> None:
        """The end of the outermost C, whether it counts or not."""
        if self._paused is not None:
            self.compilations.append((self._paused, self._time))
        self._paused = None

    def _leave(self, kind: str, token: Token | None) -> None:
        if kind == "O" and not self._is_in("SBOCJPUVG"):
            self._cut(Token("O", self._time, self._time))
        elif kind in "SB" and token is not None:
            token.end = self._boundary = self._time
        elif kind in "KMW" and token is not None:
            self._end("KMW", self._time)
        elif kind in "XAD":
            self._output(kind)
        elif kind == "H":
            self._change()
        elif kind in "FQTYN" and not self._is_in("C"):
            if token is not None and token.kind == "F" and token.end < 0:
                token.ends.append(self._time)
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
        self._opened, self._tests = None, False
        self._alike = None
        self._has_key = False
        self.found.append(token)
        return token
