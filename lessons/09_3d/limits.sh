#!/usr/bin/env bash
# Where each kind of parallelism alone ends, and what the three reach together: 4 blocks, 4 heads, 8 sequences. $1: the build
# folder.
set -eu
build=$1
out=$(mktemp)
trap 'rm -f "$out"' EXIT
try() {  # FLAGS…
    if "$build/shardlings" train --data LICENSE --layers 4 --hidden 32 --heads 4 --seq 16 --batch 8 --steps 1 --dtype bf16 \
        "$@" >"$out" 2>&1; then
        echo "$*: trains on $(sed -n 's/ devices:.*//p' "$out") devices"
    else
        echo "$*: $(sed -n 's/^shardlings: //p' "$out")"
    fi
}
try --dp 16
try --pp 8
try --tp 8
try --dp 2 --pp 4 --tp 4 --microbatches 4 --schedule 1f1b
