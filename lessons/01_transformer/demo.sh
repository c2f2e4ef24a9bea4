#!/usr/bin/env bash
# Attention by hand, what a model costs, and whether its gradient is one. $1: the build folder.
set -eu
for program in demo counts gradients; do
  "$1/lessons/01_transformer/$program"
done
