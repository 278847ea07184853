#!/usr/bin/env python3
"""Runs the commands that README.md and src/README.md show, so that they stay true.

usage: check_readme.py PROGRAM [README.md ...]

Only fenced blocks marked ```sh and ```python count, so a synopsis with placeholders belongs in
```text. In the first

- a line that starts with `build/titer` or `titer` is run by bash with PROGRAM in that place and
  must exit with 0, or with N if it ends in the comment `# exit N`; a backslash at the end of a line
  joins the next one to it;
- a script named `scripts/...` at the start of a line must exist and be executable; it is not run;
- other lines are left alone.

The second are run as a whole, with the module `titer` that lies in python/ beside PROGRAM.

The commands of a file run in order in one scratch folder that looks like the repository's root
(links to all that lies there), so they may use each other's output and leave nothing behind. A line
that names ../shared is skipped, and counted, where that folder does not exist, and Python where the
module is not built.
"""
import os
import pathlib
import re
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parent.parent
TIMEOUT_S = 300


PYTHON = "PYTHONPATH=build/python python3 -"


def blocks(text):
    """(language, number of the first line, lines) of each fenced block."""
    fence = None
    for number, line in enumerate(text.splitlines(), start=1):
        mark = re.match(r"\s*(`{3,}|~{3,})\s*(\S*)", line)
        if fence is None:
            if mark:
                fence, language, lines = mark.group(1), mark.group(2), []
        elif mark and mark.group(1).startswith(fence) and not mark.group(2):
            yield language, number - len(lines), lines
            fence = None
        else:
            lines.append(line)


def commands(text):
    """(line number, command) of each line in the sh blocks, continued lines joined, and of each
    python block."""
    for language, first, lines in blocks(text):
        if language == "python":
            yield first, "\n".join([f"{PYTHON} <<'END'", *lines, "END"])
        if language != "sh":
            continue
        pending = ""
        for number, line in enumerate(lines, start=first):
            begin = begin if pending else number
            pending += line.strip()
            if pending.endswith("\\"):
                pending = pending[:-1]
                continue
            if pending:
                yield begin, pending
            pending = ""


def scratch_root(folder, program):
    """A stand-in for the repository's root: links to what is there, and the program in build/."""
    root = pathlib.Path(folder) / "titer"
    (root / "build").mkdir(parents=True)
    (root / "build" / "titer").symlink_to(program)
    (root / "build" / "python").symlink_to(program.parent / "python")
    for entry in ROOT.iterdir():
        if entry.name != ".git" and not entry.name.startswith("build"):
            (root / entry.name).symlink_to(entry)
    if (ROOT.parent / "shared").is_dir():
        (root.parent / "shared").symlink_to(ROOT.parent / "shared")
    return root


def run(command, root):
    """What is wrong with the command, or None."""
    expected = re.search(r"#\s*exit (\d+)\s*$", command)
    expected = int(expected.group(1)) if expected else 0
    environment = dict(os.environ, PATH=f"{root / 'build'}:{os.environ['PATH']}")
    try:
        done = subprocess.run(["bash", "-o", "pipefail", "-c", command], cwd=root, env=environment,
                              stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                              stderr=subprocess.STDOUT, text=True, errors="replace",
                              timeout=TIMEOUT_S, check=False)
    except subprocess.TimeoutExpired:
        return f"not done after {TIMEOUT_S} s"
    if done.returncode == expected:
        return None
    return f"exit {done.returncode} instead of {expected}:\n{done.stdout[-2000:]}"


def script_problem(name):
    path = ROOT / name
    if not path.is_file():
        return "no such script"
    return None if os.access(path, os.X_OK) else "is not executable"


def check(readme, program):
    """How many commands were run and skipped, and what is wrong with those of one file."""
    ran, skipped, problems = 0, 0, []
    with tempfile.TemporaryDirectory() as folder:
        root = scratch_root(folder, program)
        for number, command in commands(readme.read_text(encoding="utf-8")):
            script = re.match(r"(?:\./)?(scripts/[^\s;|&]+)", command)
            problem = None
            if script:
                problem = script_problem(script.group(1))
            elif re.match(r"(build/)?titer(\s|$)", command) or command.startswith(PYTHON):
                no_shared = "../shared" in command and not (ROOT.parent / "shared").is_dir()
                no_module = command.startswith(PYTHON) and not (root / "build" / "python").is_dir()
                if no_shared or no_module:
                    skipped += 1
                    continue
                ran += 1
                problem = run(command, root)
            if problem:
                problems.append(f"{readme.name}:{number}: {command}\n  {problem}")
    return ran, skipped, problems


def main():
    if len(sys.argv) < 2 or sys.argv[1] in ("-h", "--help"):
        print(__doc__)
        return 0 if len(sys.argv) > 1 else 2
    program = pathlib.Path(sys.argv[1]).resolve(strict=True)
    named = [pathlib.Path(name) for name in sys.argv[2:]]
    readmes = named or [path for path in (ROOT / "README.md", ROOT / "src" / "README.md")
                        if path.is_file()]
    ran, skipped, problems = 0, 0, []
    for readme in readmes:
        some_ran, some_skipped, some_problems = check(readme, program)
        ran, skipped, problems = ran + some_ran, skipped + some_skipped, problems + some_problems
    if ran == 0:
        problems.append("no titer command was run: README.md should show some in ```sh blocks")
    print("\n".join(problems) or f"readme: {ran} commands ok", end="")
    print(f", {skipped} skipped for want of ../shared or the Python module" if skipped else "")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
