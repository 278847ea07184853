#!/usr/bin/env bash
# Builds everything with a preset of CMakePresets.json, in that preset's own folder, and runs the C++
# tests.
#
#   scripts/test_preset.sh asan|tsan|debug [ctest arguments...]
set -euo pipefail
# shellcheck source=scripts/lib.sh
source "$(dirname "${BASH_SOURCE[0]}")/lib.sh"

preset=${1:-}
case $preset in
  asan) list='lint' ;;
  tsan | debug) list='test' ;;
  -h | --help) usage && exit ;;
  *) die "expected one of: asan tsan debug" ;;
esac
shift
"$root/scripts/install_packages.sh" "$list"
cd "$root"
quietly 'Configuring' cmake --preset "$preset"
quietly 'Building' cmake --build --preset "$preset" --parallel "$jobs"

# A process for each core, where ctest would start one for each test: with sanitizers that takes
# longer than the tests do.
run_shards() {
  local status=0 shard folder=$root/build-$preset
  local pids=()
  for ((shard = 0; shard < jobs; ++shard)); do
    GTEST_TOTAL_SHARDS=$jobs GTEST_SHARD_INDEX=$shard "$folder/tests/titer_tests" \
      --gtest_brief=1 >"$folder/shard-$shard.log" 2>&1 &
    pids+=("$!")
  done
  for ((shard = 0; shard < jobs; ++shard)); do
    wait "${pids[shard]}" || status=1
    cat "$folder/shard-$shard.log"
  done
  return "$status"
}

if (($# > 0)); then
  run_ctest "$root/build-$preset" "$@"
else
  run_shards
fi
