#!/usr/bin/env bash
# Writes configs/support.csv anew: what was measured of which combination, and how far off what the
# program predicts now is.
#
#   scripts/update_support.sh [PROGRAM]    build/titer without an argument; build it first
#
# Look at `git diff configs/support.csv` afterwards: every error that grew needs a reason.
set -euo pipefail

root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd -P)
program=${1:-$root/build/titer}
tables=$root/tests/data/measured

"$program" support "$tables"/training*.csv --format csv >"$root/configs/support.csv.new"
mv "$root/configs/support.csv.new" "$root/configs/support.csv"
