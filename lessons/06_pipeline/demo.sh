#!/usr/bin/env bash
# Three stages by hand, the naive pipeline's utilisation and memory, and its agreement with one device. $1: the build
# folder.
set -eu
lesson=$1/lessons/06_pipeline
"$1/shardlings" launch --ranks 3 -- "$lesson/demo"
echo
"$1/shardlings" launch --ranks 8 -- "$lesson/utilisation"
echo
"$1/shardlings" launch --ranks 4 -- "$lesson/memory"
echo
"$1/shardlings" launch --ranks 8 -- "$lesson/agreement"
