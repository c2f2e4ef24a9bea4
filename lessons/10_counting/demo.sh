#!/usr/bin/env bash
# Parameters counted three ways; published numbers; the 175B exercise; predicted beside counted on 32 devices, and where the
# time of a step goes. $1: the build folder.
set -eu
lesson=$1/lessons/10_counting
"$lesson/demo"
echo
"$lesson/published"
echo
"$lesson/large"
echo
"$1/shardlings" launch --ranks 32 -- "$lesson/ledger"
echo
"$1/shardlings" launch --ranks 8 -- "$lesson/times"
