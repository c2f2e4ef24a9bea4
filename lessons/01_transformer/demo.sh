#!/usr/bin/env bash
# Attention by hand, what a model costs, and whether its gradient is one. $1: the build folder.
set -eu
"$1/lessons/01_transformer/demo"
echo
"$1/lessons/01_transformer/counts"
echo
"$1/lessons/01_transformer/gradients"
