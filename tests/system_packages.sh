#!/bin/sh
# Installs what the tests need beyond Python: on Debian or Ubuntu as root; elsewhere says what is missing.
set -eu
missing=""
need() { # need <command or file> <package>
    case "$1" in
    /*) [ -e "$1" ] || missing="$missing $2" ;;
    *) command -v "$1" >/dev/null 2>&1 || missing="$missing $2" ;;
    esac
}
need g++ g++
need cmake cmake
need ninja ninja-build
need ccache ccache
need /usr/include/gtest/gtest.h libgtest-dev
need /usr/include/gmock/gmock.h libgmock-dev
need chromium chromium
need chromedriver chromium-driver
need musl-gcc musl-tools
need clang clang
need llvm-objdump llvm
# Debian only recommends what clang links libFuzzer and the sanitizers from.
need "$(echo /usr/lib/llvm-*/lib/clang/*/lib/linux/libclang_rt.fuzzer-*.a | cut -d ' ' -f 1)" \
    libclang-rt-dev
[ -z "$missing" ] && exit 0
if command -v apt-get >/dev/null 2>&1 && [ "$(id -u)" = 0 ]; then
    echo "installing:$missing" >&2
    apt-get update -qq
    # shellcheck disable=SC2086
    DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends $missing >/dev/null
else
    echo "missing system packages:$missing (tests that need them are skipped, or do not build)" >&2
fi
