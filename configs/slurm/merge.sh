#!/usr/bin/env bash
# Puts the shards of FILE together, once they are all there.
#
#   sbatch --dependency=afterok:JOB merge.sh FILE
#SBATCH --job-name=titer-merge
#SBATCH --cpus-per-task=1
#SBATCH --time=00:10:00
set -euo pipefail

exec "${TITER:-titer}" merge "$1"
