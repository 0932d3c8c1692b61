#!/bin/sh
# tag_wheel.sh SOURCE_DIR TARGET_DIR BIN: gives the wheel the lowest manylinux tag that auditwheel
# computes. `repair` would rename librlscope.so, which is preloaded by name, so only the tag changes.
set -eu
mkdir -p "$2"
wheel=$(ls -t "$1"/rlscope-*.whl | head -1)
tag=$("$3/python" -m auditwheel show "$wheel" | tr -d '\n' |
    sed -n 's/.*following platform tag: *"\([a-z0-9_]*\)".*/\1/p')
[ -n "$tag" ] || { echo "auditwheel names no platform tag for $wheel" >&2; exit 1; }
cp "$wheel" "$2/"
"$3/python" -m wheel tags --remove --platform-tag "$tag" "$2/$(basename "$wheel")"
