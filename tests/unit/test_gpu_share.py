"""The option --gpu-share: what it takes."""

from __future__ import annotations

import argparse
from pathlib import Path

import pytest

from rlscope.commands.options import values
from rlscope.record.environment import default_gpu_share, layer_variables
from rlscope.record.settings import Settings


@pytest.mark.parametrize(
    ("text", "share"),
    [("auto", "auto"), ("10%", "10%"), ("0.5%", "0.5%"), ("100%", "100%"), ("100.0%", "100%"),
     ("", "")],
)  # fmt: skip
def test_a_share_is_auto_or_per_cent(text: str, share: str) -> None:
    assert values.gpu_share(text) == share


@pytest.mark.parametrize("text", ["0%", "0.0%", "101%", "10", "%", "1e1%", "-5%", "auto%", "5.%"])
def test_anything_else_is_refused(text: str) -> None:
    with pytest.raises(argparse.ArgumentTypeError, match="expected auto, or a share"):
        values.gpu_share(text)


def test_auto_is_the_default_where_there_is_cuda(tmp_path: Path) -> None:
    (tmp_path / "libcuda.so.1").write_bytes(b"\x7fELF\x02")
    found = {"LD_LIBRARY_PATH": str(tmp_path)}
    assert default_gpu_share(found) == "auto"
    assert default_gpu_share({**found, "RLSCOPE_GPU_SHARE": "100%"}) == ""
    assert default_gpu_share(found, is_part=True) == ""
    (tmp_path / "libcuda.so.1").write_bytes(b"no library")
    assert default_gpu_share(found) == ""


def test_torch_profiler_gets_cupti_where_windows_end_it() -> None:
    """But for who says otherwise, and with auto, which may have none."""
    assert "RLSCOPE_CUPTI_YIELD" not in layer_variables({}, Settings([]))
    assert "RLSCOPE_CUPTI_YIELD" not in layer_variables({}, Settings([], gpu_share="auto"))
    assert layer_variables({}, Settings([], gpu_share="10%"))["RLSCOPE_CUPTI_YIELD"] == "1"
    held = Settings([], gpu_share="10%", cupti="hold")
    assert layer_variables({}, held)["RLSCOPE_CUPTI_YIELD"] == "0"
