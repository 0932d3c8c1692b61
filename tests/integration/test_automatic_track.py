"""The records of automatic operations against the model, for random programs of calls.

Each program runs in a thread of its own, in one recorded child. Before each event a progress report
says its number, so that the records that follow belong to it.
"""

from __future__ import annotations

import ctypes
import json
import struct
import subprocess
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st
from support.process.automatic_letters import Call, events, program
from support.process.automatic_model import names
from support.process.automatic_records import read_track
from support.process.recorded_child import DONE, Recorded, record

# Where PyTorch says whether gradients are on; here the program says it.
MODE = """
static _Thread_local int disabled;
void set_disabled(int value) { disabled = value; }
_Bool _ZN3c108GradMode10is_enabledEv(void) { return !disabled; }
"""
CHILD = """
import contextlib, ctypes, json, sys, threading, types
import numpy
import rlscope.auto
from rlscope.recorder import runtime

rlscope.auto.begin()
mode = ctypes.CDLL({mode!r})
assert runtime.ask_gradients({mode!r})


runs = []  # all live, too


class Run:
    def __init__(self):
        self.time = 0
        self.disabled = [0]
        self.objects = [object()]  # all live: an address is one object's
        self.environments = object(), object()
        self.jitted = types.SimpleNamespace(__name__="jitted")
        self.quiet = types.SimpleNamespace(__name__="quiet")
        returns_nothing(self.quiet, lambda: None)
        self.text, self.model, self.other = numpy.empty((1, 0)), Model(), Model()
        runs.append(self)

    def mark(self):
        runtime.progress(self.time, 0)
        self.time += 1

    def calls(self, program):
        for kind, inside in program:
            self.mark()
            CALLS[kind](self, inside)

    def new(self):
        self.objects.append(object())
        return self.objects[-1]

    def body(self, inside):
        self.calls(inside)
        self.mark()


class Model:
    __call__ = runtime.watch("forward", lambda model, text, run, inside: run.body(inside))


def token(run, inside):
    run.text = numpy.empty((1, run.text.shape[1] + 1))
    run.model(run.text, run, inside)


def other(run, inside):
    run.other(None, run, inside)


class Block:
    def __init__(self, run, disabled):
        self.run, self.value = run, disabled

    def __enter__(self):
        self.run.disabled.append(self.value)
        mode.set_disabled(self.value)

    def __exit__(self, *exc):
        self.run.disabled.pop()
        mode.set_disabled(self.run.disabled[-1])


class NoGrad(Block):
    __enter__ = runtime.watch("block enter", Block.__enter__)
    __exit__ = runtime.watch("block exit", Block.__exit__)


def enter(kind, disabled):
    def call(run, inside):
        with kind(run, disabled):
            run.body(inside)
    return call


def event(name):
    return runtime.watch(name, lambda run, inside: run.body(inside))


def jitted(run, inside):
    return compiled(run.jitted, run, inside)


def quiet(run, inside):
    returns_nothing(run.quiet, lambda: run.body(inside))


def step(environment, run, inside):
    run.body(inside)
    run.observation = run.new()
    return run.observation, 0.0


def steps(number):
    return lambda run, inside: simulation(run.environments[number], run, inside)


def converted(of, run, inside):
    run.body(inside)
    run.converted = run.new()
    return run.converted


def converts(name):
    return lambda run, inside: conversion(getattr(run, name, run.objects[0]), run, inside)


conversion = runtime.watch("conversion", converted)
making = runtime.watch("making", converted)
forward = runtime.watch("forward", lambda run, given, inside: run.body(inside))
simulation = runtime.watch("simulation", step)
change = event("change")
begins, ends, pauses = (
    runtime.watch(f"compilation {{edge}}", lambda: None) for edge in ("enter", "exit", "pause")
)


def compilation(ends):
    def call(run, inside):
        begins()
        run.body(inside)
        ends()
    return call


def value(function, run, inside):
    run.body(inside)
    return 0.0


# Imports count from that of a known package on.
runtime.watch("import", lambda loader, module: None)(None, types.ModuleType("gym"))
compiled = runtime.watch("compiled", value)
returns_nothing = runtime.watch("compiled", lambda function, body: body())
CALLS = dict(
    C=jitted, c=quiet, J=compilation(ends), P=compilation(pauses),
    S=steps(0), Z=steps(1), K=converts("observation"), M=converts("converted"),
    A=event("choice"), D=event("draw"), L=event("random key"), U=event("training"),
    Y=event("prediction"), X=event("output"),
    W=lambda run, inside: making(run.objects[0], run, inside),
    F=lambda run, inside: forward(run, getattr(run, "converted", None), inside),
    T=token, Q=other, B=event("backward"), O=event("step"),
    N=enter(NoGrad, 1), E=enter(Block, 0), V=event("evaluation"), I=event("import"),
    G=event("sampling"), H=lambda run, inside: change(run, inside=inside),
)
if {environment}:
    runtime.watch("simulation", lambda: None)()
for program in json.loads({programs!r}):
    run = Run()
    thread = threading.Thread(target=run.calls, args=[program])
    thread.start()
    thread.join()
"""


