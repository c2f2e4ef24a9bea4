#!/usr/bin/env bash
# shardlings train --dp N as a user meets it: data_parallel_test.sh BUILD. N devices train what one trains, send what
# the lesson says, and communicate beside the backward pass.
# shellcheck source=tests/lib/support/shell.sh
source tests/lib/support/shell.sh

# A text that stays as it is, and small steps: AdamW makes more of a rounding with each step, as where a gradient is all
# rounding only its sign counts.
train() {  # NAME ARGUMENT…
    local name=$1
    shift
    check "train $*" "$program" train --layers 2 --hidden 16 --heads 2 --seq 8 --batch 48 --steps 20 --lr 1e-3 \
        --data LICENSE --dtype fp64 --clip 0.5 --log-every 100 --json "$folder/$name.run.json" "$@"
}

# A Python expression over the runs: run["NAME"] is what --json wrote, trace["NAME"] the events of --trace.
holds() {  # EXPRESSION
    check "$1" python3 - "$folder" "$1" <<'PYTHON'
import json, pathlib, sys
folder = pathlib.Path(sys.argv[1])
read = lambda kind: {f.name.split('.')[0]: json.loads(f.read_text()) for f in folder.glob(f'*.{kind}.json')}
run = read('run')
trace = {name: [e for e in t['traceEvents'] if e.get('ph') == 'X'] for name, t in read('trace').items()}

def difference(a, b, key):
    """The largest relative difference of two runs' steps."""
    return max(abs(x[key] - y[key]) / abs(y[key]) for x, y in zip(run[a]['steps'], run[b]['steps'], strict=True))

def whole(name, ranks):
    """Elements of the one bucket of all parameters, padded."""
    return -(-run[name]['config']['parameters'] // ranks) * ranks

def exposed(name):
    return sum(step['exposed_seconds'] for step in run[name]['steps'])

def beside(name):
    """Collectives during which rank 0 computes a backward pass (by more than the trace's 0.001 us of rounding)."""
    spans = lambda kind: [(e['ts'], e['ts'] + e['dur']) for e in trace[name]
                          if e['pid'] == 0 and e.get('cat') == kind]
    return sum(any(min(end, last) - max(begin, first) > 0.01 for first, last in spans('backward'))
               for begin, end in spans('communication'))

if not eval(sys.argv[2]):
    sys.exit('it is not so')
PYTHON
}

# One bucket: its padding, and so every byte, is known. 20 steps in fp64 agree with the single process to 1e-12, as
# promised (tests/04_data_parallel derives why no more than that is left), loss and norm of the gradients.
train one
for ranks in 2 3 4 8; do
    train "$ranks" --dp "$ranks" --microbatches 2 --bucket-bytes 1000000000
    holds "difference('$ranks', 'one', 'loss') <= 1e-12"
    holds "difference('$ranks', 'one', 'grad_norm') <= 1e-12"
    holds "all(r['sent_data_parallel']['messages'] == 20 * 2 * ($ranks - 1) for r in run['$ranks']['ranks'])"
    holds "all(r['sent_data_parallel']['bytes'] == 20 * 2 * ($ranks - 1) * whole('$ranks', $ranks) // $ranks * 8
        for r in run['$ranks']['ranks'])"
    holds "all(r['memory']['gradients_peak'] == 8 * whole('$ranks', $ranks) for r in run['$ranks']['ranks'])"
    holds "all(r['memory']['optimizer_states'] == 16 * whole('$ranks', $ranks) for r in run['$ranks']['ranks'])"
done

# A bucket a module, on devices that compute about as long as they communicate: what is sent beside the backward pass
# is not waited for, and the numbers stay the same.
slow=(--dp 2 --device-flops 1e11 --topology 2x1)
train overlap "${slow[@]}" --trace "$folder/overlap.trace.json"
train exposed "${slow[@]}" --no-overlap --trace "$folder/exposed.trace.json"
holds "exposed('overlap') < exposed('exposed')"
holds "beside('overlap') > 0"
holds "beside('exposed') == 0"
holds "difference('overlap', 'exposed', 'loss') == 0"
train again "${slow[@]}"
holds "run['again'] == run['overlap']"

finish
