"""The verdict on a correction, from rounds whose bias is known."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest
from support.files import example_run

from rlscope.calibration import validation
from rlscope.calibration.validation import Round, judge
from rlscope.commands import validate
from rlscope.costs import inflation
from rlscope.opening import load
from rlscope.rundir.turns_file import BARE, RECORDED, Block


def rounds(*biases: float, removed: float = 0.02, width: float = 0.01) -> list[Round]:
    return [
        Round(bias + removed, removed, removed - width, removed + width, 0.001 * sign, "probes")
        for bias, sign in zip(biases, (1, -1) * len(biases), strict=False)
    ]


@pytest.mark.parametrize(
    ("biases", "word"),
    [
        ((0.0, 0.001, -0.001), validation.INSIDE),
        ((0.028, 0.0281, 0.0279), validation.INSIDE),
        ((0.029, 0.031, 0.030), validation.UNDECIDED),
        ((0.2, -0.2, 0.0), validation.UNDECIDED),
        ((0.05, 0.051, 0.052), validation.OUTSIDE),
        ((-0.05, -0.051, -0.052), validation.OUTSIDE),
    ],
)
def test_the_verdict_is_that_of_the_whole_interval(biases: tuple[float, ...], word: str) -> None:
    assert judge(rounds(*biases)).word == word


@pytest.mark.parametrize(
    ("bias", "said"), [(0.0, "verdict: inside +-3 %"), (0.05, "verdict: outside +-3 %")]
)
def test_the_last_line_says_the_verdict(bias: float, said: str) -> None:
    assert validate._lines(judge(rounds(bias, bias, bias)))[-1] == said


def test_records_whose_cost_is_unknown_are_named() -> None:
    """As those of CUDA are in a program that was never calibrated."""
    known = rounds(0.3, 0.3)
    assert "calibrate" not in " ".join(validate._lines(judge(known)))
    lines = validate._lines(judge([replace(each, unknown_costs="CUDA calls") for each in known]))
    (said,) = [line for line in lines if "records of CUDA calls cost" in line]
    assert "`rlscope calibrate`" in said


def test_bias_is_what_is_left_of_what_recording_added() -> None:
    verdict = judge(rounds(0.01, 0.01, 0.01))
    assert (verdict.added.mean, verdict.bias.mean) == pytest.approx((0.03, 0.01))
    assert verdict.control is not None
    assert verdict.control.low < 0 < verdict.control.high
    assert verdict.rounds == 3


def test_a_correction_is_held_to_its_own_interval() -> None:
    """It claims 0.02 give or take 0.01."""
    assert judge(rounds(0.009, 0.009)).holds
    assert judge(rounds(-0.009, -0.009)).holds
    assert not judge(rounds(0.011, 0.011)).holds
    assert not judge(rounds(-0.011, -0.011)).holds
    assert judge(rounds(0.001, 0.021)).holds  # the rounds cannot tell
    assert judge(rounds(0.011, 0.011)).claimed == pytest.approx((0.001, 0.021))


def test_rounds_are_counted_in_which_the_claim_held() -> None:
    assert judge(rounds(0.009, -0.009, 0.011, 0.0, -0.2)).held == 3


def test_a_control_of_one_round_is_none() -> None:
    one, two = rounds(0.0, 0.0)
    without = Round(two.added, two.removed, 0, 0, None, "")
    assert judge([one, without]).control is None


def test_one_round_is_no_verdict() -> None:
    with pytest.raises(ValueError, match="one run"):
        judge(rounds(0.0))


def test_the_control_compares_blocks_without_records() -> None:
    """Records add 50 %; what is not recorded differs by nothing, though half of it is slower."""

    def pair(number: int, recorded_first: bool, slow: int) -> list[Block]:
        blocks = [
            Block(
                1,
                number,
                RECORDED if recorded else BARE,
                True,
                1,
                slow * (150 if recorded else 100),
            )
            for recorded in (True, False)
        ]
        return blocks if recorded_first else blocks[::-1]

    blocks = [block for i in range(80) for block in pair(i, i % 3 == 0, slow=1 if i < 40 else 10)]
    added, control = inflation.estimate(blocks), inflation.control(blocks)
    assert added is not None and control is not None
    assert added.share.mean == pytest.approx(0.5)
    assert (control.added_ns.mean, control.pairs) == (0, 40)
    assert inflation.control(blocks[:20]) is None


def test_what_is_taken_out_beside_gpu_work_is_cpu_time(tmp_path: Path) -> None:
    """The program is compared by its CPU time, which the GPU's is not part of."""
    directory = str(tmp_path / "run")
    example_run.write(Path(directory))
    costs = [
        {"kind": kind, "mean_ns": 2000, "low_ns": 1000, "high_ns": 4000, "inside": 0.3}
        for kind in ("operation", "native call")
    ]
    Path(directory, "rlscope_calibration.json").write_text(
        json.dumps({"method": "known costs", "pairs": 50, "costs": costs})
    )
    with load(directory) as trace:
        ((taken_ns, beside_ns),) = trace.sql(
            "SELECT CAST(SUM(overhead_ns) AS BIGINT),"
            " CAST(SUM(overhead_ns) FILTER (gpu_busy) AS BIGINT) FROM breakdown"
        )
    removed = validation._removed(directory, None)
    assert removed["mean"] == taken_ns
    assert 0 < beside_ns < taken_ns
    assert removed["low"] < removed["mean"] < removed["high"]
