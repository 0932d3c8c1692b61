"""The model of automatic operations against the sentences that it implements, by hand."""

from __future__ import annotations

import pytest
from support.process.automatic_letters import events, program
from support.process.automatic_model import names

LETTERS = {"": ".", "inference": "i", "backprop": "b", "simulation": "s", "compiled": "c",
           "target": "t", "compilation": "j", "evaluation": "e", "import": "m",
           "generation": "g", "advantage": "a", "reference": "r", "replay": "p"}  # fmt: skip


def track(text: str, *, environment: bool = True) -> str:
    """The track of a program, a letter from each event to the next."""
    calls = program(text)
    found = names(calls, environment=environment)
    assert len(found) == events(calls)
    return "".join(LETTERS[name] for name in found)


@pytest.mark.parametrize(
    ("calls", "expected"),
    [
        # Each call has an enter and an exit: "FS" is enter F, exit F, enter S, exit S.
        ("SFS", "s.iis."),
        ("OFS", "..iis."),
        ("SFFS", "s.iiiis."),
        ("SN(F)S", "s.iiiis."),
        # Before the first S or O the forwards only, unless a B follows.
        ("FS", "i.s."),
        ("FFSFS", "i.i.s.iis."),
        ("N(F)S", "iii.s."),
        ("FBFS", "bbb.i.s."),
        ("FB", "bbb."),
        ("FBO", "bbbbb."),
        ("FBOO", "bbbbbbb."),
        ("FBOS", "bbbbb.s."),
        ("FBOFBO", "bbbbb.bbbbb."),
        ("FBBOO", "bbbbbbbbb."),
        # Neither S nor B: the forwards only.
        ("F", "i."),
        ("FF", "i.i."),
        ("FO", "i..."),
        ("N(F)F", "iii.i."),
        # A no-grad forward in an update counts for its own block only.
        ("N(Q)FB", "ttt.bbb."),
        ("N(Q)N(F)FBO", "ttt.ttt.bbbbb."),
        ("FN(Q)B", "bbtttbb."),
        # Where all its modules are trained, it has no target.
        ("N(F)FB", "aaa.bbb."),
        ("SN(F)FBON(F)FB", "s.aaa.bbbbb.bbb.bbb."),
        ("SN(F)FBSN(FQ)QB", "s.aaa.bbb.s.aaaaa.bbb."),
        ("FN(F)B", "bbbbbbb."),
        ("SF(Q)BOSN(Q)FB", "s.bbbbbbb.s.aaa.bbb."),
        # Without gradients in any forward the update is nothing else.
        ("N(F)B", "bbb.b."),
        ("B", "b."),
        ("OB", "..b."),
        # Inference ends with the last conversion of what the forwards returned.
        ("SN(F)XS", "s.iiiii.s."),
        ("SN(F)XXS", "s.iiiiiii.s."),
        ("SN(F)XN(F)S", "s.iiiiiiiiiis."),
        ("SN(F)XN(F)XS", "s.iiiiiiiiiii.s."),
        ("SN(FX)S", "s.iiiii.s."),
        ("SN(FXF)S", "s.iiiiiiiis."),
        ("SN(F)DS", "s.iiiii.s."),
        ("SN(F)AS", "s.iiiii.s."),
        ("SAN(F)XS", "s.iiiiiii.s."),
        # With gradients it ends with the step.
        ("SFXS", "s.iiiis."),
        ("SFXFXS", "s.iiiiiiiis."),
        ("SN(F)XFXS", "s.iiiiiiiiiis."),
        ("SFDS", "s.iiiis."),
        ("SFAS", "s.iiiis."),
        ("SAFXS", "s.iiiiiis."),
        ("SXS", "s...s."),
        ("SFN(X)S", "s.iiiiiis."),
        ("SDFXS", "s...iiiis."),
        ("SFXB", "s.bbbbb."),
        ("SN(Q)XFB", "s.ttt...bbb."),
        # A conversion of anything is one if the forward is given its result.
        ("SWFS", "s.i.iis."),
        ("SWMFS", "s.i.i.iis."),
        ("SWQS", "s...iis."),
        ("SWWFS", "s...i.iis."),
        ("SKWFS", "s.i...iis."),
        ("SWKFS", "s...i.iis."),
        ("SWN(F)S", "s.i.iiiis."),
        ("SN(WF)S", "s.iiiiiis."),
        ("SWFB", "s...bbb."),
        ("SWLFS", "s...iiiis."),
        ("WFS", "..i.s."),
        ("SWAS", "s...iis."),
        # A draw before a step chooses an action, once there were two steps.
        ("SDS", "s...s."),
        ("SSDS", "s.s.iis."),
        ("SSDFS", "s.s.iiiis."),
        ("SSDN(F)S", "s.s.iiiiiis."),
        ("SSKDFS", "s.s.i.iiiis."),
        ("SSKDS", "s.s.i.iis."),
        ("SSWDFS", "s.s...iiiis."),
        ("SSLDFS", "s.s...iiiis."),
        ("SSKDKFS", "s.s.....i.iis."),
        ("SSKDFB", "s.s...ppbbb."),
        ("SSDFB", "s.s.ppbbb."),
        ("SSDKS", "s.s.....s."),
        # What draws and imports sets up.
        ("SSDIS", "s.s...m.s."),
        ("SSDIDS", "s.s...m...s."),
        ("SSDISDS", "s.s...m.s.iis."),
        ("SSDIFB", "s.s.ppmpbbb."),
        # A conversion is part of the forward that it feeds, for its own time.
        ("SKFS", "s.i.iis."),
        ("SKMMFS", "s.i.i.i.iis."),
        ("SKN(F)S", "s.i.iiiis."),
        ("SKFFS", "s.i.iiiis."),
        ("SKKFS", "s...i.iis."),
        ("SKMKMFS", "s.....i.i.iis."),
        ("SFKFS", "s.iiiiiis."),
        ("SN(KF)S", "s.iiiiiis."),
        ("SK(N())FS", "s.iii.iis."),
        ("SKS", "s...s."),
        ("KFS", "..i.s."),
        ("MFS", "..i.s."),
        ("SMFS", "s...iis."),
        ("SKFB", "s...bbb."),
        ("SKFBOFS", "s...bbbbb.iis."),
        ("SFBOKFS", "s.bbbbb.i.iis."),
        ("S(K)FS", "sss.iis."),
        ("SK(F)S", "s.iiiis."),
        # A block without a forward is part of what it interrupts.
        ("SFN()S", "s.iiiis."),
        ("FBN()O", "bbbbbbb."),
        ("FBN()S", "bbb...s."),
        ("SN()FS", "s...iis."),
        # A block that began before the S is no forward afterwards.
        ("N(FSFS)", "iiis.iis.."),
        ("N(FSF)", "iiis.i.."),
        # What is inside an S or a B belongs to it.
        ("S(FFB)FS", "sssssss.iis."),
        ("FB(FO)S", "bbbbbbb.s."),
        # A closure of an optimizer.
        ("O(FBFB)F", ".bbbbbbbb.i."),
        # A backward inside a forward is the forward's, unless it trains.
        ("SF(B)S", "s.iiiis."),
        ("F(B)B", "bbbbb."),
        ("F(FBO)S", "bbbbbb..s."),
        ("F(S)F", "is..i."),
        # Five forwards that write a text are a generation, with all that is open.
        ("TTTTS", "i.i.i.i.s."),
        ("TTTTTS", "ggggggggg.s."),
        ("STTTTTTS", "s.ggggggggggg.s."),
        ("TTTTTTFB", "ggggggggggg.bbb."),
        ("N(TTTTT)FBO", "ggggggggggg.bbbbb."),
        ("N(TTTTTT)N(F)FBO", "ggggggggggggg.aaa.bbbbb."),
        # Behind it the forwards of other models have their names at once, when one was trained.
        ("N(TTTTTT)N(Q)FBO", "ggggggggggggg.rrr.bbbbb."),
        ("FBO N(TTTTT)N(Q)N(F)FBO", "bbbbb.ggggggggggg.rrr.bbb.bbbbb."),
        ("FBO N(TTTTT)N(QF)N(Q)", "bbbbb.ggggggggggg.rrbbb.rrr."),
        ("FBO N(TTTTT)N(FQQ)FBO", "bbbbb.ggggggggggg.bbrrrrr.bbbbb."),
        ("FBO N(TTTTTQF)FBO", "bbbbb.gggggggggggrbbb.bbbbb."),
        ("FBO N(TTTTT)N(QFS)", "bbbbb.ggggggggggg.rrbbis.."),
        # The text was written in one block. It does not go on in another one.
        ("FBO N(TTTTT)N(T)FBO", "bbbbb.ggggggggggg.rrr.bbbbb."),
        ("FBO N(T)N(T)N(T)N(T)N(T)N(T)S", "bbbbb.ggggggggggggggggggggggg.s."),
        ("FBO N(TTTTT)S N(Q)FB", "bbbbb.ggggggggggg.s.ttt.bbb."),
        ("N(T)N(T)N(T)N(T)N(T)N(T)S", "ggggggggggggggggggggggg.s."),
        ("N(TTTTTQT)FB", "gggggggggggrrrr.bbb."),
        ("FTTTTTB", "ggggggggggg.b."),
        ("TTTFTTB", "bbbbbbbbbbbbb."),
        ("TTTTTB", "ggggggggg.b."),
        ("TTTTTFTTTTTS", "ggggggggg.ggggggggggg.s."),
        ("SKTTTTTKS", "s.g.ggggggggg...s."),
        ("TTTTTCT", "ggggggggg.i.i."),
        ("V(TTTTT)TTTTTS", "eeeeeeeeeee.ggggggggg.s."),
        ("O(TTTTT)S", ".i.i.i.i.i..s."),
        # A compiled function is a forward without gradients; after one, a text goes on no more.
        ("CS", "i.s."),
        ("C(SFFBO)S", "bbbbbbbbbbb.s."),
        ("SFCS", "s.iiiis."),
        ("FBCO", "bbb.i..."),
        ("S(C)F(C)B(C)", "sss.bbbbbbb."),
        ("SN(CF)S", "s.iiiiiis."),
        ("N(C)FB", "ttt.bbb."),
        ("SK(C)FS", "s.iiiiiis."),
        ("C(C)", "iii."),
        # What is compiled is one of its own, also in there.
        ("JC(J)S", "j.iji.s."),
        ("C(J(CJ)C)", "ijjjjjiii."),
        ("SFJS", "s.iijis."),
        ("C(S)J", "iii.j."),
        # And inside everything else.
        ("S(J)SF(J)SB(J)", "sjs.s.ijiisbbjb."),
        ("N(JQ)FB(O(J))", "tjttt.bbbbjbb."),
        ("J(SFB)S", "jjjjjjj.s."),
        # From its first phase to its last one, inside a compiled function.
        ("C(PPJ)S", "ijjjjji.s."),
        ("PPJ", "j.j.j."),
        ("F(C(PP)F)", "iijjjjiii."),
        # An evaluation is one of its own, with all that is in it.
        ("V(SFJC)", "eeeeeeeee."),
        ("SFVS", "s.iieis."),
        ("SKV(SK)FS", "s.i.eeeee.iis."),
        ("S(V)F(V)O(V)", "sss.iii....."),
        ("C(V)J(V)", "iii.jjj."),
        # An import is one where no other call is open, and no action was chosen for the next step.
        ("II(I)", "m.mmm."),
        ("SFIS", "s.iiiis."),
        ("SN(F)IS", "s.iiiimis."),
        ("SF(I)S(I)N(I)FB(I)", "s.iiiisss.....bbbbb."),
        ("FBIOI", "bbbbbbb.m."),
        ("BIS", "b...s."),
        ("SK(I)IFS", "s.iii.m.iis."),
        # What begins inside ends it: from there on each import counts anew.
        ("I(SIO)", "ms.m...."),
        ("I(FI)I", "mi......"),
        ("I(VI)", "me.m.."),
        ("I(OI)", "m..m.."),
        ("I(J)I", "mj..m."),
        ("I(N()I)", "m..m.."),
    ],
)
def test_the_track_of_a_program(calls: str, expected: str) -> None:
    assert track(calls) == expected