@pytest.fixture(scope="module")
def mode(tmp_path_factory: pytest.TempPathFactory) -> str:
    """Path of the library that says whether gradients are on."""
    folder = tmp_path_factory.mktemp("mode")
    (folder / "mode.c").write_text(MODE)
    command = ["gcc", "-shared", "-fPIC", "-o", "mode.so", "mode.c"]
    subprocess.run(command, cwd=folder, check=True)
    ctypes.CDLL(str(folder / "mode.so"))
    return str(folder / "mode.so")


def run_programs(
    directory: Path, mode: str, programs: list[list[Call]], *, environment: bool = True
) -> list[list[str]]:
    """The name of the track after each event, for each program."""
    text = json.dumps([_as_lists(calls) for calls in programs])
    child = CHILD.format(mode=mode, programs=text, environment=environment)
    recorded = record(str(directory), child)
    threads = [thread for thread in recorded.threads() if _has_marks(recorded, thread)]
    assert len(threads) == len(programs)
    return [
        _track(recorded, thread, events(calls))
        for thread, calls in zip(threads, programs, strict=True)
    ]


def _as_lists(calls: list[Call]) -> list[Any]:
    return [[call.kind, _as_lists(call.inside)] for call in calls]


def _items(recorded: Recorded, thread: int) -> Any:
    return recorded.reader.items(recorded.process()["index"], thread)


def _has_marks(recorded: Recorded, thread: int) -> bool:
    return bool((_items(recorded, thread)["kind"] == DONE).any())


def _track(recorded: Recorded, thread: int, count: int) -> list[str]:
    """Times of records are replaced by the number of the event that they belong to."""
    items = _items(recorded, thread)
    now = -1.0
    numbered = []
    for kind, id_, value in zip(items["kind"], items["id"], items["value"], strict=True):
        if kind == DONE:
            (now,) = struct.unpack("<d", struct.pack("<Q", int(value)))
        else:
            numbered.append((now, int(kind), int(id_)))
    track = [""] * count
    for segment in read_track(numbered, float(count), recorded.names()):
        name = segment.name.partition(":")[0]
        if name:
            start, end = int(segment.start), int(segment.end)
            track[start:end] = [name] * (end - start)
    return track


