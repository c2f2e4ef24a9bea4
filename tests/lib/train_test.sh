#!/usr/bin/env bash
# shardlings train and generate as a user meets them: train_test.sh BUILD. Bad input gets one clear message and a
# non-zero exit and leaves nothing behind; a resumed run is bitwise the uninterrupted one.
# shellcheck source=tests/lib/support/shell.sh
source tests/lib/support/shell.sh
small=(--layers 2 --hidden 16 --heads 2 --seq 16 --batch 4 --log-every 100)

refused() { fails_with "$1" errors_of "$program" "${@:2}"; }  # MESSAGE ARGUMENT…

# --- flags
refused "'--bogus' is not known here" train --bogus 3
refused 'required' generate
refused 'subcommand' ''
refused '--layers' train --layers two
refused '--hidden 30 is not divisible by --heads 4' train --hidden 30 --heads 4
for flag in layers hidden heads seq vocab batch microbatches steps; do
    refused "--$flag is 0: expected 1 to" train "--$flag" 0
    refused "--$flag is -3: expected 1 to" train "--$flag" -3
    refused "--$flag" train "--$flag" 99999999999999999999
done
refused '--hidden is 1000000000: expected 1 to' train --hidden 1000000000
refused '--layers is 100000: expected' train --layers 100000
refused "unknown dtype 'int8': expected fp64, fp32, bf16 or fp16" train --dtype int8
refused "--recompute is 'some': expected none, selective or full" train --recompute some
refused '--vocab|vocabulary' train --vocab 100
refused '--batch 6 cannot be cut into --microbatches 4' train --batch 6 --microbatches 4
refused '--lr is -1: expected' train --lr -1
refused '--lr is nan: expected' train --lr nan
refused '--dp is 0: expected 1 to' train --dp 0
refused '--batch 8 cannot be cut for --dp 3 ranks' train --dp 3
refused '--batch 8 cannot be cut for --dp 4 ranks of --microbatches 4' train --dp 4 --microbatches 4
refused 'do not fit a topology' train --dp 4 --topology 1x2
refused '--bucket-bytes is 0: expected 1 to' train --dp 2 --bucket-bytes 0
refused '--gradient-buckets is 0: expected 1 to' train --dp 2 --zero 2 --gradient-buckets 0
refused "--zero3-fetch is 'gather'" train --dp 2 --zero 3 --zero3-fetch gather
refused "--zero-accumulate is 'half'" train --dp 2 --zero 2 --zero-accumulate half
refused '--zero is 4: expected 0, 1, 2 or 3' train --dp 2 --zero 4
refused 'started on 3 ranks, but pp 1 x dp 2 x tp 1 is 2' launch --ranks 3 -- "$program" train --dp 2
refused '--pp is 0: expected 1 to' train --pp 0
refused '2 layers cannot be cut into 3 pipeline chunks' train "${small[@]}" --pp 3
refused '2 layers cannot be cut into 4 pipeline chunks' train "${small[@]}" --pp 2 --schedule interleaved \
    --virtual-stages 2 --microbatches 2
refused 'needs --schedule interleaved' train --pp 2 --virtual-stages 2 --schedule 1f1b
refused 'needs --schedule interleaved and --pp 2' train --schedule interleaved --virtual-stages 2
refused 'a multiple of 2 micro-batches' train --pp 2 --virtual-stages 2 --schedule interleaved --microbatches 1
refused "--schedule is 'zigzag': expected naive, gpipe, 1f1b or interleaved" train --pp 2 --schedule zigzag
refused '--stages names 3 chunks: expected .* 2' train --pp 2 --stages 1,1,2
refused '--stages has 3 layers in all, the model has 4' train --layers 4 --pp 2 --stages 1,2
refused '--stages is 0: expected 1 to' train --layers 4 --pp 2 --stages 0,4
refused '--batch 8 cannot be cut for --dp 2 ranks of --microbatches 8' train --pp 2 --dp 2 --microbatches 8
refused '--heads 4 cannot be cut for --tp 3 ranks: choose a degree that divides the heads' train --tp 3
refused '--heads 4 cannot be cut for --tp 8 ranks' train --tp 8
refused '--tp is 0: expected 1 to 1024' train --tp 0
refused '--sequence-parallel needs --tp 2 or more' train --sequence-parallel
refused '--dropout is 1: expected 0 or more, and less than 1' train --dropout 1
refused "'12 parsecs' is not a number of bytes" train --memory-budget '12 parsecs'
refused "'4by8' is not a topology" train --topology 4by8
refused '--save-every needs --save' train --save-every 5
refused '--ranks is 0' launch --ranks 0 -- true
refused "there is no program 'nosuch'" launch --ranks 2 -- nosuch
refused 'was ended by signal 9' launch --ranks 2 -- sh -c 'kill -9 $$'

