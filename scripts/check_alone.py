#!/usr/bin/env python3
"""Checks that each file of src compiles by itself: that it includes, or its headers do, what it needs.

  scripts/check_alone.py BUILD_FOLDER     of a build that compiles file by file (the debug preset)

Their syntax only, which is where an include is missed, on all cores. Prints what the compiler says of files that do not.
"""

import concurrent.futures
import json
import os
import pathlib
import shlex
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent


def check(entry):
    """What the compiler says of the file; nothing if it compiles."""
    command = shlex.split(entry["command"])
    at = command.index("-o")
    del command[at : at + 2]
    done = subprocess.run(command + ["-fsyntax-only"], cwd=entry["directory"], capture_output=True, text=True)
    return done.stderr if done.returncode != 0 else ""


def main():
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    entries = json.loads((pathlib.Path(sys.argv[1]) / "compile_commands.json").read_text(encoding="utf-8"))
    own = [entry for entry in entries if pathlib.Path(entry["file"]).is_relative_to(ROOT / "src")]
    if not own:
        sys.exit(f"{sys.argv[1]}: compiles no file of src by itself; expected a build without CMAKE_UNITY_BUILD")
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        complaints = [said for said in pool.map(check, own) if said]
    if complaints:
        sys.exit("\n".join(complaints))
    print(f"alone: {len(own)} files ok")


if __name__ == "__main__":
    main()