TYPICAL = [
    program("S N(FF)S N(FF)S N(F) FN()BN()O FN()BN()O"),
    program("F S FS FS N(F)FBO FS"),
    program("S N(FFF)FFBO FFFBO N(F)BO S"),
    program("N(F)FSFSBO"),
    program("SKMFS SKKMFS SFKFS SN(KF)S SKS KFBO SKFBO KN(F)S SKMFN(F)BO MKMFS"),
    program("JC(J)S SFJS C(J(CJ)C) S(J)F(J)B(J) J(SFB)S N(J)F N(FJ)S O(J) K(J)FS SK(J)FS"),
    program("PPJC(PPJ)S C(PC(J))C(PP) J(C(P)C)P C(P(C)P)C(PV(J))S"),
    program("O(FBFB)F N(FSFS) F(B)S F(FBO)S N() FN()S"),
    program("CSCFCSC FBCO C(SFBO) N(CF)S F(C)S S(C)F(C)B(C) O(C)"),
    program("S(J)F(J)S N(JF)F B(J)O(J) F(C(PP)F)S"),
    program("SC()SC(B)C(B)CCS CSKCSCFSFCCSN(C)FBO CVC DCBC DC() SFC(F)S"),
    program("U SUUS SYUS SDYUS YS U(SFBO)U(J)U(V) V(U) F(U)S(U) Y(Y)S Y(F)FBO UIU"),
    program("SLFS SLKFS SKLFS SKLKFS SLIFS SLBO SBLOF SBOLFS LFL(K)S SLN(F)S N(L)S SLDFBO"),
    program("SFXS SFXXFXS SN(FX)SN(FXF)S SN(F)XN(X)S SAFXS SFDS SDFXS SFXBO SN(Q)XFBO X(F)S F(X)S"),
    program(
        "SWFS SWMFS SWQS SWWMFS SKWFS SWKFS SWN(F)S SN(WF)S SWFBO BWO SWLFS SWAS W(F)FS SWLKFS"
    ),
    program("SDS SDS SDFS SSDN(F)S SDKS SDI()S SDAS DFXBS SFXTTTTTXTS N(FXS)S F(SX)S C(X)XS"),
    program("N(TTTTT)TFB E(TT)TTN(TT)TTTTS"),
    program("V SFVS V(SFBO) C(V)J(V) S(V)F(V)B(V)O(V) SKV(SK)FS"),
    program("STTTTTTS N(TTTTT)FBO N(T)N(T)N(T)N(T)N(T)N(T)S N(TTTTTFT)FB FTTTTTB TTTFTTB"),
    program("TTTTTFTTTTTS SKTTTTTKS TTTTTCTVTJT V(TTTTT)TTTTIT O(TTTTT)S T(TTTTT)TTTTT(S)"),
    program("A S AS A(AF)S SKAS SAKS SK(A)S SAFS SFAS SAFBO AS BAO SN(A)S N(AF)S N(FA)S"),
    program("SABS SAO(A)S SN(A)BS S(A) SC(A)AC()S SAN(F)S AV(A)J(A)I()S F(A)B(A)ATTTTTAS"),
    program("SDFBO SDN(F)FBO DFBODN()N(F)FBDBO SD() SDFS SDO SDFSFBO SDKFBO SDAFBO SAD"),
    program("SFDFBO KDFBO SN(D)FBO SN(DF)FBO SDN(B) SDDFBO D(DF)BO SDCFBO SDI()FBO SDTTTTTFB"),
    program("SGFBO SGFGFBO SFSGFS SGN(F)FBO SGS SFSGDFBO SDGFS SKGFBO SGKFS SG(F)FB F(G)B"),
    program("SFSGDS GO O(G)S SAGS SN(G)FB SN(FG)S GCGC SLGFB G(S)V(G)J(G) SWGFB SBGBO"),
    program("O(D)S S(D)DB F(D)DBO SBDO(F)FB SKDK(D)F(B)O DF(B)O"),
    program("SFBOHHHHS FBOHHHFBOHHHHHN(HH)S FBON(HHHH)S FBON(HHHHF)HHHHS BHHHHOHHHHVHN(I)D"),
    program("SBON(HHHHA)S BOH(I)HHI(H)HHN(H(H)HN(HH))KHHHHS BON(H)HN(HH)N()N(H)J(HHHH)SHHHHS"),
    program("SUHHHHSB(HHHH)O(HHHH)F(HHHH)SBOHHHCHSBOHHHDHS SBOHHVHHLHWHS BON(HHHH)VS"),
    program("SUcSUccS SFccS cS SBOcHS SBOC(c)S SBOc(F)S SBOc(C(B))S SC(c(B))CS SBO N(c)S SBcOS"),
    program("SBOc(B)cScS SUc(B)SccS SFc(B)CSC(B)cSc(B)cCS V(c(B))cS SBOc(J(B))cS N(c(B))cFBO"),
    program("F(c)S S(c)FBO V(c)BOS SUI(c)S SUIcS SBOc(J)c(PP)S SBOc(S)c(B)S SUcTTTTTS SUcLcFS"),
    program("SBOHN(HHF)HS SW(N(A))S SW(N(A(S)))S SW(N(D))S SLN(D)S SLN(A)S SSW(N(D(S)))S"),
    program("SBSBSBSBO ZFZFZ SFS ZZS ZFZSO ZFZBO SBSBSBSFSB ZFZS"),
    program("SBO ZFZSO ZFZSBO ZFZSBO N(ZFZ) F ZCZ SFSO ZN(FV)J(F)ZI SBZFZS(ZFZ)ZCZVS"),
    # Acting before the update, and after it again.
    program("SN(F)XN(Q)FBOS N(F)XN(Q)FBOSSN(F)XN(Q)FBON(F)S N(F)XN(Q)FBOKS N(F)XFBOVS SFXFBOS"),
    program("SFXUS FXFUS FXNFBOHHHHS FXDFBOAS FXFBO(S)S FXFBOS N(F)XTTTTTXTBOS KN(F)XN(QQ)FBS"),
    # What the update learns from is drawn after the action was chosen, or is the action itself.
    program("SBOS N(F)DN(Q)FBOS N(F)XDFBOS N(F)DDFBOS N(F)XDXFBODS N(F)DS N(F)DFDBOS FDFBOS"),
    program("SBOS N(FD)DFBOS DN(F)DFBOS N(F)N(D)FBOS F(D)DBOS KN(F)WDXFBOS N(F)DN(F)DFBOS"),
    program("SBOS N(F)XFXDFBOS N(F)XN(Q)DFBOS AN(F)DFBOS N(F)O(D)BOS N(F)DI()BOS N(F)DKFS"),
    program("SBOS TTTTTDFBOS N(F)GFDBOS N(F)DGFBOS N(F)DAFBOS SBOXN(F)DFBOS N(F)DSDFBOS"),
    program("SFBOSFXFBOS FXFXFBOS QXFXQBOS FXS FXFBOS FXAFBOS FXJFVFBS N(F)XFXFBOSFXBOSFBOFXS"),
    program("SLFSI()S SFBOLI()N(F)I(X()H)S SV(S)KFS"),
    # A thread that acts on what it converts tests its updates.
    program("SKFS FBOFKFS FBOFXKFS FBON(F)KFS FBON(F)XKFS FBON(F)XFKFS FBOFQKFS FBOFBOFKFS"),
    program("SKFS FBOFFBOFKFSKFBOFKFS FBOFSKFS FBOFBOKFS FBON(F)KFBO FBOFKBO FBON(Q)FBO"),
    program("SWFS FBOFWFS FBOFWMFS FBON(F)XWFS FBOFWBO FBOFWQS FBOFWFBO FBOFWS FBOWFFKFS"),
    program("SN(KF)S FBOFN(KF)S FBON(F)XN(K)FS FBOFXN(KFF)S FBOFN(FK)FS FBOFN(KQ)N(F)KFS"),
    program("SN(WF)S FBOFN(WMF)S FBOFN(WF)S FBOFWN(F)S FBOFN(W)FS FBOFKN(F)S FBOFN(WQ)S"),
    program("SFS FBOFKFS SKFS FBFKFS FSFBOFKFS SKFFS FBOLFKFS SKDFS FBOFKFS SKMFS FBOFMFKFS"),
    program("SKFS FBODFKFS FBOFAKFS FBOFLKFS FBOFDKFS FBOF(B)KFO FBOKFKFS FBOFFN(KF)S"),
    program("SKFS FBOF(S)KFS FBOFO(K)S FBOFN(K)KS FBOFVKFS FBOFJKFS FBOFCKFS CFKS FBOFIKIS"),
    program("SKFS UFKFS UCKCS TTTTTKS FBOFTTTTTKS FBOTTTTTKFS FBOFKTTTTTS FBOFO(WF)S"),
    program("SKFS FBOWFKFS FBON(KF)KFS SKFSFBOSFBOFKFS SKFS FBOSKFS SFS FBOSKFSFBOFKFSFBOFKFS"),
    program("SKFSFBON(FKF)KFS FBON(FWF)KFS FBOWQFKFS SKFBOFMFKFS SKFBOFN(MF)KFS SKFBOFLFKFS"),
    program("SKFSFBOF(W)FKFS FBOFWO(F)KFS SWQSFBOFKFS SLFSFBOFKFS SFSN(W)SFSFBOFKFS"),
    program("WFSFBOFKFS SKFSFBON(K)N(F)KFS FBOFK(W)FS FBOFN(K(W)F)S FBOFW(W)FS FBOFL(W)FKFS"),
    program("SBOS KN(F)XFBOS N(F)XFBOKS SKFSFBOFKFS FBOFKLFS FBOFKKFS FBOFKWFS FBOFHHHHKFS"),
    program("II(I) SFIS SF(I)S(I)FB(I) FBIOI SK(I)IFS I(SIO) I(FI)I I(VI)O(I)I(OI)I(J)I"),
]


