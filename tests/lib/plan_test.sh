#!/usr/bin/env bash
# shardlings count and plan as a user meets them: plan_test.sh BUILD. What cannot be counted or planned gets one clear
# message and a non-zero exit and leaves no file behind; what can is the same every time.
# shellcheck source=tests/lib/support/shell.sh
source tests/lib/support/shell.sh
message_lines=1
refused() { fails_with "$1" "$program" "${@:2}" --json "$folder/out.json"; }  # MESSAGE ARGUMENT…
shows() { prints "$1" squeezed "$program" "${@:2}"; }                         # LINE ARGUMENT…

shows ' exactly 174 604 259 328' count --model gpt3-175b
shows ' exactly 124 439 808' count --layers 12 --hidden 768 --heads 12 --seq 1024
shows ' exactly 6 738 415 616' count --model llama2-7b
shows 'batch 64, 65.54 k tokens a step' plan --model gpt2-xl --devices 64
shows 'batch 8, 8.192 k tokens a step' plan --model gpt2-xl --devices 2
shows ' optimizer states 262.2 GB 32.78 GB 32.78 GB 32.78 GB' count --model gpt3-175b --tp 8 --dp 8
shows ' 7 1.00 4.225 MB 5.308 MB 9.533 MB' count --layers 8 --hidden 128 --heads 4 --seq 256 --vocab 512 --pp 8 \
    --batch 8 --cluster laptop --devices-per-node 8
shows '30936 layouts, 5367 fit; of each pp x dp x tp the fastest:' plan --model megatron-1t --devices 4096 --batch 3072
shows 'batch 512, 2.097 M tokens a step; 1.000 T tokens are 476837 steps' \
    plan --model llama2-7b --cluster h100 --devices 64 --batch 512 --tokens 1e12
# What `shardlings train` says of its devices when it runs this layout; verify compares all of it.
shows ' 0 250 624 250 624 501 248 1 679 360 589 824 98 304 250 624 88.08 MFLOP' count --layers 4 --hidden 64 --heads 4 \
    --seq 64 --vocab 256 --pp 2 --dp 2 --tp 2 --batch 8 --micro-batch 2 --dtype fp32 --as-run
refused "models of GPT-2's kind alone, and llama2-7b is none" count --model llama2-7b --as-run
refused '--dp is 1025: expected 1 to 1024' count --model gpt2-xl --dp 1025 --batch 1025 --devices-per-node 1 --as-run

echo '{"name": "small", "layers": 4, "hidden": 256, "heads": 4, "sequence": 128, "vocabulary": 256}' >"$folder/small.json"
shows 'small: 4 layers, 256 hidden, 4 heads, 128 tokens a sequence, vocabulary 256' count --model "$folder/small.json"
shows ' exactly 3 257 856' count --model "$folder/small.json"

for run in 1 2; do
    "$program" plan --model gpt3-175b --devices 1024 --batch 1536 --tokens 300e9 --json "$folder/$run.json" \
        --picture "$folder/$run.svg" >"$folder/$run.txt" 2>&1 || wrong "plan gpt3-175b: $(cat "$folder/$run.txt")"
done
for kind in json svg txt; do
    same_file "$folder/1.$kind" "$folder/2.$kind"
done

refused "there is no model 'gpt9': expected gpt2-small, " count --model gpt9
refused "there is no model 'gpt9': expected gpt2-small, " plan --model gpt9
refused "there is no cluster 'b200': expected a100-80g, h100 or laptop" plan --model gpt2-xl --cluster b200
refused 'no/such.json' count --model no/such.json
refused '25 heads are not divisible by --tp 2' count --model gpt2-xl --tp 2
refused '48 layers are not divisible by --pp times --virtual-stages, 5' count --model gpt2-xl --pp 5
refused '12 devices do not fill nodes of 8' plan --model gpt2-xl --devices 12
refused 'no layout of 64 devices is legal' plan --model gpt2-xl --devices 64 --batch 7
refused "--recompute is 'some': expected none, selective or full" plan --model gpt2-xl --recompute some
refused 'model.s layers are 0' count
refused 'out.png: expected a file name that ends in .svg' plan --model gpt2-xl --picture out.png
refused 'nothing fits: of .* too much; .* optimizer states; on 64 devices something would' \
    plan --model gpt3-175b --batch 64
refused 'nothing fits: .*; without --recompute .* would' \
    plan --model llama2-7b --devices 8 --batch 8 --recompute none --dtype fp32 --memory 17GB

finish
