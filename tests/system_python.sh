#!/bin/sh
# Prints the Python of the system, in folder $2 (/usr/bin), of the minor version of Python $1: if it is
# another patch release and can import the extensions that Python $1 compiled.
set -eu
ask='import sys, sysconfig, venv; print(sysconfig.get_config_var("SOABI"), sys.version_info[2])'
given=$("$1" -c "$ask")
system=${2:-/usr/bin}/python$("$1" -c 'import sys; print("%d.%d" % sys.version_info[:2])')
found=$("$system" -c "$ask" 2>/dev/null) || exit 1
[ "${found% *}" = "${given% *}" ] && [ "$found" != "$given" ] || exit 1
echo "$system"
