#!/usr/bin/env bash
# One memory budget, four stages. $1: the build folder.
set -eu
out=$(mktemp)
trap 'rm -f "$out"' EXIT
for stage in 0 1 2 3; do
  echo "stage $stage, 4 devices of 3 MiB each:"
  # Which of the ranks is the first to run out differs from run to run.
  if "$1/shardlings" train --data LICENSE --layers 8 --hidden 64 --heads 4 --seq 16 --batch 4 --steps 3 --dp 4 \
    --dtype bf16 --zero $stage --memory-budget 3MiB >"$out" 2>&1; then
    sed -n 's/^step 3.*\(peak memory .* MiB\) .*/  trains, \1/p' "$out"
  else
    sed -n 's/^rank [0-9]*: /  /; /out of memory/,/^Make/{/^Make/!p}' "$out"
  fi
done
