#!/usr/bin/env python3
"""Runs the commands that the documents show, compares the outputs that they show, and follows their
links, so that they stay true.

usage: check_readme.py [--update] PROGRAM [FILE.md ...]

Without files: README.md and what lies beside it, docs/, and the README.md of src, configs and
tests.

Only fenced blocks marked ```sh, ```console and ```python count, so a synopsis with placeholders
belongs in ```text. In the first

- a line that starts with `build/titer` or `titer` is run by bash with PROGRAM in that place and
  must exit with 0, or with N if it ends in the comment `# exit N`; a backslash at the end of a line
  joins the next one to it;
- a script named `scripts/...` at the start of a line must exist and be executable; it is not run;
- other lines are left alone.

In the second a line that starts with `$ ` is such a command, and the lines up to the next one are
what it must print, but for spaces at their ends; a line `…` stands for any number of lines. With
--update what it prints now is written down there, as many lines before and behind the first `…`
as there were. A table is compared likewise, up to the next empty line, with what the command in the
comment before it prints: `<!-- $ titer schema run plan --format markdown -->`.

The third are run as a whole, with the module `titer` that lies in python/ beside PROGRAM.

A command that takes long and that a test asks as well is not asked again: after the comment
`<!-- asked by tests/tasks/planner_test.cpp -->` on the line before a block that test must have its
words, but for where its output goes.

The commands of a file run in order in one scratch folder that looks like the repository's root
(links to all that lies there), so they may use each other's output and leave nothing behind. A line
that names ../shared is skipped, and counted, where that folder does not exist, and Python where the
module is not built.

A link to a file must lead to one, with an anchor to a heading of it, and every page of docs/ must
be linked from README.md, be it by way of other pages.
"""
import os
import pathlib
import re
import shlex
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parent.parent
TIMEOUT_S = 300
PYTHON = "PYTHONPATH=build/python python3 -"
ANYTHING = "…"


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


def shown(first, lines):
    """(line number, command, lines that it prints) of a console block."""
    found = []
    for number, line in enumerate(lines, start=first):
        if line.startswith("$ "):
            found.append((number, line[2:], []))
        elif found:
            found[-1][2].append(line)
    return found


def tables(text):
    """(line number, command, lines that it prints) of each comment before a table."""
    lines = text.splitlines()
    for number, _ in prose(text):
        command = re.fullmatch(r"<!-- \$ (.*) -->", lines[number - 1])
        if command:
            rest = lines[number:] + [""]
            yield number, command.group(1), rest[:rest.index("")]


def commands(text):
    """(line number, command, lines that it prints or None) of each line in the sh blocks, continued
    lines joined, of the console blocks, of each python block, and of tables."""
    yield from tables(text)
    for language, first, lines in blocks(text):
        if language == "python":
            yield first, "\n".join([f"{PYTHON} <<'END'", *lines, "END"]), None
        elif language == "console":
            yield from shown(first, lines)
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
                yield begin, pending, None
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


def difference(expected, printed):
    """Where what was printed leaves what was expected, or None."""
    pattern, at = "\n".join(line.rstrip() for line in expected).rstrip().splitlines(), 0
    while pattern and ANYTHING not in pattern[0]:
        line = pattern.pop(0)
        if at == len(printed) or printed[at] != line:
            got = printed[at] if at < len(printed) else "nothing more"
            return f"line {at + 1} of its output:\n  expected: {line}\n  printed:  {got}"
        at += 1
    if not pattern:
        return f"prints more: {printed[at]}" if at < len(printed) else None
    if len(pattern) == 1:
        return None
    rest = [difference(pattern[1:], printed[i:]) for i in range(at, len(printed) + 1)]
    return None if None in rest else f"not printed in this order: {pattern[1]}"


def run(command, root, expected):
    """What is wrong with the command, or None; and what it prints."""
    wanted = re.search(r"#\s*exit (\d+)\s*$", command)
    wanted = int(wanted.group(1)) if wanted else 0
    environment = dict(os.environ, PATH=f"{root / 'build'}:{os.environ['PATH']}")
    try:
        done = subprocess.run(["bash", "-o", "pipefail", "-c", command], cwd=root, env=environment,
                              stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                              stderr=subprocess.STDOUT, text=True, errors="replace",
                              timeout=TIMEOUT_S, check=False)
    except subprocess.TimeoutExpired:
        return f"not done after {TIMEOUT_S} s", []
    printed = [line.rstrip() for line in done.stdout.rstrip().splitlines()]
    if done.returncode != wanted:
        return f"exit {done.returncode} instead of {wanted}:\n{done.stdout[-2000:]}", printed
    return (None if expected is None else difference(expected, printed)), printed


def askers(text):
    """By the number of the line above a block's first one, the test that asks its commands."""
    lines = enumerate(text.splitlines(), start=2)
    found = ((number, re.fullmatch(r"<!-- asked by (\S+) -->", line)) for number, line in lines)
    return {number: asker.group(1) for number, asker in found if asker}


def asked_problem(command, test):
    """What is wrong with a command that this test is said to ask, or None."""
    path = ROOT / test
    if not path.is_file():
        return f"{test}: no such test"
    text = path.read_text(encoding="utf-8")
    words = shlex.split(re.sub(r"\s--out\s+\S+", "", command))[1:]
    missing = [word for word in words if f'"{word}"' not in text]
    return f"{test} has no {missing[0]}" if missing else None


