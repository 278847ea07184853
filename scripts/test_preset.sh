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

# Of an allocation the calls nearest to it are kept: all of them would take an eighth longer.
export ASAN_OPTIONS="malloc_context_size=3${ASAN_OPTIONS:+:$ASAN_OPTIONS}"
export LSAN_OPTIONS="suppressions=$root/scripts/leaks.supp:print_suppressions=0"
run_ctest "$root/build-$preset" "$@"
