#!/usr/bin/env bash
# shardlings schedule as a user meets it: schedule_test.sh BUILD. Bad flags and broken schedules get one clear message
# and a non-zero exit and leave no file behind.
# shellcheck source=tests/lib/support/shell.sh
source tests/lib/support/shell.sh
message_lines=6
refused() { fails_with "$1" "$program" schedule "${@:2}"; }  # MESSAGE ARGUMENT…
shows() { prints "$1" "$program" schedule "${@:2}"; }       # LINE ARGUMENT…

# --- what it prints
shows '1f1b: 4 stages, 8 micro-batches' --pp 4 --microbatches 8 --schedule 1f1b
shows "stage 3  . . . 0 0'0'1 1'1'2 2'2'3 3'3'4 4'4'5 5'5'6 6'6'7 7'7'. . . . . ." --pp 4 --microbatches 8
shows "bubble: 27.2727 % of the stages' time; formula: (P - 1)/(M + P - 1) = 3/11 = 27.2727 %" --pp 4 --microbatches 8
shows 'in flight, at most: 4 3 2 1 micro-batches on stages 0 to 3; formula: min(M, P - s)' --pp 4 --microbatches 8
shows 'in flight, at most: 8 8 8 8 micro-batches on stages 0 to 3; formula: M' --schedule gpipe
shows "bubble: 75.0000 % of the stages' time; formula: (P - 1)/P = 3/4 = 75.0000 %" --schedule naive
shows 'time: 33 s of virtual time' --pp 4 --microbatches 8
shows 'time: 28.5 s of virtual time' --schedule interleaved --virtual-stages 2
shows 'time: 22 ms of virtual time' --forward 1e-3 --backward 1e-3
shows 'naive: 1 stage, 1 micro-batch' --pp 1 --microbatches 1 --schedule naive
shows "bubble: 0.0000 % of the stages' time; formula: (P - 1)/(M + P - 1) = 0/8 = 0.0000 %" --pp 1
# Seven turns of 2 s and three messages each way of 0.5 s, of which every stage works 8 s.
shows "bubble: 52.9412 % of the stages' time; formula for free messages: (P - 1)/(M + P - 1) = 3/7 = 42.8571 %" \
    --microbatches 4 --message 0.5 --backward 1 --schedule gpipe

# --- a printed schedule read back, and broken
for schedule in naive gpipe 1f1b 'interleaved --virtual-stages 2'; do
    # shellcheck disable=SC2086  # the flag and its value are two words
    "$program" schedule --schedule $schedule --program >"$folder/printed"
    if "$program" schedule --file "$folder/printed" --program | cmp -s - "$folder/printed"; then ok; else
        wrong "$schedule: --program and --file differ"
    fi
done
shows "$folder/printed: 4 stages of 2 chunks, 8 micro-batches" --file "$folder/printed"
shows "bubble: 15.7895 % of the stages' time" --file "$folder/printed"
"$program" schedule --pp 2 --microbatches 2 --program >"$folder/good"
broken() {  # MESSAGE SED-COMMAND
    sed -E "$2" "$folder/good" >"$folder/broken"
    refused "$1" --file "$folder/broken" --svg "$folder/out.svg"
}
broken "broken, line 6: 'forwards 0' is no instruction" 's/^forward 0/forwards 0/'
broken "broken, line 1: 'stage 2': expected 'stages N'|line 1: 'stages' is missing|line 1: .*missing" 's/^stages/stage/'
broken "broken: stage 1: 'forward 0' needs 'receive activation 0' before it" 's/receive activation 0, //'
broken "broken: stage 0: the result of micro-batch 1, chunk 0 is never sent" 's/, send activation 1//'
broken "broken: stage 1: 'backward 1' is missing: its activations would never be freed" '/^backward 1/d'
broken "broken: stage 0: 'forward 0' is done twice" 's/^forward 1/forward 0/'
broken "broken: stage 0: 'forward 7.*there are 2 micro-batches" 's/^forward 1/forward 7/'
cat >"$folder/deadlock" <<'END'
stages 2
micro-batches 2
stage 0
forward 0, send activation 0
receive gradient 0, backward 0
forward 1, send activation 1
receive gradient 1, backward 1
stage 1
receive activation 0, forward 0
receive activation 1, forward 1
backward 0, send gradient 0
backward 1, send gradient 1
END
refused "stage 0 waits in 'receive gradient 0'" --file "$folder/deadlock"
refused "stage 1 waits in 'receive activation 1'" --file "$folder/deadlock"
refused 'cannot read .*missing' --file "$folder/missing"
refused 'folder|directory' --file "$folder"
head -c 1000 /dev/urandom >"$folder/noise"
refused 'noise, line [0-9]+: ' --file "$folder/noise"
refused 'excludes' --file "$folder/good" --pp 2

