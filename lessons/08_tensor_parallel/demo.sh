#!/usr/bin/env bash
# A cut MLP by hand, a block's traffic, memory in T parts, and the agreement with one device. $1: the build folder.
set -eu
lesson=$1/lessons/08_tensor_parallel
"$1/shardlings" launch --ranks 2 -- "$lesson/demo"
echo
"$1/shardlings" launch --ranks 8 -- "$lesson/traffic"
echo
"$1/shardlings" launch --ranks 8 -- "$lesson/memory"
echo
"$1/shardlings" launch --ranks 8 -- "$lesson/agreement"
