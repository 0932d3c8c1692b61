#!/bin/sh
# Reads COUNT damaged files (10,000 unless said otherwise), and rings in which each bit is damaged in
# turn, under AddressSanitizer and UBSan, then lets libFuzzer search for a minute where clang is
# installed.
#   sh tests/fuzz/run.sh [COUNT [SECONDS]]
set -eu
cd "$(dirname "$0")/../.."
count=${1:-10000}
seconds=${2:-60}
build=build/fuzz
compilers=
fuzz=OFF
for clang in clang clang-18 clang-16 clang-14; do
  if command -v "$clang" >/dev/null && command -v "$(echo "$clang" | sed 's/clang/clang++/')" >/dev/null; then
    compilers="-DCMAKE_C_COMPILER=$clang -DCMAKE_CXX_COMPILER=$(echo "$clang" | sed 's/clang/clang++/')"
    fuzz=ON
    break
  fi
done
# shellcheck disable=SC2086
cmake -S tests/fuzz/standalone -B "$build" -G Ninja $compilers -DRLSCOPE_TESTS=ON \
    -DRLSCOPE_FUZZ=$fuzz >/dev/null
cmake --build "$build"
"$build/fuzz/reader_replay" tests/fuzz/corpus "$count"
"$build/fuzz/rings_replay" --all
"$build/fuzz/importer_replay" "$count"
if [ $fuzz = ON ]; then
  mkdir -p "$build/found"
  "$build/fuzz/reader_fuzz" -max_total_time="$seconds" -max_len=16384 -print_final_stats=0 \
      "$build/found" tests/fuzz/corpus
fi
