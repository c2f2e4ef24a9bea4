#!/usr/bin/env bash
# Two blocks and one sequence on devices of 12 MiB: what each kind of parallelism can do about it. $1: the build folder.
set -eu
build=$1
out=$(mktemp)
trap 'rm -f "$out"' EXIT
try() {  # FLAGS…
  # Which of the ranks is the first to run out differs from run to run.
  if "$build/shardlings" train --data LICENSE --layers 2 --hidden 256 --heads 8 --seq 32 --batch 1 --steps 1 --dtype bf16 \
    --memory-budget 12MiB "$@" >"$out" 2>&1; then
    echo "$*: $(sed -n 's/^step.*\(peak memory .* MiB\) .*/trains, \1/p' "$out")"
  else
    echo "$*: $(sed -n 's/^shardlings: //p; s/^rank [0-9]: \(device out of memory\).*/\1/p' "$out")"
  fi
}
try --dp 4
try --pp 2
try --tp 4
