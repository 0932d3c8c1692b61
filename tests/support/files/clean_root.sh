#!/bin/sh
# clean_root.sh ROOT FOLDER COMMAND...: runs a command in the root of another system, and leaves no
# trace in it. The command has no network, sees none of the host's processes, and of the host's files
# only FOLDER, at /mnt, read-only; /tmp is empty and its own. Needs root.
set -eu
if [ "${RLSCOPE_IN_NAMESPACES:-}" != 1 ]; then
    RLSCOPE_IN_NAMESPACES=1 exec unshare --mount --net --pid --ipc --uts --fork --kill-child \
        --propagation private sh "$0" "$@"
fi
root=$1 folder=$2
shift 2
mount --bind "$root" "$root"
mount -o remount,bind,ro "$root"
mount --bind "$folder" "$root/mnt"
mount -o remount,bind,ro "$root/mnt"
# rls-prof stops recording while less than 1 GiB is free.
mount -t tmpfs -o size=4g tmpfs "$root/tmp"
mount -t tmpfs -o size=256m tmpfs "$root/dev/shm"
mount -t proc proc "$root/proc"
exec chroot "$root" /usr/bin/env -i PATH=/usr/bin:/bin HOME=/tmp LANG=C.UTF-8 "$@"
