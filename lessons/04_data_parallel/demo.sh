#!/usr/bin/env bash
# Overlap alone, what the bucket's size does, and the agreement with one device. $1: the build folder.
set -eu
lesson=$1/lessons/04_data_parallel
"$1/shardlings" launch --ranks 4 -- "$lesson/demo"
echo
"$1/shardlings" launch --ranks 4 -- "$lesson/bucket_sizes"
echo
"$1/shardlings" launch --ranks 8 -- "$lesson/agreement"