def script_problem(name):
    path = ROOT / name
    if not path.is_file():
        return "no such script"
    return None if os.access(path, os.X_OK) else "is not executable"


def updated(expected, printed):
    """What is to be written down in place of `expected`."""
    if ANYTHING not in expected:
        return printed
    before = expected.index(ANYTHING)
    behind = len(expected) - before - 1
    return printed[:before] + [ANYTHING] + (printed[-behind:] if behind else [])


class Checked:
    """What came of the commands of some files."""

    def __init__(self):
        self.ran, self.skipped, self.problems = 0, 0, []

    def run_file(self, page, program, update):
        text = page.read_text(encoding="utf-8")
        lines, later, elsewhere = text.splitlines(), [], askers(text)
        with tempfile.TemporaryDirectory() as folder:
            root = scratch_root(folder, program)
            for number, command, expected in commands(text):
                asker = elsewhere.get(number - 1)
                problem, printed = (asked_problem(command, asker), []) if asker else \
                    self.run_command(command, root, expected)
                if problem and expected is not None and update and printed:
                    later.append((number, expected, printed))
                elif problem:
                    self.problems.append(f"{name_of(page)}:{number}: {command}\n  {problem}")
        for number, expected, printed in sorted(later, reverse=True):
            lines[number:number + len(expected)] = updated(expected, printed)
        if later:
            page.write_text("\n".join(lines) + "\n", encoding="utf-8")

    def run_command(self, command, root, expected):
        script = re.match(r"(?:\./)?(scripts/[^\s;|&]+)", command)
        if script:
            return script_problem(script.group(1)), []
        if not re.match(r"(build/)?titer(\s|$)", command) and not command.startswith(PYTHON):
            return None, []
        no_shared = "../shared" in command and not (ROOT.parent / "shared").is_dir()
        built = any((root / "build" / "python").glob("titer*.so"))
        no_module = command.startswith(PYTHON) and not built
        if no_shared or no_module:
            self.skipped += 1
            return None, []
        self.ran += 1
        return run(command, root, expected)


def name_of(page):
    return page.relative_to(ROOT) if page.is_relative_to(ROOT) else page


def prose(text):
    """(line number, line) outside of fenced blocks, without what is marked as code."""
    fenced = set()
    for _, first, lines in blocks(text):
        fenced.update(range(first - 1, first + len(lines) + 1))
    for number, line in enumerate(text.splitlines(), start=1):
        if number not in fenced:
            yield number, re.sub(r"`[^`]*`", lambda code: re.sub(r"[][()]", "", code.group()), line)


def anchors(page):
    """Those of its headings, as GitHub names them."""
    found = set()
    for _, line in prose(page.read_text(encoding="utf-8")):
        heading = re.match(r"#+ +(.*?) *#*$", line)
        if heading:
            words = re.sub(r"[^\w\- ]", "", heading.group(1).lower())
            found.add(words.replace(" ", "-"))
    return found


def links(page):
    """(line number, file, anchor) of each link to a file."""
    for number, line in prose(page.read_text(encoding="utf-8")):
        for target in re.findall(r"\]\(([^)\s]+)\)", line):
            if not re.match(r"[a-z]+:", target):
                path, _, anchor = target.partition("#")
                yield number, (page.parent / path).resolve() if path else page, anchor


def broken_links(pages):
    problems = []
    for page in pages:
        for number, target, anchor in links(page):
            where = f"{name_of(page)}:{number}: {name_of(target)}"
            if not target.exists():
                problems.append(f"{where}: no such file")
            elif anchor and anchor not in anchors(target):
                problems.append(f"{where}#{anchor}: no such heading")
    return problems


def orphans(start, pages):
    """Pages of docs/ that no way leads to."""
    reached, todo = {start}, [start]
    while todo:
        for _, target, _ in links(todo.pop()):
            if target.suffix == ".md" and target.is_file() and target not in reached:
                reached.add(target)
                todo.append(target)
    return [f"{name_of(page)}: no link leads to it from {start.name}" for page in pages
            if page.is_relative_to(ROOT / "docs") and page not in reached]


def all_pages():
    pages = [*sorted(ROOT.glob("*.md")), *sorted(ROOT.glob("docs/**/*.md"))]
    for folder in ("src", "configs", "tests"):
        pages += sorted(ROOT.glob(f"{folder}/**/README.md"))
    return pages


def main():
    arguments = sys.argv[1:]
    update = "--update" in arguments
    arguments = [argument for argument in arguments if argument != "--update"]
    if not arguments or arguments[0] in ("-h", "--help"):
        print(__doc__)
        return 0 if arguments else 2
    program = pathlib.Path(arguments[0]).resolve(strict=True)
    pages = [pathlib.Path(name).resolve() for name in arguments[1:]] or all_pages()
    checked = Checked()
    for page in pages:
        checked.run_file(page, program, update)
    problems = checked.problems + broken_links(pages)
    if len(arguments) == 1:
        problems += orphans(ROOT / "README.md", pages)
    if checked.ran == 0:
        problems.append("no titer command was run: the pages should show some in ```sh blocks")
    print("\n".join(problems) or f"readme: {checked.ran} commands of {len(pages)} pages ok", end="")
    print(f", {checked.skipped} skipped for want of ../shared or the Python module"
          if checked.skipped else "")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
