#!/usr/bin/env python3
"""Refuses an include against the direction of the rooms, and a folder that has grown past comfort. The two tables are the
architecture.

usage: check_layers.py [ROOT]     checks ROOT/include/titer and ROOT/src (default: this checkout)
       check_layers.py --self-test

Headers of one's own room and of the rooms listed may be included, quoted as "titer/<room>/…/<file>".
What one room alone uses lies beside its source: by bare name for a file in the same folder, as
"<room>/…/<file>" for one in another folder of the room. Third-party headers stay inside .cpp files.
Tests may include anything.
"""
import collections
import pathlib
import re
import sys
import tempfile

# A room sees those named; it stands below them.
_PLANS = "units input hardware topology engine collectives model plan"
_STEPS = f"{_PLANS} scenario cost estimate simulate export explain"
_ANSWERS = f"{_STEPS} script import launch measured calibrate trace sweep campaign search whatif seeds"
ROOMS = {
    "units": "",
    "input": "units",
    "script": "units input",
    "hardware": "units input",
    "topology": "units input",
    "engine": "units",
    "view": "units input",
    "collectives": "units input hardware topology engine",
    "model": "units input hardware engine collectives",
    "plan": "units input hardware topology engine collectives model",
    "scenario": _PLANS,
    "import": f"{_PLANS} script",
    "cost": f"{_PLANS} scenario",
    "estimate": f"{_PLANS} scenario cost",
    "simulate": f"{_PLANS} scenario cost estimate",
    "export": f"{_PLANS} scenario cost estimate simulate",
    "explain": f"{_PLANS} scenario cost estimate",
    "launch": f"{_PLANS} scenario cost estimate script import",
    "measured": f"{_STEPS} script import",
    "calibrate": f"{_STEPS} script import measured",
    "trace": _STEPS,
    "sweep": _STEPS,
    "campaign": _STEPS,
    "search": f"{_STEPS} campaign",
    "whatif": f"{_STEPS} sweep campaign search",
    "seeds": f"{_STEPS} campaign trace",
    "report": f"{_ANSWERS} view",
    "ask": f"{_ANSWERS} view report",
    "web": f"{_ANSWERS} view report ask",
    "app": f"{_ANSWERS} view report ask web",
    "python": f"{_ANSWERS} view report ask",
}

# Which rooms' .cpp files may include it; what is not listed here and is not the C++ standard
# library's is refused everywhere.
THIRD_PARTY = {
    "nlohmann": "input",
    "muParser.h": "input",
    "CLI": "app",
    "Eigen": "collectives model calibrate",
    "boost": "topology hardware",
    "pugixml.hpp": "topology",
    "yaml-cpp": "input",
    "toml++": "script",
    "zlib.h": "trace",
    "sqlite3.h": "trace",
    "google": "report",        # protobuf
    "chakra.pb.h": "report",  # what it makes of src/report/file/chakra.proto
    "pybind11": "python",
    "Python.h": "python",
    "dlfcn.h": "input app",
    "fmt": " ".join(ROOMS),
    "httplib.h": "app",
    "librsvg": "app",
    "unistd.h": "app report sweep",
    "sched.h": "app",
    "fcntl.h": "app",
    "spawn.h": "app",
    "sys": "app",
}

CODE = {".hpp", ".cpp", ".h", ".hh", ".hxx", ".cc", ".cxx", ".ipp", ".inl"}
INCLUDE = re.compile(r"^\s*#\s*include\b\s*(.*)")
TARGET = re.compile(r'([<"])([^<>"]+)[>"]')


MOST_FILES = 25  # of a folder; a room that has more is told apart in folders


