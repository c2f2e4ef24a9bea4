#!/usr/bin/env bash
# make verify-collective as a user meets it: the example, an error of the compiler, arguments that are wrong.
# shellcheck source=tests/lib/support/shell.sh
source tests/lib/support/shell.sh

# make verify-collective ARGUMENTS must end with an exit code that is 0 or not, and print `message`.
verified() {  # 0|not-0 MESSAGE ARGUMENT…
    local wanted=$1 message=$2 output code=0
    shift 2
    output=$(make verify-collective "$@" 2>&1) || code=$?
    if [[ $wanted == 0 && $code -ne 0 || $wanted != 0 && $code -eq 0 ]]; then
        wrong "$*: exit code $code: $output"
    elif ! grep -qE -- "$message" <<<"$output"; then
        wrong "$*: expected '$message', it printed: $output"
    else
        ok
    fi
}

verified 0 '^RIGHT: this all-reduce holds in all [0-9]+ cases\. Bitwise the same on all ranks: yes'
printf '#pragma once\n#include "lib/machine/comm/comm.hpp"\ninline void mine(shardlings::Comm& comm) { comm.bcast(); }\n' \
    >"$folder/mine.hpp"
verified not-0 "mine.hpp:3:.*error: .*bcast" HEADER="$folder/mine.hpp" FUNCTION=mine
verified not-0 'HEADER=nowhere.hpp: there is no such file' HEADER=nowhere.hpp
verified not-0 'KIND=all-to-all: expected one of all-reduce reduce-scatter all-gather broadcast' KIND=all-to-all

finish
