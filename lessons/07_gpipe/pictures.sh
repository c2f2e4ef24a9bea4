#!/usr/bin/env bash
# Draws the four schedules of this page into its folder, and prints their bubbles. $1: the build folder.
set -eu
build=$1
draw() {  # NAME FLAGS…
    local name=$1
    shift
    printf '%-12s ' "$name"
    "$build/shardlings" schedule --pp 4 --message 0.1 --schedule "$name" "$@" --svg "lessons/07_gpipe/$name.svg" |
        grep bubble:
}
draw naive --microbatches 1 --forward 8 --backward 16
draw gpipe --microbatches 8
draw 1f1b --microbatches 8
draw interleaved --virtual-stages 2 --microbatches 8
