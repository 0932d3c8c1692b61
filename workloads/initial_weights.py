"""Random weights of networks with two hidden layers, as arrays of NumPy, for TensorFlow and JAX.

They are a list: matrix and bias of the first layer, then of the second, then of the third.
A matrix has the shape (inputs, outputs).
"""

from typing import Any

import numpy as np


def uniform_weights(inputs: int, outputs: int, hidden: int) -> list[Any]:
    """Uniform up to one over the root of a layer's inputs, as PyTorch begins."""
    weights: list[Any] = []
    for rows, columns in _shapes(inputs, outputs, hidden):
        bound = rows**-0.5
        matrix = np.random.uniform(-bound, bound, (rows, columns))
        bias = np.random.uniform(-bound, bound, columns)
        weights += [matrix.astype(np.float32), bias.astype(np.float32)]
    return weights


def orthogonal_weights(inputs: int, outputs: int, hidden: int, last_gain: float) -> list[Any]:
    """Orthogonal matrices times the root of two, the last one times its own gain; no bias."""
    weights: list[Any] = []
    for rows, columns in _shapes(inputs, outputs, hidden):
        wide = np.random.normal(size=(max(rows, columns), min(rows, columns)))
        basis, triangle = np.linalg.qr(wide)
        basis = basis * np.sign(np.diag(triangle))  # otherwise not uniform over all of them
        matrix = basis if rows >= columns else basis.T
        weights += [2**0.5 * matrix.astype(np.float32), np.zeros(columns, np.float32)]
    weights[-2] *= np.float32(last_gain / 2**0.5)
    return weights


def _shapes(inputs: int, outputs: int, hidden: int) -> list[tuple[int, int]]:
    return [(inputs, hidden), (hidden, hidden), (hidden, outputs)]