@pytest.mark.parametrize(
    ("calls", "expected"),
    [
        # A conversion names forwards without gradients once another one follows.
        ("FBON(F)XN(Q)XFBO", "bbbbb.iiiii.iiiii.bbbbb."),
        ("FBON(FX)N(Q)FBO", "bbbbb.iiiii.ttt.bbbbb."),
        ("FBON(F)N(F)XN(F)XQBO", "bbbbb.iiiiiiiii.iiiii.bbbbb."),
        # Before an O only the forwards themselves.
        ("N(F)XN(Q)XFBO", "iii...iii...bbbbb."),
        # Without a conversion, or without a forward behind it, they belong to the update.
        ("FBON(F)FBO", "bbbbb.bbb.bbbbb."),
        ("FBOFXFBO", "bbbbb.bbbbbbbbb."),
        # What may be a text is none.
        ("N(T)XN(T)XN(T)XN(T)XN(T)XFBO", "ggggggggggggggggggggggggggg...bbbbb."),
    ],
)
def test_the_track_of_a_program_without_an_environment(calls: str, expected: str) -> None:
    assert track(calls, environment=False) == expected


def test_ppo() -> None:
    rollout, update = "N(FF)S", "FN()BN()O"
    assert track("S" + rollout * 2 + "N(F)" + update * 2) == (
        "s." "iiiiiis." "iiiiiis." "aaa." "bbbbbbbbb." "bbbbbbbbb."
    )  # fmt: skip


