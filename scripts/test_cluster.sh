#!/usr/bin/env bash
# Runs sweeps under a real slurmctld and slurmd on this machine, and under a real mpirun; kills some
# of their processes, goes on, merges, and compares with what one process writes.
#
#   scripts/test_cluster.sh PROGRAM
#
# Exit code 77 where neither Slurm nor mpirun is installed (scripts/install_packages.sh cluster);
# without one of them the other is tested, and that is said.
set -euo pipefail
# shellcheck source=scripts/lib.sh
source "$(dirname "${BASH_SOURCE[0]}")/lib.sh"

if (($# != 1)) || [[ $1 == -* ]]; then
  usage
  exit 2
fi
TITER=$(realpath "$1")
export TITER TITER_DATA=$root
folder=$(mktemp -d "${TMPDIR:-/tmp}/titer-cluster.XXXXXX")
export TITER_CLUSTER_TEST=$folder
daemons=()

# Processes of ours, found by the folder in their environment: Slurm's stay when their parents go.
processes() { grep -l -z -s -F "$folder" /proc/[0-9]*/environ | cut -d / -f 3; }

cleanup() {
  local left
  trap '' INT TERM HUP
  trap - EXIT
  if ((${#daemons[@]} > 0)); then
    scancel --quiet --full --signal=KILL --state=RUNNING 2>/dev/null || true
    scancel --quiet --state=PENDING 2>/dev/null || true
    sleep 0.5
    kill "${daemons[@]}" 2>/dev/null || true
    wait "${daemons[@]}" 2>/dev/null || true
  fi
  mapfile -t left < <(processes)
  kill -KILL "${left[@]}" 2>/dev/null || true
  rm -rf "$folder"
}
trap cleanup EXIT
trap 'exit 130' INT TERM HUP

# fail WHAT: with what the daemons said.
fail() {
  [[ ! -f $folder/slurm.log ]] || tail -n 30 "$folder"/slurm*.log >&2
  die "$1"
}

# patiently COMMAND...: until it succeeds, for at most a minute.
patiently() {
  local end=$((SECONDS + 60))
  until "$@"; do
    ((SECONDS < end)) || return 1
    sleep 0.05
  done
}

no_jobs() { [[ -z $(squeue --noheader 2>/dev/null) ]]; }
node_is_idle() { [[ $(sinfo --noheader --format=%T 2>/dev/null) == idle ]]; }
# jobs_made FILE...: waits for the end of all jobs.
jobs_made() {
  local file
  patiently no_jobs || return
  for file; do
    [[ -f $file ]] || return
  done
}
# Whether the file of a shard has begun: its head, and a chunk.
has_begun() { [[ $(grep -a -c '^chunk ' "$1" 2>/dev/null) -ge 1 ]]; }

# expect_same FILE WHAT: against the table of one process.
expect_same() {
  "$TITER" merge "$1" >/dev/null || fail "$2: not all there"
  cmp "$folder/alone.csv" "$1" || fail "$2: other bytes than one process writes"
  say "$2: the same bytes"
}

start_slurm() {
  local user port
  user=$(id -un)
  port=$((20000 + RANDOM % 10000))
  cat >"$folder/slurm.conf" <<END
ClusterName=titer
SlurmctldHost=localhost(127.0.0.1)
SlurmctldPort=$port
SlurmdPort=$((port + 1))
SlurmUser=$user
SlurmdUser=$user
AuthType=auth/none
CredType=cred/none
MpiDefault=none
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
SelectType=select/cons_tres
SelectTypeParameters=CR_CPU
SchedulerParameters=sched_min_interval=50000,batch_sched_delay=0,sched_interval=1
SlurmdParameters=config_overrides
ReturnToService=2
KillWait=2
StateSaveLocation=$folder/state
SlurmdSpoolDir=$folder/spool
SlurmctldPidFile=$folder/slurmctld.pid
SlurmdPidFile=$folder/slurmd.pid
NodeName=here NodeHostname=localhost NodeAddr=127.0.0.1 CPUs=4
PartitionName=all Nodes=here Default=YES
END
  mkdir "$folder/state" "$folder/spool"
  export SLURM_CONF=$folder/slurm.conf
  slurmctld -D -c >"$folder/slurm.log" 2>&1 &
  daemons+=($!)
  slurmd -D -N here >"$folder/slurmd.log" 2>&1 &
  daemons+=($!)
  patiently node_is_idle || fail 'Slurm does not start'
}

test_srun() {
  srun --ntasks=4 "$TITER" sweep "$sweep" --fidelity event --out srun.csv
  expect_same srun.csv 'srun, four tasks'
  # Neither a job's shell nor its script is a task of srun's.
  salloc --quiet --ntasks=2 "$TITER" sweep small.json --out salloc.csv
  sbatch --quiet --ntasks=2 --output=batch.log --wrap "$TITER sweep small.json --out batch.csv"
  jobs_made salloc.csv batch.csv || fail 'a job is taken for several'
}

test_sbatch() {
  sbatch --quiet --ntasks=2 --cpus-per-task=1 --output=job.log "$examples/sweep-srun.sh" \
    "$PWD/small.json" job.csv
  jobs_made job.csv || fail "the job of several tasks: $(cat job.log)"
  cmp small.csv job.csv || fail 'the job of several tasks: other bytes than one process writes'
  say 'sbatch, srun and merge in one job: the same bytes'
}

# One of the array's tasks is killed; submitted again, the array goes on.
test_array() {
  local submit array
  submit=(sbatch --parsable --array=0-3 --cpus-per-task=1 --no-requeue --output='array-%a.log'
    "$examples/sweep-array.sh" "$sweep" array.csv --fidelity event)
  array=$("${submit[@]}")
  patiently has_begun array.csv.shard-3-of-4.partial || fail 'the array does not start'
  scancel --full --signal=KILL "${array}_2"
  patiently no_jobs || fail 'the array does not end'
  [[ -f array.csv.shard-3-of-4.partial ]] || fail 'the task was not killed'
  "$TITER" merge array.csv 2>incomplete && fail 'merged without a shard'
  grep -q 'shard-3-of-4.partial: is not complete .* --shard 3/4 --resume' incomplete ||
    fail "$(cat incomplete)"
  array=$("${submit[@]}")
  sbatch --quiet --dependency=afterok:"$array" --output=merge.log "$examples/merge.sh" array.csv
  jobs_made array.csv || fail 'the array does not end'
  cmp alone.csv array.csv || fail 'the array: other bytes than one process writes'
  say 'a job array, one task killed, and the job that merges: the same bytes'
}

# as_ranks N ARGUMENTS...: under mpirun, each rank with its process id in a file.
as_ranks() {
  # shellcheck disable=SC2016
  OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 \
    mpirun --oversubscribe -n "$1" bash -c 'echo $$ >"pid-$OMPI_COMM_WORLD_RANK"; exec "$0" "$@"' \
    "$TITER" "${@:2}"
}

test_mpirun() {
  local run
  as_ranks 2 sweep small.json --out two.csv --jobs 1
  "$TITER" merge two.csv >/dev/null
  cmp small.csv two.csv || fail 'mpirun, two ranks'
  say 'mpirun, two ranks: the same bytes'
  as_ranks 4 sweep "$sweep" --fidelity event --jobs 1 --out mpi.csv >mpi.log 2>&1 &
  run=$!
  patiently has_begun mpi.csv.shard-3-of-4.partial || fail 'mpirun does not start'
  kill -KILL "$(cat pid-2)"
  wait "$run" && fail 'mpirun without a rank'
  [[ -f mpi.csv.shard-3-of-4.partial ]] || fail 'the rank was not killed'
  as_ranks 4 sweep "$sweep" --fidelity event --jobs 1 --out mpi.csv --resume
  expect_same mpi.csv 'mpirun, four ranks, one killed'
}

cd "$folder"
examples=$root/configs/slurm
sweep=$folder/sweep.json
# A thousand points of a millisecond: long enough to be caught at work.
cat >"$sweep" <<'END'
{"scenario": {"model": "gpt3-175b", "cluster": {"name": "dgx-a100-80gb", "nodes": 8},
              "plan": {}, "training": {"global_batch": 1536, "sequence": 2048}},
 "axes": {"plan.tensor": [1, 2, 4, 8], "plan.pipeline": [1, 2, 4, 8],
          "plan.micro_batch": [1, 2, 4, 8],
          "plan.recompute": ["none", "selective", "full"], "training.global_batch": [384, 512, 768, 1024, 1536, 3072]}}
END
cat >small.json <<'END'
{"scenario": "gpt3-175b-64xa100",
 "axes": {"plan.tensor": [1, 2, 4, 8], "plan.micro_batch": [1, 2, 4, 8]}}
END
"$TITER" sweep "$sweep" --fidelity event --out alone.csv
"$TITER" sweep small.json --out small.csv
tested=0
if command -v slurmctld slurmd srun sbatch >/dev/null; then
  start_slurm
  test_srun
  test_sbatch
  test_array
  tested=1
else
  say 'skipped: Slurm is not installed'
fi
if command -v mpirun >/dev/null; then
  test_mpirun
  tested=1
else
  say 'skipped: mpirun is not installed'
fi
((tested)) || exit 77