# --- a budget that is too small: while the model is made, and while it runs
refused 'device out of memory.*parameters' train "${small[@]}" --memory-budget 10KiB
refused 'device out of memory.*activations' train "${small[@]}" --memory-budget 250KiB

# --- data
touch "$folder/empty"
head -c 100 /dev/urandom >"$folder/short"
refused 'there is no file' train "${small[@]}" --data "$folder/missing"
refused 'empty' train "${small[@]}" --data "$folder/empty"
refused 'folder|directory' train "${small[@]}" --data "$folder"
refused 'sequence' train "${small[@]}" --data "$folder/short"

# --- places to write
refused 'short' train "${small[@]}" --steps 1 --save "$folder/short/save"
refused 'short' train "${small[@]}" --steps 1 --json "$folder/short/run.json"
refused "ends in .json" train "${small[@]}" --steps 1 --trace "$folder/out.png"
refused 'out' train "${small[@]}" --steps 1 --trace "$folder/nowhere/out.svg"
refused '10KiB|out of memory' train "${small[@]}" --memory-budget 10KiB --json "$folder/out.json"

# --- a run, and the same run interrupted, in every dtype
for dtype in fp32 fp64 bf16 fp16; do
    run=$folder/$dtype
    accepted train "${small[@]}" --dtype "$dtype" --steps 6 --save "$run/whole"
    accepted train "${small[@]}" --dtype "$dtype" --steps 6 --save-every 3 --save "$run/half"
    rm -rf "$run/half/step-00000006"
    accepted train "${small[@]}" --steps 6 --load "$run/half" --save "$run/half"
    for file in model.safetensors optimizer.safetensors training.json config.json; do
        same_file "$run/whole/step-00000006/$file" "$run/half/step-00000006/$file"
    done
done

# --- a rank that is killed: the job ends in seconds, with the rank's name and place
"$program" train --layers 4 --batch 8 --microbatches 8 --pp 4 --steps 100000 >"$folder/killed" 2>&1 &
job=$!
until grep -q '^step' "$folder/killed" || ! kill -0 $job 2>/dev/null; do sleep 0.1; done
pkill -9 -n -f "^$(realpath "$program") train --layers 4 --batch 8 --microbatches 8 --pp 4 --steps 100000"
begin=$SECONDS
if wait $job; then
    wrong 'a run went on without one of its ranks'
elif ((SECONDS - begin > 5)); then
    wrong "a run needed $((SECONDS - begin)) s to end when a rank was killed"
elif grep -Eq '^rank [0-3] \(stage [0-3] of 4, .*\) was ended by signal 9' "$folder/killed"; then
    ok
else
    wrong "a killed rank was not named: $(tail -n 3 "$folder/killed")"
fi
refused 'Rank [01] is stage [01] of 2' train "${small[@]}" --pp 2 --memory-budget 60KiB