def test_dqn_without_no_grad_in_the_loop() -> None:
    assert track("S FS FS N(Q)FBO FS") == "s.iis.iis.ttt.bbbbb.iis."


def test_sac_with_three_losses() -> None:
    critic, actor, temperature = "N(FQQ)FFBO", "FFFBO", "N(F)BO"
    assert track(critic + actor + temperature) == (
        "ttttttt.bbbbbbb." "bbbbbbbbb." "bbb.bbb."
    )  # fmt: skip


@pytest.mark.parametrize(
    ("calls", "expected"),
    [
        ("SFSBO", "s.iisbbbb."),  # it acts with gradients
        ("SN(F)SBOSBO", "s.iiiis.bbb.sbbbb."),  # the first update shows it
        ("SFSBOSFSBO", "s.iisbbbb.s.iisbbbb."),
        ("SFSBOSSBO", "s.iisbbbb.s.sbbbb."),
        ("SFSBOSBO", "s.iisbbbb.sbbbb."),
        ("SFSBOSBBO", "s.iisbbbb.sbbbbbb."),
        # What it converts for the loss is a part, and what it converts for a forward is not.
        ("SFSBOSKWLBO", "s.iisbbbb.sbbbbbbbbbb."),
        ("SFSBOSKFS", "s.iisbbbb.s.i.iis."),
        ("SFSBOSWMFS", "s.iisbbbb.s.i.i.iis."),
        # Another forward, a draw, an action or an update of another kind shows otherwise.
        ("SFSBOSFBO", "s.iisbbbb.s.bbbbb."),
        ("SFSBOSFBOSBO", "s.iisbbbb.s.bbbbb.s.bbb."),
        ("SFSBOSDBO", "s.iisbbbb.s.ppbbb."),
        ("SFSBOSABO", "s.iisbbbb.s...bbb."),
        ("SFSBOSO", "s.iisbbbb.s..."),
        ("SFSBOSVBO", "s.iisbbbb.sbebbbb."),
    ],
)
def test_a_program_that_learns_from_the_forwards_it_acted_with(calls: str, expected: str) -> None:
    assert track(calls) == expected


