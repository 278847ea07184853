#!/usr/bin/env bash
# A sweep as one job of several tasks, on as many machines as they take, and its table.
#
#   sbatch sweep-srun.sh SWEEP FILE [OPTION...]
#
# Submitted again, with the same number of tasks, it goes on where it was.
#SBATCH --job-name=titer-sweep
#SBATCH --ntasks=16
#SBATCH --cpus-per-task=2
#SBATCH --time=01:00:00
#SBATCH --requeue
set -euo pipefail

titer=${TITER:-titer}
# What a job asks for each task, srun must be told again.
srun --cpus-per-task="${SLURM_CPUS_PER_TASK:-1}" "$titer" sweep "$1" --out "$2" --resume "${@:3}"
exec "$titer" merge "$2"
