#!/usr/bin/env bash
# One memory budget, four stages; what each stage holds; and that all are the same run. $1: the build folder.
set -eu
lesson=$1/lessons/05_zero
lessons/05_zero/budget.sh "$1"
echo
"$1/shardlings" launch --ranks 4 -- "$lesson/memory"
echo
"$1/shardlings" launch --ranks 8 -- "$lesson/equal"