def refusal(path, room, sources, target):
    """Why the file at path, in that room, may not include target; None if it may."""
    match = TARGET.match(target)
    if not match:
        return f"cannot tell what is included: {target}"
    bracket, name = match.groups()
    first, _, rest = name.partition("/")
    if first == "titer":
        other = rest.partition("/")[0]
        if other not in ROOMS:
            return f"{name}: '{other}' is not a room"
        if other != room and other not in ROOMS[room].split():
            return f"{name}: '{room}' may not include '{other}'"
        return None
    if bracket == '"':
        beside = "/" not in name and (path.parent / name).is_file()
        if not beside and not (first == room and ".." not in name and (sources / name).is_file()):
            return (f'{name}: neither "titer/<room>/<file>", nor a file in the same folder, nor '
                    f'"{room}/<folder>/<file>" of its sources')
        return None
    if not re.search(r"[/.]", name):
        return None
    if first not in THIRD_PARTY:
        return f"{name}: a library that no room is allowed"
    if room not in THIRD_PARTY[first].split():
        return f"{name}: only for {THIRD_PARTY[first]}, not '{room}'"
    if path.suffix != ".cpp":
        return f"{name}: third-party headers stay inside .cpp files"
    return None


def check(root):
    """The number of files read, and one line per refused include."""
    problems = []
    files = [path for top in (root / "include" / "titer", root / "src")
             for path in sorted(top.rglob("*")) if path.suffix in CODE]
    for path in files:
        where = path.relative_to(root)
        room = where.parts[1 if where.parts[0] == "src" else 2]
        if room not in ROOMS:
            problems.append(f"{where}: '{room}' is not a room")
            continue
        for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), start=1):
            match = INCLUDE.match(line)
            reason = match and refusal(path, room, root / "src", match.group(1).strip())
            if reason:
                problems.append(f"{where}:{number}: {reason}")
    for folder, count in collections.Counter(path.parent for path in files).items():
        if count > MOST_FILES:
            problems.append(f"{folder.relative_to(root)}: {count} files; expected folders of at "
                            f"most {MOST_FILES}")
    return len(files), problems


ALLOWED = [
    ("include/titer/units/text.hpp", "#include <string_view>"),
    ("include/titer/units/text.hpp", '#include "titer/units/quantity.hpp"'),
    ("src/units/text.cpp", "#include <fmt/format.h>"),
    ("src/input/reader.cpp", "#include <nlohmann/json.hpp>"),
    ("src/input/reader.cpp", '#include "beside.hpp"'),
    ("src/input/json/reader.cpp", '#include "input/json/beside.hpp"'),
    ("src/topology/routes.cpp", "#include <boost/graph/adjacency_list.hpp>"),
    ("src/collectives/fit.cpp", "#include <Eigen/QR>"),
    ("src/calibrate/fit.cpp", "#include <Eigen/Dense>"),
    ("src/report/file/chakra_export.cpp", "#include <google/protobuf/message_lite.h>"),
    ("src/report/file/chakra_export.cpp", "#include <chakra.pb.h>"),
    ("src/python/module.cpp", "#include <pybind11/pybind11.h>"),
    ("src/python/module.cpp", '#include "titer/report/csv.hpp"'),
    ("src/app/main.cpp", "#include <CLI/CLI.hpp>"),
    ("src/app/main.cpp", '#include "titer/report/csv.hpp"'),
    ("include/titer/model/layer.hpp", '#include "titer/collectives/kind.hpp"'),
    ("include/titer/simulate/lower.hpp", '#include "titer/engine/engine.hpp"'),
    ("include/titer/report/trace.hpp", '#include "titer/sweep/sweep.hpp"'),
    ("include/titer/measured/compare.hpp", '#include "titer/estimate/estimate.hpp"'),
    ("tests/units/text_test.cpp", '#include "titer/app/commands.hpp"'),
    ("tests/units/text_test.cpp", "#include <nlohmann/json.hpp>"),
    ("src/README.md", '#include "titer/nowhere/x.hpp"'),
    ("include/titer/units/text.hpp", '// as in #include "titer/app/commands.hpp"'),
]

