#!/usr/bin/env bash
# The main job: train a small model on the lessons' text, compare it with counting bytes, let it write.
set -eu
program=${1:?usage: demo.sh PROGRAM}
run=$(dirname "$program")/demo
mkdir -p "$run"
rm -rf "$run/checkpoints"
"$program" train --layers 4 --hidden 128 --heads 4 --seq 128 --batch 8 --steps 600 --warmup 40 --lr 3e-3 \
    --log-every 50 --save "$run/checkpoints" --json "$run/run.json"
# The picture shows one step of the same model: a timeline of hundreds would be a blur.
"$program" train --layers 4 --hidden 128 --heads 4 --seq 128 --batch 8 --microbatches 2 --steps 1 \
    --trace "$run/timeline.svg" >"$run/timeline.log"
printf '\nIt writes:\n'
"$program" generate --load "$run/checkpoints" --prompt 'The rank ' --tokens 300
printf '\nfigures    %s\ncheckpoint %s\npicture    %s (one step; open it in a browser)\n' \
    "$run/run.json" "$run/checkpoints" "$run/timeline.svg"
