#!/usr/bin/env python3
"""Writes down anew what ratio each printed figure of configs/seeds comes out at, where it has moved.

  scripts/update_seeds.py [PROGRAM]    build/titer without an argument; build it first

Look at `git diff configs/seeds` afterwards: every changed ratio needs a reason, and a figure that
is no longer met needs its "why".
"""

import csv
import io
import pathlib
import re
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
MOVED = 0.01  # relative: half of what the test allows
RATIO = re.compile(r'"ratio": ([0-9.e+-]+)')


def predicted_ratios(program):
    """The ratios of each statement's figures, in the order of its file."""
    seeds = subprocess.run([program, "seeds", "--all", "--format", "csv"],
                           stdout=subprocess.PIPE, text=True, check=False)
    ratios = {}
    for row in csv.DictReader(io.StringIO(seeds.stdout)):
        if row["kind"] == "figure":
            ratios.setdefault(row["id"], []).append(float(row["ratio"]))
    return ratios


def rewritten(text, ratios):
    left = iter(ratios)

    def one(found):
        old, new = float(found.group(1)), next(left)
        moved = abs(new - old) > MOVED * abs(old)
        return f'"ratio": {new:.3g}' if moved else found.group(0)

    return RATIO.sub(one, text)


def main():
    program = sys.argv[1] if len(sys.argv) > 1 else str(ROOT / "build/titer")
    for name, ratios in predicted_ratios(program).items():
        (path,) = ROOT.glob(f"configs/seeds/*/{name}.json")
        old = path.read_text()
        new = rewritten(old, ratios)
        if new != old:
            path.write_text(new)
            print(path.relative_to(ROOT))


if __name__ == "__main__":
    main()
