"""cloudpickle: how classes of a program's main module come to processes that were spawned. It makes
them empty and fills them afterwards."""

import functools
from types import ModuleType
from typing import Any

from rlscope.auto import classes, environments


def watch(module: ModuleType) -> None:
    """cloudpickle.cloudpickle, and the copies that Ray and joblib have of it."""
    fill = getattr(module, "_class_setstate", None)
    if fill is None:
        return

    @functools.wraps(fill)
    def _class_setstate(obj: Any, *state: Any, **options: Any) -> Any:
        filled = fill(obj, *state, **options)
        try:
            environments.watch_filled(obj)
            classes.watch(obj)
        except Exception:  # a class that cannot be changed stays as it is
            return filled
        return filled

    module._class_setstate = _class_setstate  # type: ignore[attr-defined]
