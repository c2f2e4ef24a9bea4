#!/usr/bin/env bash
# Master weights, the page's small numbers, and what a step needs. $1: the build folder.
set -eu
for program in demo numbers memory; do
  "$1/lessons/02_training_step/$program"
  echo
done
