"""scikit-learn: estimators that are fitted, and asked."""

from typing import Any

from rlscope.auto import draws, rules
from rlscope.auto.calls import watch_below

_EVENTS = {
    "training": ("fit", "partial_fit"),
    "prediction": ("predict", "predict_proba", "decision_function"),
}
"""Event -> methods of estimators."""
_OPERATIONS = {"update": "training", "inference": "prediction"}


def watch(module: Any) -> None:
    """sklearn.base."""
    for event, names in _EVENTS.items():
        watch_below(event, module.BaseEstimator, *names)
    for operation, event in _OPERATIONS.items():
        rules.watches(operation, *(f"sklearn.{name}" for name in _EVENTS[event]))
    draws.watch()
