#!/usr/bin/env bash
# One training step on 1024 devices, simulated in one process, beside the single process:
# thousand.sh BUILD. Exit 1 when losses differ by more than rounding or a device's bytes from the formula.
set -eu
build=${1:?usage: thousand.sh BUILD}
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
head -c 4000 lessons/00_devices/README.md >"$folder/text"
step=(train --layers 16 --hidden 32 --heads 8 --seq 16 --batch 16 --microbatches 2 --steps 1 --dtype fp64
    --data "$folder/text")
layout=(--pp 16 --dp 8 --tp 8 --zero 1 --schedule 1f1b --topology 128x8)
"$build/shardlings" "${step[@]}" --json "$folder/one.json" >/dev/null
begin=$SECONDS
"$build/shardlings-simulated" "${step[@]}" "${layout[@]}" --json "$folder/many.json" >/dev/null
seconds=$((SECONDS - begin))
"$build/lessons/09_3d/beside" "$folder/one.json" "$folder/many.json"
echo "This machine took $seconds s for the 1024 devices."
