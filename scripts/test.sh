#!/usr/bin/env bash
# Installs what the tests need, builds everything in build/, runs the tests on all cores.
#
#   scripts/test.sh                   ctest's summary, and the output of tests that fail
#   scripts/test.sh ARGUMENTS...      ctest ARGUMENTS..., for example -R RingAllReduce or -N
#
# TITER_WERROR=ON in the environment makes compiler warnings errors.
set -euo pipefail
# shellcheck source=scripts/lib.sh
source "$(dirname "${BASH_SOURCE[0]}")/lib.sh"

"$root/scripts/install_packages.sh" test
configure TITER_BUILD_TESTS=ON
quietly 'Building' cmake --build "$build" --parallel "$jobs"
run_ctest "$build" "$@"
