#!/usr/bin/env python3
"""Plants mistakes in the program, and says which tests catch them.

usage: plant_faults.py TREE BUILD [--jobs N] [NUMBER...]   all of tests/faults.json, or those of these numbers
       plant_faults.py --check                             whether all of them can still be planted

A fault is an expression that stands once in a file, and what somebody might have written in its place. All are planted
at once, each behind a condition, so that one build does for all of them: TITER_FAULT in the environment says which of
them the program and the tests have. TREE is a checkout for this alone (git worktree add --detach TREE) and stays
planted, BUILD a build folder of it with tests, without TITER_WERROR. The tests of the fault's room run first, then all
others, until one fails. Number 0 is no fault, and must pass. Exits with 1 where fewer than 95 % are caught.
"""
import argparse
import concurrent.futures
import json
import os
import pathlib
import re
import signal
import subprocess
import sys
import time

ROOT = pathlib.Path(__file__).resolve().parent.parent
LEAST_CAUGHT = 0.95
LONGEST_S = 1800  # of a processor's time, which another's work beside it does not lengthen
UNTESTED_ROOMS = {"python"}  # which the tests in C++ do not see
SUITE = re.compile(r"^(?:TYPED_)?TEST(?:_F|_P)?\(\s*(\w+)\s*,", re.MULTILINE)
LITERAL = re.compile(r'"(?:\\.|[^"\\])*"')
SWITCH = """#ifndef TITER_PLANTED
#define TITER_PLANTED
#include <cstdlib>
#include <type_traits>
inline int titer_fault() {
  static const char* const text = std::getenv("TITER_FAULT");
  static const int chosen = text == nullptr ? 0 : std::atoi(text);
  return chosen;
}
constexpr bool titer_planted(int number) { return !std::is_constant_evaluated() && number == titer_fault(); }
#endif
"""


def read_faults():
    return json.loads((ROOT / "tests" / "faults.json").read_text(encoding="utf-8"))


def room_of(fault):
    return fault["file"].split("/")[1]


def is_expression(text):
    """Whether it may stand between brackets: as far as its signs tell."""
    signs = LITERAL.sub("0", text).strip()
    begins = re.match(r"[\w(!~*&+-]", signs) and not signs.startswith("&&")
    return begins and ";" not in signs and all(signs.count(a) == signs.count(b) for a, b in ("()", "[]", "{}"))


def check(faults):
    """What is wrong with the list."""
    problems = []
    for fault in faults:
        path = ROOT / fault["file"]
        count = path.read_text(encoding="utf-8").count(fault["find"]) if path.exists() else 0
        if count != 1:
            problems.append(f"{fault['file']}: {fault['find']}: stands there {count} times, not once")
        problems += [f"{fault['file']}: {text}: is no expression"
                     for text in (fault["find"], fault["put"]) if not is_expression(text)]
        if fault["find"] == fault["put"]:
            problems.append(f"{fault['file']}: {fault['find']}: is no fault")
    rooms = {path.relative_to(ROOT / "src").parts[0] for path in (ROOT / "src").rglob("*.cpp")} - UNTESTED_ROOMS
    problems += [f"src/{room}: has no fault" for room in sorted(rooms - {room_of(fault) for fault in faults})]
    return problems


def plant(faults, tree):
    """Files that are as wanted are left alone: they need not be compiled anew."""
    for file in sorted({fault["file"] for fault in faults}):
        text = subprocess.run(["git", "-C", tree, "show", f"HEAD:{file}"], capture_output=True, text=True,
                              check=True).stdout
        for number, fault in enumerate(faults, 1):
            if fault["file"] == file:
                either = f"(titer_planted({number}) ? ({fault['put']}) : ({fault['find']}))"
                text = text.replace(fault["find"], either, 1)
        path = tree / file
        if path.read_text(encoding="utf-8") != SWITCH + text:
            path.write_text(SWITCH + text, encoding="utf-8")


def suites_of(tree, room):
    """GoogleTest's patterns of the tests of a room."""
    names = {name for path in (tree / "tests" / room).glob("*_test.cpp")
             for name in SUITE.findall(path.read_text(encoding="utf-8"))}
    return ":".join(f"{name}.*:*/{name}.*:{name}/*:*/{name}/*" for name in sorted(names))


def first_failure(tree, build, number, pattern):
    """The first test of a pattern that fails with this fault; None where all pass."""
    done = subprocess.run(["prlimit", f"--cpu={LONGEST_S}", build / "tests" / "titer_tests", "--gtest_fail_fast",
                           "--gtest_brief=1", f"--gtest_filter={pattern}"],
                          cwd=tree, env={**os.environ, "TITER_FAULT": str(number)},
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, errors="replace",
                          check=False)
    if done.returncode in (-signal.SIGXCPU, -signal.SIGKILL):
        return "the time that it takes"
    failed = re.search(r"\[  FAILED  \] ([\w/.]+)", done.stdout)
    return failed.group(1) if failed else f"exit code {done.returncode}" if done.returncode else None


def catcher(tree, build, number, fault):
    """What catches a fault, and after how many seconds."""
    begin = time.monotonic()
    own = suites_of(tree, room_of(fault)) if fault else ""
    for pattern in ([own, "*-" + own] if own else ["*"]):
        failure = first_failure(tree, build, number, pattern)
        if failure:
            break
    return failure, time.monotonic() - begin


def try_all(faults, options):
    """How many are caught, and of how many; a line for each."""
    numbers = options.number or range(len(faults) + 1)
    with concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
        running = {pool.submit(catcher, options.tree, options.build, number, faults[number - 1] if number else None):
                   number for number in numbers}
        caught = 0
        for done in concurrent.futures.as_completed(running):
            number = running[done]
            failure, seconds = done.result()
            what = f"{faults[number - 1]['file']}: {faults[number - 1]['so']}" if number else "no fault"
            print(f"{number:3} {what}: {'caught by ' + failure if failure else 'passes'} ({seconds:.0f} s)", flush=True)
            if number == 0 and failure:
                sys.exit("the tests fail without a fault")
            caught += failure is not None
    return caught, len([number for number in numbers if number])


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("tree", type=pathlib.Path, nargs="?")
    parser.add_argument("build", type=pathlib.Path, nargs="?")
    parser.add_argument("number", type=int, nargs="*")
    parser.add_argument("--jobs", type=int, default=os.cpu_count())
    parser.add_argument("--check", action="store_true")
    options = parser.parse_intermixed_args()
    faults = read_faults()
    problems = check(faults)
    if problems or options.check:
        print("\n".join(problems) or f"{len(faults)} faults can be planted")
        return 1 if problems else 0
    if not options.build:
        parser.error("expected a checkout and a build of it")
    options.tree, options.build = options.tree.resolve(), options.build.resolve()
    plant(faults, options.tree)
    subprocess.run(["cmake", "--build", options.build, "--parallel", str(options.jobs)], check=True)
    caught, tried = try_all(faults, options)
    print(f"{caught} of {tried} faults are caught")
    return 1 if caught < LEAST_CAUGHT * tried else 0


if __name__ == "__main__":
    sys.exit(main())
