#!/usr/bin/env bash
# A class on a Slurm cluster: a job array that grades, a task a slice of the class, and a job after it that writes the
# reports. What a task that was cut off had graded stays; submit the same again and the rest is done.
#
#   lib/tools/marks/slurm_array.sh CLASS OUT [TASKS [OPTION...]]      (TASKS: 10; OPTIONs are sbatch's)
#
# CLASS, OUT and this folder, with `make grader` done in it, must be the same on every node.
set -eu
class=$(realpath "${1:?usage: slurm_array.sh CLASS OUT [TASKS [OPTION...]]}")
out=$(realpath -m "${2:?usage: slurm_array.sh CLASS OUT [TASKS [OPTION...]]}")
tasks=${3:-10}
shift $(($# < 3 ? $# : 3))
cd "$(dirname "$0")/../../.."
program=build/shardlings
mkdir -p "$out/log"
# All tasks have one seed.
[[ -f $out/class.json ]] || printf '{"seed": "%s"}\n' "$(od -An -N4 -tu4 /dev/urandom | tr -d ' ')" >"$out/class.json"

# Submissions run on the node of their task: mpirun is not to see Slurm and start them through it.
alone="env -i PATH=\"\$PATH\" HOME=\"\$HOME\""
job() {  # NAME COMMAND SBATCH-OPTION...
    sbatch --parsable --cpus-per-task=2 --mem-per-cpu=2G --output="$out/log/$1.txt" --wrap="$alone $2" "${@:3}"
}
array=$(job %A_%a "'$program' grade-all '$class' --out '$out' --jobs 1 --slice \$SLURM_ARRAY_TASK_ID/$tasks" \
    --array="1-$tasks" "$@")
reports=$(job reports "'$program' grade-all '$class' --out '$out'" --dependency="afterany:$array" "$@")
echo "array $array of $tasks tasks, then job $reports: reports will be in $out"
