#!/usr/bin/env bash
# Sending beside computing, the bubble and the memory of the schedules beside their formulas, and the agreement with one
# device. $1: the build folder.
set -eu
lesson=$1/lessons/07_gpipe
"$1/shardlings" launch --ranks 2 -- "$lesson/demo"
echo
"$1/shardlings" launch --ranks 4 -- "$lesson/bubble"
echo
"$1/shardlings" launch --ranks 4 -- "$lesson/memory"
echo
"$1/shardlings" launch --ranks 8 -- "$lesson/agreement"
