#!/usr/bin/env bash
# All tests of a build: lib/scripts/test.sh BUILD. Ends with "N passed, N failed"; exit 1 when one failed.
set -u
build=${1:?usage: test.sh BUILD}
passed=0
failed=0
log=$(mktemp)
trap 'rm -f "$log"' EXIT

count() {  # PASSED FAILED
    passed=$((passed + $1))
    failed=$((failed + $2))
}

# One check that is a command: its output is shown when it fails.
check() {  # NAME COMMAND…
    local name=$1
    shift
    if "$@" >"$log" 2>&1; then
        count 1 0
        printf 'ok      %s\n' "$name"
    else
        count 0 1
        printf 'FAILED  %s\n' "$name"
        tail -n 60 "$log" | sed 's/^/        /'
    fi
}

# A program whose last line is "N passed, N failed".
counted() {  # NAME COMMAND…
    local name=$1 code=0 summary
    shift
    "$@" >"$log" 2>&1 || code=$?
    summary=$(grep -E '^[0-9]+ passed, [0-9]+ failed' "$log" | tail -n 1)
    if [[ -z $summary ]]; then
        count 0 1
        printf 'FAILED  %s: it ended with exit code %s and no summary\n' "$name" "$code"
        tail -n 60 "$log" | sed 's/^/        /'
        return
    fi
    local wrong=${summary#*passed, }
    count "${summary%% *}" "${wrong%% *}"
    if [[ $code -eq 0 ]]; then
        printf 'ok      %s: %s\n' "$name" "$summary"
    else
        printf 'FAILED  %s: %s\n' "$name" "$summary"
        tail -n 60 "$log" | sed 's/^/        /'
        [[ $summary == *' 0 failed'* ]] && count 0 1
    fi
}

# A Catch2 program, version 2 or 3: both end with "… in N test cases)" or "test cases: N | N passed | N failed".
catch() {  # NAME COMMAND…
    local name=$1 code=0 total wrong
    shift
    "$@" >"$log" 2>&1 || code=$?
    total=$(sed -nE 's/^All tests passed \(.* in ([0-9]+) test cases?\).*/\1/p; s/^test cases: +([0-9]+).*/\1/p' "$log" | tail -n 1)
    wrong=$(sed -nE 's/^test cases:.*\| +([0-9]+) failed.*/\1/p' "$log" | tail -n 1)
    total=${total:-0}
    wrong=${wrong:-0}
    [[ $code -ne 0 && $wrong -eq 0 ]] && wrong=1 total=$((total + 1))
    count $((total - wrong)) "$wrong"
    if [[ $wrong -eq 0 && $total -gt 0 ]]; then
        printf 'ok      %s: %s test cases\n' "$name" "$total"
    else
        printf 'FAILED  %s: %s of %s test cases\n' "$name" "$wrong" "$total"
        [[ $total -eq 0 ]] && count 0 1
        tail -n 100 "$log" | sed 's/^/        /'
    fi
}

for program in "$build"/tests/lib/test "$build"/tests/[0-9]*/test; do
    folder=$(basename "$(dirname "$program")")
    SHARDLINGS_DRIVERS=$build/drivers/solution/$folder catch "tests/$folder" "$program"
done
for script in tests/lib/*.sh; do
    counted "$script" bash "$script" "$build"
done
for demo in lessons/*/demo.sh; do
    lesson=$(dirname "$demo")
    check "$demo prints $lesson/demo.txt" bash -o pipefail -c "$demo $build | diff $lesson/demo.txt -"
done
check "exercises/ is what solutions/ gives" "$build/shardlings" course generate --check

printf '\n%s passed, %s failed\n' "$passed" "$failed"
[[ $failed -eq 0 ]]
