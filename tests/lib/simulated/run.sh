#!/usr/bin/env bash
# Ranks simulated in one process do what ranks that are processes do: run.sh BUILD (make test-simulated).
# shellcheck source=tests/lib/support/shell.sh
source tests/lib/support/shell.sh
head -c 3000 lessons/00_devices/README.md >"$folder/text"
small=(train --layers 4 --hidden 16 --heads 4 --seq 12 --batch 12 --microbatches 3 --steps 2 --data "$folder/text")

# The whole report, with losses, norms, virtual times, bytes and messages of every rank, is the same to the last bit.
same() {  # ARGUMENT…
    rm -f "$folder"/*.json
    if ! "$build/shardlings" "${small[@]}" "$@" --json "$folder/processes.json" >"$folder/said" 2>&1 ||
        ! "$build/shardlings-simulated" "${small[@]}" "$@" --json "$folder/simulated.json" >"$folder/said" 2>&1; then
        wrong "$*: $(tail -n 5 "$folder/said")"
    elif cmp "$folder/processes.json" "$folder/simulated.json"; then
        ok
    else
        wrong "$*: $(diff "$folder/processes.json" "$folder/simulated.json" | head -n 10)"
    fi
}

same
same --dp 2 --zero 3 --topology 2x1
same --dp 4 --zero 2 --dtype fp64 --bucket-bytes 10000
same --pp 4 --schedule 1f1b --dtype bf16
same --tp 4 --sequence-parallel --topology 2x2
same --dp 2 --tp 2 --pp 2 --zero 1 --schedule 1f1b --recompute full --dtype fp64

# A device that is out of memory ends them all: one message, exit code 1.
code=0
message=$("$build/shardlings-simulated" "${small[@]}" --dp 4 --memory-budget 40KiB 2>&1 >/dev/null) || code=$?
if [[ $code -eq 1 && $(grep -c 'device out of memory' <<<"$message") -eq 1 && $message != *SMPI* ]]; then
    ok
else
    wrong "out of memory: exit code $code: $message"
fi

# SimGrid's time is ours where its protocol is: a message that begins when both sides are ready, and a link that the
# sender keeps until it has arrived (ring: rendezvous), or messages that leave at once (a training step, eager). SimGrid
# counts in nanoseconds, which is up to 1e-3 of the shortest messages here, 2 us. As SMPI was measured on Ethernet, each
# piece of the ring has 11.6 times the latency and 0.94 of the bandwidth: (11.6436 x 5 us + 262144 B / (0.940694 x
# 25 GB/s)) x 30 = 2.081 ms, 4.479 times ours.
ratio() {  # RUN PROTOCOL LEAST MOST
    local said
    said=$("$build/simulated-times" "$1" "$2" 2>&1)
    if awk -v least="$3" -v most="$4" '{ exit !($NF >= least && $NF <= most) }' <<<"$said"; then
        ok
    else
        wrong "times of $1, $2: expected a ratio of $3 to $4: $said"
    fi
}
ratio ring rendezvous 0.999 1.001
ratio ring measured 4.475 4.485
ratio 3d eager 0.999 1.001

finish