# --- data parallelism: every stage bitwise the same, saved by one layout and gone on from by another
parallel=(--layers 2 --hidden 16 --heads 2 --seq 16 --batch 8 --microbatches 2 --clip 0.5)
accepted train "${parallel[@]}" --steps 3 --dp 4 --save "$folder/dp/0"
for stage in 1 2 3; do
    accepted train "${parallel[@]}" --steps 3 --dp 4 --zero "$stage" --save "$folder/dp/$stage" --json "$folder/dp.json"
    for file in model.safetensors optimizer.safetensors training.json config.json; do
        same_file "$folder/dp/0/step-00000003/$file" "$folder/dp/$stage/step-00000003/$file"
    done
    accepted train "${parallel[@]}" --steps 6 --dp 2 --zero $((3 - stage)) --load "$folder/dp/$stage" \
        --save "$folder/dp/on$stage"
    same_file "$folder/dp/on1/step-00000006/optimizer.safetensors" \
        "$folder/dp/on$stage/step-00000006/optimizer.safetensors"
done

# --- pipelines: every schedule bitwise the single process, with data parallelism and ZeRO bitwise without the pipeline
deep=(--layers 4 --hidden 16 --heads 2 --seq 16 --batch 8 --microbatches 4 --clip 0.5 --steps 3 --log-every 100)
pipelined() {  # NAME BASELINE ARGUMENT…
    local name=$1 baseline=$2
    shift 2
    accepted train "${deep[@]}" --save "$folder/pp/$name" "$@"
    for file in model.safetensors optimizer.safetensors; do
        same_file "$folder/pp/$baseline/step-00000003/$file" "$folder/pp/$name/step-00000003/$file"
    done
}
accepted train "${deep[@]}" --save "$folder/pp/single"
pipelined naive single --pp 2 --schedule naive
pipelined gpipe single --pp 4 --schedule gpipe --recompute full
pipelined 1f1b single --pp 3 --schedule 1f1b --stages 1,2,1
pipelined interleaved single --pp 2 --schedule interleaved --virtual-stages 2
accepted train "${deep[@]}" --save "$folder/pp/dp2" --dp 2
pipelined grid0 dp2 --pp 2 --dp 2 --schedule 1f1b
pipelined grid3 dp2 --pp 2 --dp 2 --zero 3 --schedule interleaved --virtual-stages 2 --recompute full
accepted train --layers 4 --hidden 16 --heads 2 --seq 16 --batch 8 --steps 5 --pp 2 --dp 2 --zero 2 --load "$folder/pp/gpipe"
accepted generate --load "$folder/fp32/whole" --prompt 'Hello' --tokens 40
one=$("$program" generate --load "$folder/bf16/whole" --tokens 40 --seed 7 | tr -d '\0')
two=$("$program" generate --load "$folder/bf16/whole" --tokens 40 --seed 7 | tr -d '\0')
if [[ $one == "$two" ]]; then ok; else wrong 'the same seed gave two texts'; fi

refused 'holds the checkpoints of an earlier run' train "${small[@]}" --steps 3 --save "$folder/fp32/whole"

# --- checkpoints that are none
good=$folder/fp32/whole/step-00000006
copy() { rm -rf "$folder/bad" && cp -r "$good" "$folder/bad"; }
refused 'nowhere' train "${small[@]}" --load "$folder/nowhere"
refused 'more --steps' train "${small[@]}" --steps 6 --load "$folder/fp32/whole"
copy && truncate -s 5000 "$folder/bad/model.safetensors"
refused 'bad/model.safetensors' train --steps 9 --load "$folder/bad"
copy && cp "$program" "$folder/bad/model.safetensors"
refused 'bad/model.safetensors' train --steps 9 --load "$folder/bad"
copy && rm "$folder/bad/optimizer.safetensors"
refused 'optimizer.safetensors' train --steps 9 --load "$folder/bad"
copy && printf 'nonsense' >"$folder/bad/training.json"
refused 'training.json' train --steps 9 --load "$folder/bad"
refused 'holds a model of .* not of' train --layers 2 --hidden 32 --heads 2 --seq 16 --steps 9 --load "$good"
copy && printf '\377\377\377\377' | dd of="$folder/bad/model.safetensors" bs=1 conv=notrunc status=none \
    seek=$(($(stat -c %s "$good/model.safetensors") - 400))
refused 'NaN|not a number|finite' generate --load "$folder/bad"
refused 'prompt is empty' generate --load "$good" --prompt ''
refused '--temperature is -1' generate --load "$good" --temperature -1

finish
