#!/usr/bin/env python3
"""Writes configs/collectives.csv anew: how far off measured collectives are from what the program predicts of them.

usage: update_collectives.py [--check] [PROGRAM]

PROGRAM is build/titer without an argument; build it first. A row is a collective on a chip, within nodes or across them, of less
than 1 MiB or of more: how many public timings there are, and between what shares of the predicted time four of five of them
are. --check: instead, exit code 1 where the file is not what it would be.
"""
import csv
import pathlib
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[1]
TABLES = ROOT / "tests/data/measured/collectives"
FILE = ROOT / "configs/collectives.csv"
LARGE = 1 << 20
OURS = {"alltoall": "all-to-all"}
FEWEST = 10  # timings, from which a tenth can be told


def quantile(ordered, share):
    """Between neighbours in proportion."""
    at = share * (len(ordered) - 1)
    below = int(at)
    above = min(below + 1, len(ordered) - 1)
    return ordered[below] + (at - below) * (ordered[above] - ordered[below])


def timings(program):
    """(chip, collective, tier, class of size) -> measured over predicted times."""
    tables = sorted(path for path in TABLES.glob("*.csv") if path.name != "INDEX.csv")
    with open(TABLES / "INDEX.csv", newline="") as file:
        known = {pathlib.Path(row["file"]).stem: row for row in csv.DictReader(file)}
    said = subprocess.run([program, "validate", *map(str, tables), "--format", "csv"], capture_output=True, text=True, check=True)
    cells = {}
    for row in csv.DictReader(said.stdout.splitlines()):
        if not row["predicted_s"] or not row["measured_s"]:
            continue
        table, _, size = row["case_id"].rpartition(":")
        tier = "network" if int(known[table]["nnodes"] or 1) > 1 else "node"
        key = (row["chip"], OURS.get(known[table]["op"], known[table]["op"].replace("_", "-")), tier, "large" if float(size) >= LARGE else "small")
        cells.setdefault(key, []).append(float(row["measured_s"]) / float(row["predicted_s"]))
    return cells


def written(program):
    lines = ["chip,collective,tier,sizes,timings,low,high"]
    for key, shares in sorted(timings(program).items()):
        shares.sort()
        if len(shares) >= FEWEST:
            lines.append(",".join([*key, str(len(shares)), f"{quantile(shares, 0.1):.3f}", f"{quantile(shares, 0.9):.3f}"]))
    return "\n".join(lines) + "\n"


def main():
    arguments = [word for word in sys.argv[1:] if word != "--check"]
    text = written(arguments[0] if arguments else str(ROOT / "build/titer"))
    if "--check" not in sys.argv:
        FILE.write_text(text)
        return 0
    if FILE.read_text() != text:
        print(f"{FILE.relative_to(ROOT)} is not what scripts/update_collectives.py makes of the tables")
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
