"""What the trace of a workload says of its operations."""

from typing import Any


def instances(swept: Any, source: str) -> dict[str, int]:
    """How often each path of operations was entered, of those "explicit" or "automatic"."""
    columns = (swept["operation"][name] for name in ("path", "source", "instances"))
    rows = zip(*columns, strict=True)
    return {path: int(count) for path, of, count in rows if of == source and path != "(none)"}
