#!/usr/bin/env bash
# Writes tests/golden/*/expected.csv anew from what the program predicts now.
#
#   scripts/update_golden.sh [PROGRAM]    build/titer without an argument; build it first
#
# Look at `git diff tests/golden` afterwards: every changed number needs a reason, and the
# arithmetic in why.md must still hold. What was asked and notes are words, which other tests hold.
set -euo pipefail

root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd -P)
program=${1:-$root/build/titer}

for run in "$root"/tests/golden/*/run.json; do
  expected=${run%run.json}expected.csv
  "$program" run "$run" --format csv | python3 -c '
import csv, sys
rows = list(csv.reader(sys.stdin))
kept = [i for i, name in enumerate(rows[0]) if name not in ("asked", "notes")]
csv.writer(sys.stdout, lineterminator="\n").writerows([[row[i] for i in kept] for row in rows])
' >"$expected.new"
  mv "$expected.new" "$expected"
  echo "${expected#"$root"/}"
done
