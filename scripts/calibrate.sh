#!/usr/bin/env bash
# Fits the shipped profiles to the measurements that come with the sources, and writes them anew.
#
#   scripts/calibrate.sh                      chips, then clusters (what is inside a node), then
#                                             networks, then stacks
#   scripts/calibrate.sh chips networks       only these
#
# Each profile is the base of its own fit: figures that are not fitted stay as they are, and a
# second run writes the same bytes. `git diff configs` shows what changed; the member "calibration"
# of a profile holds its evidence. In the environment:
#   TITER            the program                            (build/titer; build it first)
#   TITER_MEASURED   the measurements                       (tests/data/measured)
#   TITER_DATA       the folder with configs/ to write in   (this checkout)
#   TITER_DATE       the date of the fit in the evidence    (the day the shipped tables were fitted)
set -euo pipefail

root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd -P)
titer=${TITER:-$root/build/titer}
measured=${TITER_MEASURED:-$root/tests/data/measured}
date=${TITER_DATE:-2026-11-21}
export TITER_DATA=${TITER_DATA:-$root}

aiconfigurator='ai-dynamo/aiconfigurator@095f58a51c (NVIDIA, Apache-2.0)'
cudnn='attention: NVIDIA/cudnn-frontend@3929da2ef4 (NVIDIA, Apache-2.0)'

say() { printf '%s\n' "$*" >&2; }

# refit FOLDER NAME KIND ARGUMENTS...: fits configs/FOLDER/NAME.json and puts it in its place.
refit() {
  local folder=$1 name=$2 kind=$3
  shift 3
  say "configs/$folder/$name.json"
  "$titer" calibrate "$kind" "$@" --base "$name" --date "$date" --accept \
    --out "$TITER_DATA/configs/$folder/$name.json" >/dev/null
}

# The chips whose kernels were timed: products and attention, as serving runs it, or training.
chips() {
  local name table
  while read -r name table; do
    refit chips "$name" chip "$measured/kernels/${table}_gemm.csv" \
      "$measured/kernels/${table}_attention.csv" --source "$aiconfigurator" </dev/null
  done <<'TABLES'
a100-sxm4-80gb  a100_sxm
h100-sxm5-80gb  h100_sxm
h200-sxm-141gb  h200_sxm
b200-sxm        b200_sxm
l40s            l40s
TABLES
  while read -r name table; do
    date=${TITER_DATE:-2026-11-23} refit chips "$name" chip "$measured/kernels/${table}_gemm.csv" \
      "$measured/kernels/${table}_attention_train.csv" --source "$aiconfigurator; $cudnn" </dev/null
  done <<'TABLES'
gb200-nvl72  gb200
gb300-nvl72  gb300
TABLES
}

# Inside a node: two, four and eight devices.
clusters() {
  local name table op ranks files
  while read -r name table; do
    files=()
    for op in allreduce allgather reducescatter; do
      for ranks in 2 4 8; do
        files+=("$measured/collectives/${op}_1n${ranks}gpu_${table}_aiconf.csv")
      done
    done
    refit clusters "$name" network "${files[@]}" --source "$aiconfigurator" </dev/null
  done <<'TABLES'
dgx-a100-80gb  a100_sxm
dgx-h100       h100_sxm
dgx-h200       h200_sxm
dgx-b200       b200_sxm
TABLES
}

# Between nodes: the network, the cluster that it was measured in, and the tables. Other networks
# were measured between machines of several kinds, or in few sizes; their files say how they were
# fitted.
networks() {
  local name cluster tables
  while read -ra tables; do
    name=${tables[0]}
    cluster=${tables[1]}
    tables=("${tables[@]:2}")
    tables=("${tables[@]/#/$measured/collectives/}")
    refit networks "$name" network "${tables[@]/%/.csv}" --cluster "$cluster" </dev/null
  done <<'TABLES'
infiniband-hdr-8x200g  dgx-a100-80gb  allreduce_2n_ndv4_a100_rdma allreduce_2n_nda100v4_hdr8
TABLES
}

# Software stacks: the rows of the measured runs that each of them ran, where some are sure enough.
# How fast the host launches kernels is told by mixtures of experts in Megatron-Bridge, and by adapters in NeMo;
# attention of both is as the chips' tables time it, which the fits cannot tell from other kernels; of DeepSpeed by runs of one node alone, which its file says.
# How far equal devices differ is NeMo's in InternEvo, llm-foundry and Megatron-LM, whose runs are alike; Megatron Core has all figures of its kernels.
stacks() {
  local name figures tables
  for name in deepspeed nemo internevo llm-foundry megatron-bridge megatron-lm; do
    figures=()
    tables=("$measured/training.csv" "$measured/training_vtrain_single.csv")
    case $name in
      deepspeed | megatron-lm) figures=(--fit memory_traffic) ;;
      internevo) figures=(--fit memory_traffic=1:4) ;;
      llm-foundry) figures=(--fit memory_traffic --fit attention_slowdown) ;;
      megatron-bridge)
        figures=(--fit dispatch --fit loop_dispatch --fit memory_traffic --fit operator_traffic --fit straggling=0:0.02) ;;
      nemo) figures=(--fit dispatch --fit memory_traffic --fit straggling) ;;
    esac
    case $name in
      megatron-bridge | nemo) tables=("$measured/training.csv" "$measured/training_2.csv") ;;
    esac
    date=${TITER_DATE:-2026-11-30} refit stacks "$name" stack "${tables[@]}" "${figures[@]}" </dev/null
  done
}

[[ -x $titer ]] || { say "calibrate.sh: $titer is not there; build it first"; exit 1; }
[[ -d $measured ]] || { say "calibrate.sh: $measured is not there"; exit 1; }
(($# > 0)) || set -- chips clusters networks stacks
for part; do
  case $part in
    chips | clusters | networks | stacks) "$part" ;;
    *) say "calibrate.sh: $part: expected chips, clusters, networks or stacks"; exit 1 ;;
  esac
done