@pytest.mark.parametrize(
    ("calls", "expected"),
    [
        ("N(F)DFBOS", "iiiippbbbbb.s."),  # the batch
        ("N(F)XDFBOS", "iiiii.ppbbbbb.s."),
        ("N(F)GFBOS", "iiiippbbbbb.s."),
        ("N(F)DN(Q)FBOS", "iiiippttt.bbbbb.s."),
        ("N(F)DS", "iiiiiis."),  # the action
        ("N(F)DFDBOS", "iiiippbbbbbbb.s."),  # a part of the update
        ("N(F)N(Q)FBOS", "ttt.ttt.bbbbb.s."),  # nothing was drawn
    ],
)
def test_what_is_learnt_from_may_be_drawn_after_the_action_was_chosen(calls, expected) -> None:
    assert track(f"SBOS{calls}") == f"s.bbb.s.{expected}"


@pytest.mark.parametrize(
    ("calls", "expected"),
    [
        ("FBOHHHHS", "bbbbbbbbbbbbb.s."),
        ("FBOHHHS", "bbbbb.......s."),  # three are too few
        ("FBHHHHHS", "bbbbbbbbbbbbb.s."),  # it steps by itself
        ("HHHHFBOSHHHHS", "........bbbbb.s.........s."),  # only behind an update
        ("FBOHHHHFBO", "bbbbbbbbbbbbb.bbbbb."),
        # A no-grad block counts as a whole, if no forward lies in it.
        ("FBON(HHHH)S", "bbbbbbbbbbbbbbb.s."),
        ("FBON(HH)HHS", "bbbbbbbbbbbbbbb.s."),
        ("FBON(HHHHQ)FBO", "bbbbb.ttttttttttt.bbbbb."),
        # Whatever else begins ends it, and what counts apart interrupts it.
        ("SSFBOHHDHHS", "s.s.bbbbb.....iiiiiis."),
        ("SFBOHHHHVHS", "s.bbbbbbbbbbbbbbebb.s."),
        # What lies inside of another call is a part of that.
        ("FBO(HHHH)S(HHHH)F(HHHH)", "bbbbbbbbbbbbb.sssssssss.iiiiiiiii."),
    ],
)
def test_changes_of_tensors_behind_an_update(calls: str, expected: str) -> None:
    assert track(calls) == expected