def test_typical_loops(mode: str, tmp_path: Path) -> None:
    assert run_programs(tmp_path / "run", mode, TYPICAL) == [names(each) for each in TYPICAL]


SHORT = {
    "R": "T)T)T)T)T",
    "*": "S)B)" * 4 + "Z)F)Z)",  # a loop that learns, and the beginning of an evaluation
    "+": "B)O)H)H)H)",
}


def nested(text: str) -> list[Call]:
    """A program by letters: each opens a call, which ")" or the end closes."""
    stack: list[list[Call]] = [[]]
    for short, long in SHORT.items():
        text = text.replace(short, long)
    for letter in text:
        if letter != ")":
            call = Call(letter)
            stack[-1].append(call)
            stack.append(call.inside)
        elif len(stack) > 1:
            stack.pop()
    return stack[0]


def test_typical_loops_without_an_environment(mode: str, tmp_path: Path) -> None:
    programs = [
        program("N(F)XN(F)XN(F)XFBO N(F)XN(F)XN(F)XFBO"),
        program("FBO N(FX)N(FX)N(FX)FBO N(F)N(F)XN(QF)XFBO N(FXF)XN(F)X"),
        program("FBO N(T)XN(T)XN(T)XN(T)XN(T)XN(T)XFBO N(T)XN(T)XN(F)XFBO"),
        program("FBO N(Q)FBO N(Q)XFBO FXFXB O(N(F)XN(F)X)N(F)XN(QQ)XBO N()XN(F)N(X)N(Q)"),
    ]
    expected = [names(each, environment=False) for each in programs]
    assert run_programs(tmp_path / "run", mode, programs, environment=False) == expected


