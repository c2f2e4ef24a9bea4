#!/usr/bin/env bash
# shardlings verify as a user meets it: verify_test.sh BUILD.
# shellcheck source=tests/lib/support/shell.sh
source tests/lib/support/shell.sh

ends() {  # EXIT PATTERN ARGUMENT…: verify ends with that exit code and prints a line that matches
    local code=$1 pattern=$2 output
    shift 2
    output=$("$program" verify "$@" 2>&1)
    if [[ $? -eq $code ]] && grep -qE -- "$pattern" <<<"$output"; then
        ok
    else
        wrong "verify $*: expected exit code $code and '$pattern', it said: $output"
    fi
}

holds() {  # FILE EXPRESSION: a Python expression over the JSON, v
    check "$1: $2" python3 -c 'import json, sys; v = json.load(open(sys.argv[1])); sys.exit(not eval(sys.argv[2]))' "$1" "$2"
}

ends 0 '^kept$'
ends 0 '^promise against pp 1, dp 1, tp 2, ZeRO 0, nothing recomputed: the same bits' --pp 2 --tp 2
ends 0 '^kept$' --pp 2 --dp 2 --tp 2 --zero 3 --microbatches 2 --schedule 1f1b --sequence-parallel --recompute full \
    --dropout 0.2 --dtype bf16 --json "$folder/one.json"
holds "$folder/one.json" 'v["kept"] and v["ranks"] == 8 and len(v["steps"]) == 2'
holds "$folder/one.json" 'all(s["bitwise"] and s["disagreements"] == 0 and not s["broken"] for s in v["steps"])'
holds "$folder/one.json" 'all(w["error"] <= w["allowed"] for s in v["steps"] for w in s["with_single"]["worst"].values())'
# What lesson 10 does not count is left out of the ledger, and the rest is kept.
ends 0 '^kept$' --pp 2 --dp 2 --zero 3 --microbatches 2 --bucket-bytes 100000 --zero3-fetch broadcast
# Adding up the micro-batches in shards promises no bits, and gives none.
ends 0 ' -$' --dp 2 --zero 2 --microbatches 2 --zero-accumulate shards

ends 0 '^[0-9]+ layouts keep their promise, 0 do not' --sweep 2 --json "$folder/all.json"
holds "$folder/all.json" 'len(v["layouts"]) == 33 and all(l["kept"] for l in v["layouts"])'
ends 0 '^4 layouts keep their promise, 0 do not' --sweep 4 --sample 4 --sample-seed 3 --dtype fp16
# A run that diverges keeps no promise; each layout is called broken, and none stops the others.
ends 1 '^0 layouts keep their promise, 3 do not' --sweep 1 --dtype fp16 --layers 1 --hidden 4 --heads 2 --lr 1e3 --steps 4

ends 1 '--heads 24 cannot be cut for --tp 5 ranks' --tp 5
ends 1 '--sample needs --sweep' --sample 3
ends 1 '--sweep is 65: expected 1 to 64 ranks' --sweep 65
ends 1 '--sweep is 0: expected 1 to 64 ranks' --sweep 0
ends 1 '--sample is 0: expected 1 or more layouts' --sweep 2 --sample 0
ends 1 '--sample-seed needs --sample' --sweep 2 --sample-seed 3
ends 1 '--memory-budget limits what train allocates' --tp 2 --memory-budget 1KiB
ends 1 '--vocab 3 cannot be cut for --tp 4 ranks: choose a degree of at most 3' --vocab 3 --tp 4
for flag in '--tp 2' '--batch 4' '--no-overlap' '--stages 4,4 --pp 2'; do
    # shellcheck disable=SC2086
    ends 1 '--sweep chooses the layouts and what goes with them: leave out --' --sweep 2 $flag
done

# One message and nothing else: no layout was run.
message_lines=1
refused_at_once() { fails_with "$1" "$program" verify "${@:2}"; }  # MESSAGE ARGUMENT…
printf 'short' >"$folder/short"
for kind in '--sweep 2' '--tp 2'; do
    # shellcheck disable=SC2086
    refused_at_once "cannot write '$folder/no/x.json'" $kind --json "$folder/no/x.json"
    # shellcheck disable=SC2086
    refused_at_once "'$folder/short' has 5 bytes" $kind --data "$folder/short"
    # shellcheck disable=SC2086
    refused_at_once 'a vocabulary of 100 is too small' $kind --vocab 100
done

finish
