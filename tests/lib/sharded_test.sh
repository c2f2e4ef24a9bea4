#!/usr/bin/env bash
# Checkpoints in shards as a user meets them: sharded_test.sh BUILD. Saved by any layout and loaded by any other, the
# same bits; nothing lost however a run ends.
# shellcheck source=tests/lib/support/shell.sh
source tests/lib/support/shell.sh

model=(--layers 4 --hidden 16 --heads 4 --seq 9 --batch 8 --microbatches 2 --log-every 1000 --lr 1e-2)
train() { accepted train "${model[@]}" "$@"; }                                     # ARGUMENT…
refused() { fails_with "$1" errors_of "$program" train "${model[@]}" "${@:2}"; }  # MESSAGE ARGUMENT…
same() {  # WHAT A B: two saved steps, byte for byte
    check "$1" cmp "$2/model.safetensors" "$3/model.safetensors"
    check "$1" cmp "$2/optimizer.safetensors" "$3/optimizer.safetensors"
}

# --- the same model, whole and in shards; loaded by another layout, which saves in shards; loaded by one rank
grid=(--dp 2 --tp 2 --pp 2 --zero 1 --schedule 1f1b)
for dtype in fp64 bf16; do
    train "${grid[@]}" --dtype "$dtype" --steps 3 --save "$folder/$dtype/whole"
    train "${grid[@]}" --dtype "$dtype" --steps 3 --save "$folder/$dtype/shards" --save-shards
    number=0
    for layout in '--dp 4 --zero 3' '--pp 4 --schedule gpipe' '--tp 4 --sequence-parallel' '--dp 2'; do
        number=$((number + 1))
        # shellcheck disable=SC2086
        train $layout --dtype "$dtype" --steps 4 --load "$folder/$dtype/whole" --save "$folder/$dtype/a$number"
        # shellcheck disable=SC2086
        train $layout --dtype "$dtype" --steps 4 --load "$folder/$dtype/shards" --save "$folder/$dtype/b$number" --save-shards
        train --dtype "$dtype" --steps 5 --load "$folder/$dtype/a$number" --save "$folder/$dtype/a$number"
        train --dtype "$dtype" --steps 5 --load "$folder/$dtype/b$number" --save "$folder/$dtype/c$number"
        same "$dtype, then $layout, then one rank" "$folder/$dtype/a$number/step-00000005" "$folder/$dtype/c$number/step-00000005"
    done
done
accepted generate --load "$folder/bf16/shards" --prompt 'Hello' --tokens 8
whole=$(cat "$folder"/bf16/whole/step-00000003/*.safetensors | wc -c)
shards=$(cat "$folder"/bf16/shards/step-00000003/*.safetensors | wc -c)
# Every element once; the headers are small beside them, but each rank has one.
if ((shards < whole + 8 * 20000)); then ok; else wrong "shards take $shards bytes, the whole $whole"; fi

# --- a rank that is killed at a moment of its own: what is left goes on as the run that nobody killed
# (The learning rate stays, as it otherwise depends on the steps in all.)
run=("${grid[@]}" --dtype fp32 --lr-final 1 --save-every 2 --save-shards)
train "${run[@]}" --steps 12 --save "$folder/uninterrupted"
for delay in 0.9 1.3 1.7; do
    rm -rf "$folder/killed"
    "$program" train "${model[@]}" "${run[@]}" --steps 100000 --save "$folder/killed" >"$folder/log" 2>&1 &
    job=$!
    until [[ -d $folder/killed/step-00000002 ]] || ! kill -0 $job 2>/dev/null; do sleep 0.05; done
    sleep "$delay"
    mapfile -t ranks < <(pgrep -f "^$(realpath "$program") train .*--save $folder/killed")
    begin=$SECONDS
    # The first process found may be the one that starts the others.
    kill -9 "${ranks[RANDOM % (${#ranks[@]} - 1) + 1]}"
    wait $job
    code=$?
    if ((code == 0 || SECONDS - begin > 5)); then
        wrong "a run of which a rank was killed ended with $code after $((SECONDS - begin)) s"
    elif grep -Eq '^rank [0-7] \(stage [01] of 2, data-parallel rank [01] of 2, tensor-parallel rank [01] of 2\) was ended by signal 9' "$folder/log"; then
        ok
    else
        wrong "a killed rank was not named: $(tail -n 3 "$folder/log")"
    fi
    # Go on from the newest step that is not behind the last of the uninterrupted run.
    newest=$(find "$folder/killed" -maxdepth 1 -name 'step-*[0-9]' | sort | awk -F- '$NF + 0 <= 10' | tail -n 1)
    train "${run[@]}" --steps 12 --load "$newest" --save "$folder/goes-on"
    for shard in "$folder"/uninterrupted/step-00000012/shard-*; do
        check "went on from $newest" cmp "$shard" "$folder/goes-on/step-00000012/${shard##*/}"
    done
    rm -rf "$folder/goes-on"
done

