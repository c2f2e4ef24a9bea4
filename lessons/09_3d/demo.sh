#!/usr/bin/env bash
# PP 4 x DP 2 x TP 4 on 4 nodes of 8 devices: who sits where, losses, memory, traffic, where each dimension belongs, and a
# timeline, build/lessons/09_3d/timeline.svg. $1: the build folder.
set -eu
lesson=$1/lessons/09_3d
"$1/shardlings" grid --pp 4 --dp 2 --tp 4 --topology 4x8
echo
"$1/shardlings" launch --ranks 32 -- "$lesson/example"
echo
"$1/shardlings" launch --ranks 32 -- "$lesson/placement"
echo
"$1/shardlings" launch --ranks 32 -- "$lesson/timeline" "$lesson/timeline.svg"
