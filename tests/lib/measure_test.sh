#!/usr/bin/env bash
# shardlings measure: the same figures as train and as lesson 03's formulas: measure_test.sh BUILD.
# shellcheck source=tests/lib/support/shell.sh
source tests/lib/support/shell.sh
refused() { fails_with "$1" "$program" measure "${@:2}" --json "$folder/out.json"; }  # MESSAGE ARGUMENT…

# --- runs: in one launch what train gives in launches of their own
model='--data LICENSE --layers 2 --hidden 16 --heads 2 --seq 8 --batch 4 --microbatches 2 --device-flops 1e9 --dtype fp64'
first='--pp 2 --schedule 1f1b --steps 2'
second='--dp 2 --tp 2 --zero 3 --topology 2x2 --steps 1'
printf '%s\n\n%s\n' "$model $first" "$model ${second% --steps 1}" >"$folder/runs"
"$program" measure steps "$folder/runs" --json "$folder/measured.json" || wrong "measure steps"
# shellcheck disable=SC2086  # flags are words
"$program" train $model $first --json "$folder/first.json" >/dev/null || wrong "train"
# shellcheck disable=SC2086
"$program" train $model $second --json "$folder/second.json" >/dev/null || wrong "train"
if python3 - "$folder" <<'PYTHON'; then ok; else wrong "measure steps and train differ"; fi
import json, pathlib, sys
measured, *trained = (json.loads((pathlib.Path(sys.argv[1]) / f"{name}.json").read_text())
                      for name in ("measured", "first", "second"))
for one in trained:
    del one["validation"]
assert len(measured) == 2 and measured == trained, (measured, trained)
PYTHON

# --- collectives: n = 12 kB, alpha = 2 us and 300 GB/s in a node, 5 us and 25 GB/s between nodes
"$program" measure collectives 1x4 2x2 --bytes 12000 --json "$folder/rows.json" || wrong "measure collectives"
if python3 - "$folder/rows.json" <<'PYTHON'; then ok; else wrong "measure collectives"; fi
import json, sys
seconds = {(row["algorithm"], row["nodes"]): row for row in json.load(open(sys.argv[1]))}
def expect(algorithm, nodes, microseconds, sent, between):
    row = seconds.pop((algorithm, nodes))
    # Sums of at most seven terms in doubles: off by 7 units of rounding at most.
    assert abs(row["seconds"] / (1e-6 * microseconds) - 1) < 7 * 2**-52, row
    assert (row["sent_bytes"], row["inter_node_bytes"]) == (sent, between), row
inside, outside = lambda n: 2 + n / 300e3, lambda n: 5 + n / 25e3
expect("ring", 1, 6 * inside(3000), 72000, 0)
expect("ring", 2, 6 * outside(3000), 72000, 36000)
expect("recursive doubling", 1, 2 * inside(12000), 96000, 0)
expect("recursive doubling", 2, inside(12000) + outside(12000), 96000, 48000)
expect("node-aware", 1, 6 * inside(3000), 72000, 0)
expect("node-aware", 2, 2 * inside(6000) + 2 * outside(3000), 72000, 24000)
expect("tree", 1, 2 * inside(12000), 36000, 0)
# 0 to 1; then 0 to 2 and 1 to 3, both to the other node.
expect("tree", 2, inside(12000) + outside(12000), 36000, 24000)
assert {key[0] for key in seconds} == {"chain"}, seconds
assert all(row["sent_bytes"] == 36000 for row in seconds.values()), seconds
PYTHON

# --- what cannot be measured
sed -i 's/--tp 2/--tp 4/' "$folder/runs"
refused 'runs, line 3: .*--tp 4' steps "$folder/runs"
printf -- '--bogus\n' >"$folder/runs"
refused 'runs, line 1: .*--bogus' steps "$folder/runs"
: >"$folder/runs"
refused 'runs has no line' steps "$folder/runs"
refused 'cannot read .*missing' steps "$folder/missing"
refused "'2by2' is not a topology" collectives 2by2
refused '--bytes 6: expected a multiple of 4' collectives 1x2 --bytes 6

finish
