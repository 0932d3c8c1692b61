#!/bin/sh
# tag_wheel.sh SOURCE_DIR TARGET_DIR PYTHON: copies the wheel (and the sdist, if there is one) and gives
# it the lowest manylinux tag that auditwheel computes. `auditwheel repair` would rename librlscope.so,
# which is preloaded by name, so only the tag changes.
set -eu
source=$1 target=$2 python=$3
mkdir -p "$target"
wheel=$(ls -t "$source"/rlscope-*.whl | head -1)
tag=$("$python" -m auditwheel show "$wheel" | tr '\n' ' ' |
    sed -n 's/.*following platform tag: *"\([a-z0-9_]*\)".*/\1/p')
case "$tag" in
manylinux*) ;;
*) echo "auditwheel names no manylinux tag for $wheel, but: ${tag:-nothing}" >&2; exit 1 ;;
esac
cp "$source"/rlscope-* "$target/"
"$python" -m wheel tags --remove --platform-tag "$tag" "$target/$(basename "$wheel")"
