"""Clusters that a program used, in words."""

from __future__ import annotations

from typing import Any

from rlscope.report import units


def unrecorded(rows: list[dict[str, Any]]) -> list[str]:
    """Rows of `unrecorded_cluster`: one sentence for all."""
    if not rows:
        return []
    names = ", ".join(sorted({units.visible(row["process"] or "?") for row in rows}))
    return [
        f"{names} connected to a Ray cluster that was running already. Its workers are not in this "
        "trace. To record those on this machine, call "
        "ray.init(runtime_env=rlscope.integrations.ray.runtime_env())."
    ]