# --- a disk that is full: one message, nothing half-written, the older step as it was. The disk is a small one in memory,
# which only this test's processes see.
mkdir "$folder/full"
fill_disk() {
    unshare -rm bash -s "$folder" "$program" "${model[@]}" "${grid[@]}" <<'FULL'
folder=$1 program=$2
shift 2
mount -t tmpfs -o size=700k disk "$folder/full" || exit 99
cp -r "$folder/fp64/shards/step-00000003" "$folder/full/"
"$program" train "$@" --dtype fp64 --steps 4 --load "$folder/full" --save "$folder/full" --save-shards >"$folder/full.log" 2>&1 </dev/null
echo "exit $?" >>"$folder/full.log"
ls "$folder/full" >"$folder/full.left"
cmp "$folder/fp64/shards/step-00000003/shard-00000-of-00008.safetensors" "$folder/full/step-00000003/shard-00000-of-00008.safetensors"
FULL
}
fill_disk
code=$?
if ((code == 1 || code == 99)) && ! unshare -rm mount -t tmpfs -o size=1m disk "$folder/full" 2>/dev/null; then
    echo 'a full disk: not tried, as this system lets no user mount one'
elif ((code != 0)) || [[ $(cat "$folder/full.left") != step-00000003 ]]; then
    wrong "a full disk left $(cat "$folder/full.left")"
elif ! grep -q '^exit 1' "$folder/full.log" || [[ $(grep -c "cannot write.*: No space left on device" "$folder/full.log") -ne 1 ]]; then
    wrong "a full disk: $(cat "$folder/full.log")"
else
    ok
fi

# --- shards that are damaged
good=$folder/fp32-shards
train --dp 2 --zero 1 --steps 1 --save "$good" --save-shards
step=$good/step-00000001
copy() { rm -rf "$folder/bad" && cp -r "$step" "$folder/bad"; }
copy && rm "$folder/bad/shard-00001-of-00002.safetensors"
refused 'is not complete: it has no shard-00001-of-00002' --steps 2 --load "$folder/bad"
copy && truncate -s -100 "$folder/bad/shard-00001-of-00002.safetensors"
refused 'bad/shard-00001-of-00002' --steps 2 --load "$folder/bad"
copy && cp "$folder/bad/shard-00000-of-00002.safetensors" "$folder/bad/shard-00001-of-00002.safetensors"
refused "have element 0 of '.*' twice" --steps 2 --load "$folder/bad"
copy && cp "$folder/fp64/whole/step-00000003/model.safetensors" "$folder/bad/shard-00001-of-00002.safetensors"
refused 'is no shard of a checkpoint: it does not say which elements it holds' --steps 2 --load "$folder/bad"
copy && cp "$folder/bad/shard-00000-of-00002.safetensors" "$folder/bad/shard-00000-of-00003.safetensors"
refused 'holds shards of .* ranks: one checkpoint only' --steps 2 --load "$folder/bad"
copy && mv "$folder/bad/shard-00001-of-00002.safetensors" "$folder/bad/shard-00001-of-1900000000.safetensors"
refused 'is not complete: it has no shard-00001-of-00002' --steps 2 --load "$folder/bad"
refused 'is one shard of a checkpoint: name its folder' --steps 2 --load "$step/shard-00000-of-00002.safetensors"

# What the shards say of themselves, changed by hand: a Python expression changes the header h and the places p.
edit() {  # CODE FILE…
    local code=$1
    shift
    python3 - "$code" "$@" <<'EDIT'
import json, struct, sys
for file in sys.argv[2:]:
    with open(file, "rb") as f:
        size, = struct.unpack("<Q", f.read(8))
        h, data = json.loads(f.read(size)), f.read()
    p = json.loads(h["__metadata__"]["shardlings.places"])
    first = next(iter(p))
    exec(sys.argv[1])
    h["__metadata__"]["shardlings.places"] = json.dumps(p)
    header = json.dumps(h).encode()
    with open(file, "wb") as f:
        f.write(struct.pack("<Q", len(header)) + header + data)
EDIT
}
edited() {  # PATTERN CODE: the second shard changed
    copy && edit "$2" "$folder/bad/shard-00001-of-00002.safetensors"
    refused "$1" --steps 2 --load "$folder/bad"
}
edited "elements of '.*' lie outside of it" 'p[first]["runs"] = [[-5, 10]]'
edited "elements of '.*' lie outside of it" 'p[first]["runs"] = [[2**63 - 1, 5]]'
edited 'is no shard of a checkpoint' 'p[first]["runs"] = None'
edited "has the shape 1073741824 x 1073741824 x 1073741824" 'p[first]["shape"] = [2**30] * 3'
edited "has the shape -1 x 4" 'p[first]["shape"] = [-1, 4]'
copy && edit 'for t in h.values(): "dtype" in t and t.update(dtype="I32")' "$folder"/bad/shard-*
refused "shard-00000-of-00002.*holds I32: expected F64, F32, BF16 or F16" --steps 2 --load "$folder/bad"
refused '--save-shards needs --save' --steps 1 --save-shards
# A newer step that is not complete is passed over.
cp -r "$step" "$good/step-00000002" && rm "$good/step-00000002/shard-00000-of-00002.safetensors"
train --steps 2 --load "$good" --save "$folder/passed-over"

finish
