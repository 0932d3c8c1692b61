"""Environment variables of a traced program, beside those of rlscope.record.profile."""

from collections.abc import Mapping

_OPTIONS = "ASAN_OPTIONS"
_LINK_ORDER = "verify_asan_link_order"


def sanitizer_variables(environ: Mapping[str, str]) -> dict[str, str]:
    """The variables, with their new values, that let AddressSanitizer live with a preload.

    It refuses to start a program unless its runtime is the first library of all, which a preloaded
    one always precedes. An option that is set already stays.

    >>> sanitizer_variables({"ASAN_OPTIONS": "detect_leaks=0"})
    {'ASAN_OPTIONS': 'detect_leaks=0:verify_asan_link_order=0'}
    """
    present = environ.get(_OPTIONS, "")
    if _LINK_ORDER in present:
        return {}
    setting = f"{_LINK_ORDER}=0"
    return {_OPTIONS: f"{present}:{setting}" if present else setting}
