"""Colours of the report: one fixed colour per layer and per GPU state.

From the Okabe-Ito set, which people with any of the three dichromacies distinguish (Okabe and Ito,
"Color Universal Design", 2008); all are mid tones that stand out on white and on near-black. Time
in which the GPU worked keeps the colour of its layer and is hatched, so a print in grey shows it.
"""

from __future__ import annotations

# The order in which layers are stacked: those that work, the deepest last, then wait and none.
LAYERS = {
    "python": "#E69F00",
    "simulator": "#009E73",
    "framework": "#0072B2",
    "cuda_api": "#CC79A7",
    "wait": "#56B4E9",
    "none": "#9AA0A6",
}
STATES = {
    "cpu": "#0072B2",
    "cpu+gpu": "#C9A227",
    "gpu": "#D55E00",
    "waiting": "#56B4E9",
    "idle": "#9AA0A6",
    "unknown": "#BDB5A7",
}
NOT_RECORDED = "#D0D4D9"
ACCENT = "#0072B2"
WARNING = "#D55E00"

# A layer that this version does not know still gets a colour.
OTHER = "#7F7F7F"

LAYER_MEANING = {
    "python": "Python code of the program",
    "simulator": "inside a recorded call of a simulator",
    "framework": "inside a recorded call of a machine learning framework",
    "cuda_api": "inside a recorded CUDA call",
    "wait": "waiting for a process, a lock, the GIL, a file or a timer",
    "none": "in no recorded layer: other native threads, and the time before Python",
}
STATE_MEANING = {
    "cpu": "in a layer other than wait, without GPU work",
    "cpu+gpu": "in a layer other than wait, and GPU work at the same time",
    "gpu": "only GPU work",
    "waiting": "in layer wait, without GPU work",
    "idle": "in no layer, without GPU work",
    "unknown": "not recorded whether the GPU worked",
}


DEVICES = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#C9A227", "#7F7F7F")


def device_colour(place: int) -> str:
    """The colour of a GPU by its place among the run's; the ninth has the first one's again."""
    return DEVICES[place % len(DEVICES)]


def layer_colour(layer: str) -> str:
    """The fixed colour of a layer, or of the GPU; grey for one that is not known."""
    return LAYERS.get(layer, STATES["gpu"] if layer == "gpu" else OTHER)
