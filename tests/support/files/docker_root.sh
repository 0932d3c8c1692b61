#!/bin/sh
# docker_root.sh ROOT USER FOLDER [NAME=VALUE...] COMMAND...: runs a command as USER in FOLDER of a root
# that it may change, as `docker build` runs a step: with the network, with no variable of the host,
# none of its processes, and of its files only what its pip needs, below /run. Needs root.
set -eu
if [ "${RLSCOPE_IN_NAMESPACES:-}" != 1 ]; then
    RLSCOPE_IN_NAMESPACES=1 exec unshare --mount --pid --ipc --uts --fork --kill-child \
        --propagation private sh "$0" "$@"
fi
root=$1 user=$2 folder=$3
shift 3
mount -t tmpfs tmpfs "$root/run"
mount -t tmpfs -o size=64m tmpfs "$root/dev/shm"
mount -t proc proc "$root/proc"
mkdir "$root/run/wheels"
[ -z "${PIP_CERT:-}" ] || cp "$PIP_CERT" "$root/run/cert.pem"
[ -z "${PIP_FIND_LINKS:-}" ] || mount --bind "$PIP_FIND_LINKS" "$root/run/wheels"
cp /etc/resolv.conf "$root/etc/resolv.conf"
exec chroot --userspec="$user" "$root" /usr/bin/env -i -C "$folder" "$@"
