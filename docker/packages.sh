#!/bin/sh
# packages.sh: rlscope with the extras in EXTRAS, in a venv of its own at /opt/rlscope. PyTorch is
# looked for in TORCH_INDEX, too, unless that is empty. Fails if a package came that is not pinned.
set -eu
python3 -m venv /opt/rlscope
PATH=/opt/rlscope/bin:$PATH
set -- /wheels/rlscope-*.whl
pip install --quiet --no-cache-dir --constraint /docker/constraints.txt \
    ${TORCH_INDEX:+--extra-index-url "$TORCH_INDEX"} "$1[$EXTRAS]"
# 2.13.0+cpu is a build of 2.13.0.
pip freeze --exclude rlscope | sed 's/+[a-z0-9]*$//' >/tmp/installed
if grep -vixF -f /docker/constraints.txt /tmp/installed; then
    echo "packages.sh: not in docker/constraints.txt: see above; docker/pin.py makes it anew" >&2
    exit 1
fi
rm /tmp/installed
