"""Numbers of the trace format (trace.proto) that importers written in Python need."""

from __future__ import annotations

# Kinds of names.
OPERATION, PHASE, FUNCTION, CUDA_CALL, KERNEL = 1, 2, 3, 4, 5
# Layers, of functions.
LAYERS = {"none": 0, "python": 1, "simulator": 2, "framework": 3, "cuda_api": 4, "wait": 6}
WAIT_LAYER = LAYERS["wait"]