# Half of all letters close a call: programs are as wide as they are deep.
PROGRAMS = (
    st.text(
        "SFBONECccFKMSJCPVIIRRTQQ*HHHH+++ZZFAAADDDGGGLLUUYYXXXWW))))))))))))))))))))))))))))",
        max_size=30,
    )
    .map(nested)
    .filter(bool)
)


# Without an environment. Other letters count there in ways that this is not about.
MODELS = st.text("FFBONEQTRXXXHHHII++" + ")" * 12, max_size=30).map(nested).filter(bool)


@settings(
    max_examples=6,
    deadline=None,
    phases=[Phase.generate],  # a failure names its shortest program: shrinking lists takes minutes
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)
@given(data=st.data(), environment=st.booleans())
def test_random_programs(
    data: st.DataObject, environment: bool, mode: str, tmp_path_factory: pytest.TempPathFactory
) -> None:
    kind = PROGRAMS if environment else MODELS
    programs = data.draw(st.lists(kind, min_size=50, max_size=100))
    directory = tmp_path_factory.mktemp("random") / "run"
    tracks = run_programs(directory, mode, programs, environment=environment)
    wrong = [
        (calls, track)
        for calls, track in zip(programs, tracks, strict=True)
        if track != names(calls, environment=environment)
    ]
    if wrong:
        calls, track = min(wrong, key=lambda each: events(each[0]))
        assert track == names(calls, environment=environment), calls
