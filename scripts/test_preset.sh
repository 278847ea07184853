#!/usr/bin/env bash
# Builds everything with a preset of CMakePresets.json, in that preset's own folder, and runs the
# tests.
#
#   scripts/test_preset.sh clang|asan|tsan|debug [ctest arguments...]
set -euo pipefail
# shellcheck source=scripts/lib.sh
source "$(dirname "${BASH_SOURCE[0]}")/lib.sh"

preset=${1:-}
case $preset in
  clang) list='lint' ;;
  asan | tsan | debug) list='test' ;;
  -h | --help) usage && exit ;;
  *) die "expected one of: clang asan tsan debug" ;;
esac
shift
"$root/scripts/install_packages.sh" "$list"
cd "$root"
quietly 'Configuring' cmake --preset "$preset"
quietly 'Building' cmake --build --preset "$preset" --parallel "$jobs"
run_ctest "$root/build-$preset" "$@"
