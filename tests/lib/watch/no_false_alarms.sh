#!/usr/bin/env bash
# Correct programs at 2 to 32 ranks, while two other processes keep two cores busy: nothing may be said of any.
#   no_false_alarms.sh BUILD RUNS
set -u
build=${1:?usage: no_false_alarms.sh BUILD RUNS}
runs=${2:?usage: no_false_alarms.sh BUILD RUNS}
cases=(ring slow_rank slow_master halo many_requests communicators persistent cancelled matched_probe sleeper)
ranks=(2 3 4 8 16 32)
start=(mpirun.openmpi --oversubscribe --bind-to none --mca btl 'self,vader')
[[ $build == *mpich* ]] && start=(mpiexec.mpich)
log=$(mktemp)
busy=()
for _ in 1 2; do
    while :; do :; done &
    busy+=($!)
done
trap 'kill "${busy[@]}"; rm -f "$log"' EXIT

passed=0 failed=0
for ((run = 0; run < runs; ++run)); do
    name=${cases[run % ${#cases[@]}]}
    n=${ranks[run % ${#ranks[@]}]}
    [[ $name == many_requests && $((n % 2)) -eq 1 ]] && n=2  # ranks in pairs
    [[ $name == slow_master && $n -gt 8 ]] && n=8            # its length grows with the ranks
    code=0
    timeout 120 "$build/shardlings" diagnose -- "${start[@]}" -np "$n" "$build/tests/lib/watch/correct" "$name" \
        >"$log" 2>&1 || code=$?
    if [[ $code -eq 0 ]] && ! grep -q '^watch:' "$log"; then
        passed=$((passed + 1))
    else
        failed=$((failed + 1))
        printf 'FAILED  run %s, %s on %s ranks: exit code %s\n' "$run" "$name" "$n" "$code"
        sed 's/^/        /' "$log"
    fi
done
printf '%s passed, %s failed\n' "$passed" "$failed"
[[ $failed -eq 0 ]]
