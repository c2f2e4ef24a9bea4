#!/usr/bin/env bash
# The whole story: one device and eight train the same model on the lessons' text, side by side; then it writes.
set -eu
program=${1:?usage: demo.sh PROGRAM}
run=$(dirname "$program")/demo
rm -rf "$run"
mkdir -p "$run"
model=(--layers 4 --hidden 128 --heads 4 --seq 128 --batch 8 --microbatches 4 --warmup 40 --lr 3e-3 --device-flops 2e11)
steps=(--steps 500 --log-every 100)
grid=(--pp 2 --dp 2 --tp 2 --zero 1 --schedule 1f1b --topology 2x4)

echo '--- one device'
"$program" train "${model[@]}" "${steps[@]}" --json "$run/one.json"
echo
echo '--- eight devices: 2 pipeline stages x 2 data-parallel x 2 tensor-parallel ranks, ZeRO 1, 1F1B'
"$program" train "${model[@]}" "${steps[@]}" "${grid[@]}" --save "$run/checkpoints" --save-shards --json "$run/eight.json"
# The picture shows one step of the same model: a timeline of hundreds would be a blur.
"$program" train "${model[@]}" "${grid[@]}" --steps 1 --trace "$run/timeline.svg" >"$run/timeline.log"

echo
python3 - "$run" <<'PYTHON'
import json, pathlib, sys
one, eight = (json.loads(pathlib.Path(sys.argv[1], name).read_text()) for name in ('one.json', 'eight.json'))
pairs = list(zip(one['steps'], eight['steps'], strict=True))
print(f"{'step':>6} {'loss, one device':>18} {'eight devices':>14} {'relative difference':>20}")
for a, b in pairs:
    if a['step'] in (1, 10) or a['step'] % 100 == 0:
        print(f"{a['step']:>6} {a['loss']:>18.6f} {b['loss']:>14.6f} {abs(a['loss'] - b['loss']) / a['loss']:>20.1e}")
print(f"\n{'rank':>6} {'stage':>6} {'dp':>3} {'tp':>3} {'parameters':>12} {'gradients':>12} {'optimizer':>12} {'peak':>12}   bytes")
for ranks in (one['ranks'], eight['ranks']):
    for rank in ranks:
        at, memory = rank['coordinates'], rank['memory']
        print(f"{rank['rank']:>6} {at['pp']:>6} {at['dp']:>3} {at['tp']:>3} {memory['parameters']:>12,} {memory['gradients']:>12,} "
              f"{memory['optimizer_states']:>12,} {memory['peak']:>12,}{'   the single device' if len(ranks) == 1 else ''}")
PYTHON

printf '\nIt writes:\n'
"$program" generate --load "$run/checkpoints" --prompt 'The rank ' --tokens 300
printf '\nfigures    %s and %s\ncheckpoint %s (eight shards)\npicture    %s (one step; open it in a browser)\n' \
    "$run/one.json" "$run/eight.json" "$run/checkpoints" "$run/timeline.svg"
