#!/usr/bin/env bash
#SBATCH --job-name=shardlings
#SBATCH --nodes=2
#SBATCH --ntasks-per-node=4
#SBATCH --cpus-per-task=1
#SBATCH --time=00:10:00
#SBATCH --output=shardlings-%j.out
# A job for Slurm, submitted from the root of the repository, which all nodes must see: sbatch lessons/09_3d/slurm.sh
# [FLAG…]. The flags are those of a training run, in place of these; there must be PP x DP x TP tasks.
set -eu
flags=(--layers 4 --hidden 64 --heads 4 --seq 64 --batch 16 --microbatches 4 --steps 100
    --pp 2 --dp 2 --tp 2 --zero 1 --schedule 1f1b --json "shardlings-$SLURM_JOB_ID.json")
(($#)) && flags=("$@")
srun --mpi=pmix build/shardlings train "${flags[@]}"
