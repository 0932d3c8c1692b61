"""Numbers of PyTorch, bit by bit, and the same ones each time."""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor


def digest(*tensors: Tensor) -> str:
    """A hash of all bits of some tensors."""
    bits = hashlib.sha256()
    for tensor in tensors:
        bits.update(tensor.detach().contiguous().numpy().tobytes())
    return bits.hexdigest()[:16]


def seeded(make: Callable[[], Any]) -> Any:
    """What `make` makes, from the same random numbers each time."""
    torch.manual_seed(7)
    return make()
