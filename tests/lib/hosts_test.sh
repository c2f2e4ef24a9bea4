#!/usr/bin/env bash
# --hostfile and srun as a user meets them: hosts_test.sh BUILD. What is wrong with a hostfile is one clear message.
# shellcheck source=tests/lib/support/shell.sh
source tests/lib/support/shell.sh
head -c 2000 lessons/00_devices/README.md >"$folder/text"
small=(train --layers 1 --hidden 8 --heads 2 --seq 8 --batch 4 --steps 1 --data "$folder/text")
message_lines=1

hostfile() {  # MESSAGE TEXT: what is said about a hostfile with this text
    printf '%b' "$2" >"$folder/hosts"
    fails_with "$1" "$program" "${small[@]}" --dp 4 --hostfile "$folder/hosts"
}

hostfile 'names no host' ''
hostfile 'names no host' '\n# only a comment slots=4\n  \n'
hostfile "hosts, line 2: 'many' is not a number of ranks: expected 1 to 4096" 'localhost slots=2\nlocalhost slots=many\n'
hostfile "line 1: '0' is not a number of ranks" 'localhost slots=0\n'
hostfile "line 1: '' is not a number of ranks" 'localhost:\n'
hostfile "line 1: 'slot=4' is not understood" 'localhost slot=4\n'
hostfile 'place for 3 ranks \(slots=\), the layout needs 4' 'localhost slots=2 # two\nlocalhost\n'
hostfile "no host 'no-such-host.invalid'" 'localhost slots=4\nno-such-host.invalid slots=4\n'
fails_with "cannot read the hostfile $folder/missing: No such file" "$program" "${small[@]}" --dp 4 --hostfile "$folder/missing"
fails_with "cannot read the hostfile $folder: Is a directory" "$program" "${small[@]}" --dp 4 --hostfile "$folder"
fails_with 'cannot read the hostfile' "$program" launch --ranks 2 --hostfile "$folder/missing" -- hostname

# This machine by its name, in both ways to write it: the same run as without a hostfile.
"$program" "${small[@]}" --dp 4 --json "$folder/plain.json" >/dev/null 2>&1
for line in 'localhost slots=4' 'localhost:4' 'localhost\nlocalhost slots=3 max_slots=9'; do
    printf '%b\n' "$line" >"$folder/hosts"
    rm -f "$folder/hosts.json"
    if "$program" "${small[@]}" --dp 4 --hostfile "$folder/hosts" --json "$folder/hosts.json" >"$folder/said" 2>&1 &&
        cmp "$folder/plain.json" "$folder/hosts.json"; then
        ok
    else
        wrong "'$line': $(tail -n 5 "$folder/said")"
    fi
done

# Under srun the program starts nothing; where srun brings no MPI of its own, that is said once, by the first task.
srun_env=(env SLURM_STEP_ID=0)
fails_with 'srun has started processes that do not know of each other: add --mpi=pmix' \
    "${srun_env[@]}" SLURM_PROCID=0 "$program" "${small[@]}" --dp 4
said=$("${srun_env[@]}" SLURM_PROCID=2 "$program" "${small[@]}" --dp 4 2>&1)
code=$?
if [[ $code -eq 1 && -z $said ]]; then ok; else wrong "srun's third task: exit code $code: $said"; fi
# The batch script itself, and an interactive job's shell, are no step of srun's: there mpirun is started.
for step in 4294967291 4294967290; do
    if said=$(env SLURM_STEP_ID="$step" "$program" "${small[@]}" --dp 2 2>&1) && grep -q '^2 devices' <<<"$said"; then
        ok
    else
        wrong "step $step: $said"
    fi
done

finish
