#!/usr/bin/env bash
# The ring alone, step by step, what it costs beside sending all through one rank, rounding, nodes. $1: the build folder.
set -eu
run() {  # RANKS PROGRAM ARGUMENTS…
  "$build/shardlings" launch --ranks "$1" -- "$build/lessons/03_collectives/$2" "${@:3}"
}
build=$1
run 8 demo
echo
run 4 steps
for program in naive ring; do
  printf '\n%s\n' "$program"
  run 8 cost "$program"
done
echo
run 8 sums
echo
run 8 nodes 2x4
