#!/usr/bin/env bash
# A sweep as an array of jobs: each computes its shard on one machine, whenever Slurm finds room.
#
#   array=$(sbatch --parsable sweep-array.sh SWEEP FILE [OPTION...])
#   sbatch --dependency=afterok:"$array" merge.sh FILE
#
# After a failure, a time limit or a preemption submit the same again: tasks that are done return at
# once, the others go on where they were. The number of tasks must stay what it was.
#SBATCH --job-name=titer-sweep
#SBATCH --array=0-15
#SBATCH --cpus-per-task=2
#SBATCH --time=01:00:00
#SBATCH --requeue
set -euo pipefail

exec "${TITER:-titer}" sweep "$1" --out "$2" --resume "${@:3}"
