#!/usr/bin/env bash
# Installs what the build needs, builds the program, and runs it on a shipped example.
#
#   scripts/run.sh                    the time of one GPT-3 iteration on 64 A100 GPUs
#   scripts/run.sh ARGUMENTS...       build/titer ARGUMENTS...
#
# stdout holds only what the program prints; a second run takes seconds.
set -euo pipefail
# shellcheck source=scripts/lib.sh
source "$(dirname "${BASH_SOURCE[0]}")/lib.sh"

"$root/scripts/install_packages.sh" build
configure
quietly 'Building' cmake --build "$build" --parallel "$jobs" --target titer_program
if (($# == 0)); then
  cd "$root"
  set -- run configs/runs/gpt3-175b-64xa100.json
fi
exec "$build/titer" "$@"