REFUSED = [
    ("include/titer/units/text.hpp", '#include "titer/input/reader.hpp"'),
    ("src/units/text.cpp", '  #  include  "titer/app/commands.hpp"  // spaces'),
    ("src/units/text.cpp", "#include <titer/input/reader.hpp>"),
    ("src/units/text.cpp", '#include"titer/input/reader.hpp"'),
    ("include/titer/hardware/chip.hpp", '#include "titer/topology/topology.hpp"'),
    ("include/titer/topology/topology.hpp", '#include "titer/hardware/chip.hpp"'),
    ("include/titer/model/layer.hpp", '#include "titer/topology/topology.hpp"'),
    ("src/engine/engine.cpp", '#include "titer/input/reader.hpp"'),
    ("src/engine/engine.cpp", '#include "titer/model/layer.hpp"'),
    ("include/titer/estimate/estimate.hpp", '#include "titer/measured/compare.hpp"'),
    ("src/sweep/sweep.cpp", '#include "titer/report/csv.hpp"'),
    ("src/report/csv.cpp", '#include "titer/app/commands.hpp"'),
    ("src/units/text.cpp", '#include "titer/nowhere/x.hpp"'),
    ("src/nowhere/x.cpp", "#include <vector>"),
    ("src/simulate/lower.cpp", "#include <nlohmann/json.hpp>"),
    ("src/simulate/lower.cpp", "#include <CLI/CLI.hpp>"),
    ("src/plan/plan.cpp", "#include <Eigen/Dense>"),
    ("src/app/main.cpp", "#include <pybind11/pybind11.h>"),
    ("src/python/module.cpp", '#include "titer/app/commands.hpp"'),
    ("src/export/exported_step.cpp", "#include <chakra.pb.h>"),
    ("src/plan/ranks.cpp", "#include <boost/graph/adjacency_list.hpp>"),
    ("include/titer/units/text.hpp", "#include <fmt/format.h>"),
    ("include/titer/input/reader.hpp", "#include <nlohmann/json_fwd.hpp>"),
    ("src/units/private.hpp", "#include <fmt/core.h>"),
    ("src/input/reader.cpp", "#include <gsl/gsl>"),
    ("src/engine/engine.cpp", "#include <unistd.h>"),
    ("src/plan/ranks.cpp", '#include "../simulate/lower.hpp"'),
    ("src/plan/ranks.cpp", '#include "absent.hpp"'),
    ("src/plan/ranks.cpp", '#include "plan/absent.hpp"'),
    ("src/plan/ranks.cpp", '#include "../plan/ranks.cpp"'),
    ("src/plan/ranks.cpp", '#include "units/text.cpp"'),
    ("src/plan/ranks.cpp", "#include SOME_MACRO"),
]


def judge(where, line):
    """What check() says of a tree that holds nothing but this line in this file."""
    with tempfile.TemporaryDirectory() as folder:
        path = pathlib.Path(folder) / where
        path.parent.mkdir(parents=True)
        if "beside.hpp" in line:
            (path.parent / "beside.hpp").touch()
        path.write_text(f"\n{line}\n", encoding="utf-8")
        return check(pathlib.Path(folder))[1]


def self_test():
    wrong = [f"allowed, but refused: {where}: {line}" for where, line in ALLOWED
             if judge(where, line)]
    for where, line in REFUSED:
        problems = judge(where, line)
        if len(problems) != 1 or not problems[0].startswith(where):
            wrong.append(f"not refused, or not where it stands: {where}: {line}: {problems}")
    with tempfile.TemporaryDirectory() as root:
        for name in range(MOST_FILES + 1):
            path = pathlib.Path(root, "src", "units", "deep", f"{name}.cpp")
            path.parent.mkdir(parents=True, exist_ok=True)
            path.touch()
        if len(check(pathlib.Path(root))[1]) != 1:
            wrong.append(f"a folder of {MOST_FILES + 1} files is not refused")
    print("\n".join(wrong)
          or f"layers: {len(ALLOWED)} includes allowed, {len(REFUSED)} refused, as wanted")
    return 1 if wrong else 0


def main():
    arguments = sys.argv[1:]
    if arguments == ["--self-test"]:
        return self_test()
    if len(arguments) > 1 or arguments[:1] in (["-h"], ["--help"]):
        print(__doc__)
        return 0 if len(arguments) == 1 else 2
    root = pathlib.Path(arguments[0] if arguments else pathlib.Path(__file__).parent.parent)
    count, problems = check(root)
    if count == 0:
        problems.append(f"{root}: no code found under include/titer and src")
    print("\n".join(problems) or f"layers: {count} files ok")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
