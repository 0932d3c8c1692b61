#!/bin/sh
# system.sh runtime|build|user: what the image has from Debian, and the user that it runs as.
set -eu

install() {
    apt-get update -qq
    DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends "$@"
    rm -rf /var/lib/apt/lists/* /var/cache/apt/archives/*.deb
}

case "$1" in
runtime) install ca-certificates python3 ;;
build) install g++ python3-dev python3-venv ;;
user)
    useradd --uid 1000 --create-home --shell /bin/bash rlscope
    # With `docker run --user` somebody else's number runs here: caches lie in HOME.
    chmod 1777 "$HOME"
    chown rlscope: /workspace
    ;;
*)
    echo "usage: system.sh runtime|build|user" >&2
    exit 2
    ;;
esac
