"""Single operations of PyTorch over sizes: how long the GPU takes, what they read, write, compute.

python kernel_table.py FILE     a line of JSON for each operation; `mark` is its rls.operation

Times are medians between CUDA events; the first runs are not counted.
"""

from __future__ import annotations

import json
import statistics
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import torch
from driver import say
from torch import Tensor
from torch.nn import functional

import rlscope as rls

WARM_UP, TIMED = 3, 10
DTYPES = {"float32": torch.float32, "bfloat16": torch.bfloat16}
ROWS = (1, 16, 64, 256, 1024, 4096)
WIDTHS = (64, 256, 1024, 4096)
NUMBERS = tuple(1 << power for power in range(10, 29, 3))
COPIED = tuple(1 << power for power in range(8, 29, 2))
IMAGES = ((32, 4, 84, 32, 8, 4), (32, 32, 20, 64, 4, 2), (32, 64, 9, 64, 3, 1),
          (256, 4, 84, 32, 8, 4), (256, 32, 20, 64, 4, 2), (1024, 64, 9, 64, 3, 1),
          (64, 64, 56, 64, 3, 1), (64, 256, 14, 256, 3, 1))  # fmt: skip


@dataclass
class Case:
    """An operation, ready to run."""

    kind: str
    shape: str
    dtype: str
    flops: int
    bytes: int
    run: Callable[[], object]

    def mark(self) -> str:
        return f"{self.kind} {self.shape} {self.dtype}"


def of(shape: tuple[int, ...], dtype: str) -> Tensor:
    return torch.randn(shape, device="cuda", dtype=DTYPES[dtype])


def size_of(*tensors: Tensor) -> int:
    return sum(tensor.numel() * tensor.element_size() for tensor in tensors)


def products() -> Iterator[Case]:
    for dtype in DTYPES:
        for rows in ROWS:
            for width in WIDTHS:
                a, b = of((rows, width), dtype), of((width, width), dtype)
                moved = size_of(a, b) + rows * width * a.element_size()
                shape, flops = f"{rows}x{width}x{width}", 2 * rows * width * width
                yield Case("gemm", shape, dtype, flops, moved, lambda a=a, b=b: a @ b)
                linear = torch.nn.Linear(width, width, device="cuda", dtype=DTYPES[dtype])
                yield Case(
                    "linear", shape, dtype, flops, moved, lambda a=a, f=linear: f(a).detach()
                )
        for width in (2048, 8192):
            a, b = of((width, width), dtype), of((width, width), dtype)
            shape = f"{width}x{width}x{width}"
            yield Case("gemm", shape, dtype, 2 * width**3, 3 * size_of(a), lambda a=a, b=b: a @ b)


def convolutions() -> Iterator[Case]:
    for dtype in DTYPES:
        for images, channels, width, filters, kernel, stride in IMAGES:
            x = of((images, channels, width, width), dtype)
            w = of((filters, channels, kernel, kernel), dtype)
            out = functional.conv2d(x, w, stride=stride)
            flops = 2 * out.numel() * channels * kernel * kernel
            shape = f"{images}x{channels}x{width}x{width}*{filters}x{kernel}/{stride}"
            run = lambda x=x, w=w, stride=stride: functional.conv2d(x, w, stride=stride)  # noqa: E731
            yield Case("conv2d", shape, dtype, flops, size_of(x, w, out), run)


def of_each_number() -> Iterator[Case]:
    for dtype in DTYPES:
        for count in NUMBERS:
            a, b = of((count,), dtype), of((count,), dtype)
            size, shape = size_of(a), str(count)
            yield Case("add", shape, dtype, count, 3 * size, lambda a=a, b=b: a + b)
            yield Case("relu", shape, dtype, count, 2 * size, lambda a=a: a.relu())
            yield Case("tanh", shape, dtype, count, 2 * size, lambda a=a: a.tanh())
            yield Case("fill", shape, dtype, 0, size, lambda a=a: a.fill_(1.0))


def reductions() -> Iterator[Case]:
    for dtype in DTYPES:
        for count in NUMBERS:
            a, rows = of((count,), dtype), of((max(count // 256, 1), 256), dtype)
            size = size_of(a)
            yield Case("sum", str(count), dtype, count, size, lambda a=a: a.sum())
            shape = "x".join(map(str, rows.shape))
            yield Case("sum rows", shape, dtype, count, size, lambda a=rows: a.sum(1))
            yield Case("softmax", shape, dtype, 4 * count, 2 * size, lambda a=rows: a.softmax(1))


def copies() -> Iterator[Case]:
    for count in COPIED:
        device = torch.empty(count, dtype=torch.uint8, device="cuda")
        pageable = torch.ones(count, dtype=torch.uint8)
        pinned, other, shape = pageable.pin_memory(), torch.empty_like(device), str(count)
        for kind, to, source in (
            ("copy HtoD pageable", device, pageable),
            ("copy HtoD pinned", device, pinned),
            ("copy DtoH pageable", pageable, device),
            ("copy DtoH pinned", pinned, device),
            ("copy DtoD", other, device),
        ):
            run = lambda to=to, source=source: to.copy_(source, non_blocking=True)  # noqa: E731
            yield Case(kind, shape, "uint8", 0, count * (2 if kind == "copy DtoD" else 1), run)


FAMILIES = (products, convolutions, of_each_number, reductions, copies)


def measured(case: Case) -> dict[str, object]:
    for _ in range(WARM_UP):
        case.run()
    events = [torch.cuda.Event(enable_timing=True) for _ in range(2 * TIMED)]
    with rls.operation(case.mark()):
        for begin, end in zip(events[::2], events[1::2], strict=True):
            begin.record()
            case.run()
            end.record()
        torch.cuda.synchronize()
    spent = [b.elapsed_time(e) * 1e6 for b, e in zip(events[::2], events[1::2], strict=True)]
    facts = {name: value for name, value in vars(case).items() if name != "run"}
    return {**facts, "mark": case.mark(), "runs": TIMED, "event_ns": statistics.median(spent)}


def main(file: Path) -> None:
    torch.manual_seed(1)
    rows = 0
    with open(file, "w") as output:
        for family in FAMILIES:
            for case in family():
                output.write(json.dumps(measured(case)) + "\n")
                output.flush()
                rows += 1
    device = torch.cuda.get_device_properties(0)
    facts = {name: getattr(device, name) for name in dir(device) if not name.startswith("_")}
    plain = {name: value for name, value in facts.items() if isinstance(value, (int, float, str))}
    say(
        rows=rows, device=plain, torch=torch.__version__, tf32=torch.backends.cuda.matmul.allow_tf32
    )


if __name__ == "__main__":
    main(Path(sys.argv[1]))
