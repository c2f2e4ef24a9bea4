#!/usr/bin/env bash
# Looking for a layout by trying: 834 304 parameters on devices of 10 MiB. $1: the build folder.
set -eu
build=$1
out=$(mktemp)
trap 'rm -f "$out"' EXIT
try() {  # FLAGS…
    if "$build/shardlings" train --data LICENSE --layers 4 --hidden 128 --heads 4 --seq 64 --batch 8 --steps 1 \
        --memory-budget 10MiB "$@" >"$out" 2>&1; then
        echo "$*: trains"
    else
        echo "$*: $(sed -n 's/^rank .: device out of memory: \(.*\), .* are in use:/\1/p' "$out" | head -n 1)"
    fi
}
try --dp 2
try --dp 2 --zero 1
try --dp 2 --zero 3
try --dp 2 --zero 3 --recompute full
try --dp 2 --zero 3 --microbatches 4
try --tp 2
try --tp 2 --microbatches 4
