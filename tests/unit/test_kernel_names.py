"""Names of kernels as their sources spell them."""

from __future__ import annotations

from pathlib import Path

import pytest
from ground_truth.raw import CudaCall, GpuWork, RawProcess, RawThread
from ground_truth.written import write

from rlscope import _trace


@pytest.mark.parametrize(
    ("name", "function"),
    [
        ("_Z4gemmIfEvPT_i", "void gemm<float>(float*, int)"),
        ("_ZN12_GLOBAL__N_14scanEi", "(anonymous namespace)::scan(int)"),
        ("f", "f"),  # not the type float
        ("triton_poi_fused_add_0", "triton_poi_fused_add_0"),
        ("_Zbroken", "_Zbroken"),
        ("", ""),
    ],
)
def test_the_relation_has_both_names(tmp_path: Path, name: str, function: str) -> None:
    thread = RawThread(cuda_calls=[CudaCall(1, 2, correlation=1)])
    work = GpuWork(3, 5, correlation=1, name=name)
    write([RawProcess(end_ns=10, threads=[thread], gpu=[work])], tmp_path / "trace")
    kernel = _trace.Directory(str(tmp_path / "trace")).cuda_relations(0)["kernel"]
    assert list(kernel["name"]) == [name]
    assert list(kernel["function"]) == [function]
    assert kernel["launch_bound"].tolist() == [1]
