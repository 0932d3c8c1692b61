#!/bin/sh
# Prints the newest Python 3 with headers and a GIL, of minor version $1 to $2 (13): on PATH or of
# pyenv.
# Not 3.14 unless asked for: Box2D, which test-monitoring installs, has no wheel for it.
set -eu
complete=$(dirname "$0")/complete_python.py
has_gil='import sysconfig; raise SystemExit(bool(sysconfig.get_config_var("Py_GIL_DISABLED")))'
for minor in 14 13 12 11 10; do
    [ "$minor" -le "${2:-13}" ] || continue
    [ "$minor" -ge "$1" ] || break
    for python in "python3.$minor" "${PYENV_ROOT:-$HOME/.pyenv}"/versions/"3.$minor".*/bin/"python3.$minor"; do
        "$python" "$complete" 2>/dev/null || continue
        "$python" -c "$has_gil" || continue
        command -v "$python"
        exit 0
    done
done
exit 1