# --- as JSON: two passes of each micro-batch on each stage, none before the one in front of it
"$program" schedule --pp 3 --microbatches 4 --schedule gpipe --json "$folder/schedule.json" >/dev/null
if python3 - "$folder/schedule.json" <<'PYTHON'; then ok; else wrong "--json"; fi
import json, sys
one = json.load(open(sys.argv[1]))
assert (one["seconds"], one["in_flight"], one["formulas"]["in_flight"]) == (18, [4, 4, 4], [4, 4, 4]), one
# 2/6; the measured one is a difference of sums of 24 numbers.
assert abs(one["bubble"] - 2 / 6) < 24 * 2**-52 and abs(one["formulas"]["bubble"] - 2 / 6) < 2**-52, one
passes = {(p["stage"], p["pass"], p["microbatch"]): p for p in one["passes"]}
assert len(passes) == len(one["passes"]) == 24, one
for (stage, what, m), p in passes.items():
    assert p["end"] - p["begin"] == (1 if what == "forward" else 2) and p["chunk"] == 0, p
    before = passes.get((stage - 1 if what == "forward" else stage + 1, what, m))
    assert before is None or before["end"] <= p["begin"], p
PYTHON

# --- flags
refused '--pp is 0: expected 1 or more' --pp 0
refused '--microbatches is -2: expected 1 or more' --microbatches -2
refused '--virtual-stages is 0: expected 1 or more' --virtual-stages 0
refused '--pp' --pp two
refused 'expected up to 1024' --pp 1025
refused 'too many to look at' --microbatches 2000000000
refused "--schedule is 'zigzag': expected naive, gpipe, 1f1b or interleaved" --schedule zigzag
refused '--virtual-stages 2 needs --schedule interleaved' --virtual-stages 2
refused 'a multiple of 4 micro-batches' --schedule interleaved --virtual-stages 2 --microbatches 6
refused 'interleaving needs --pp 2' --schedule interleaved --virtual-stages 2 --pp 1
for bad in 0 -1 nan inf 1e300; do
    refused "--forward is .*: expected" --forward "$bad"
    refused "--backward is .*: expected" --backward "$bad"
done
for bad in -1 nan inf; do refused "--message is .*: expected" --message "$bad"; done
refused "'--bogus' is not known here" --bogus
refused 'ends in .svg' --svg "$folder/out.png"
refused 'nowhere' --svg "$folder/nowhere/out.svg"

# --- a picture is the same bytes every time
for flags in '--pp 4' '--schedule interleaved --virtual-stages 2' '--pp 8 --microbatches 16 --message 0.25'; do
    # shellcheck disable=SC2086  # flags are words
    "$program" schedule $flags --svg "$folder/one.svg" >/dev/null && "$program" schedule $flags --svg "$folder/two.svg" >/dev/null
    if [[ -s $folder/one.svg ]] && cmp -s "$folder/one.svg" "$folder/two.svg"; then ok; else wrong "$flags: two pictures"; fi
    rm -f "$folder"/one.svg "$folder"/two.svg
done

# --- a pipeline that runs is drawn by stages
"$program" train --layers 2 --hidden 16 --heads 2 --seq 16 --batch 4 --microbatches 2 --steps 1 --pp 2 --schedule 1f1b \
    --device-flops 1e9 --trace "$folder/run.svg" >/dev/null 2>&1
for part in '>1f1b: 2 stages, 2 micro-batches<' '>stage 1<' 'class="message"'; do
    if grep -qF -- "$part" "$folder/run.svg"; then ok; else wrong "the picture of a run lacks $part"; fi
done

finish
