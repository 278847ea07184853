#!/usr/bin/env python3
"""Holds shipped files against the schemas that the program has of them, as an editor does.

usage: schema_test.py PROGRAM

What the schema of a kind allows, every shipped file of that kind must be; what it forbids, the
program refuses, too: these are the wrong files of tests/errors that are wrong in themselves.
"""
import json
import pathlib
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
SHIPPED = {"run": ["configs/runs"], "sweep": ["configs/sweeps"], "search": ["configs/searches"],
           "capacity": ["configs/capacity"], "course": ["configs/courses"], "report": ["configs/reports"],
           "question": ["examples"],
           "model": ["models"], "chip": ["configs/chips"], "cluster": ["configs/clusters"],
           "network": ["configs/networks"], "topology": ["topologies"], "stack": ["configs/stacks"],
           "reliability": ["configs/reliability"], "price": ["configs/prices"],
           "grid": ["configs/grids"]}
WRONG = {"run": ["fractional-degree", "missing-batch", "missing-model", "negative-batch",
                 "not-an-object", "text-for-a-number", "unknown-choice",
                 "unknown-key", "unknown-section"]}


def printed(*arguments):
    return subprocess.run(arguments, check=True, stdout=subprocess.PIPE, text=True).stdout


def problems(program):
    listed = [line.split()[0] for line in printed(program, "schema").splitlines()[1:]]
    if sorted(listed) != sorted(SHIPPED):
        yield f"titer schema lists {listed}, this test knows {sorted(SHIPPED)}"
    for kind, folders in SHIPPED.items():
        schema = json.loads(printed(program, "schema", kind))
        jsonschema.Draft202012Validator.check_schema(schema)
        validator = jsonschema.Draft202012Validator(schema)
        files = [file for folder in folders for file in sorted((ROOT / folder).glob("*.json"))]
        if not files:
            yield f"no shipped files of kind {kind}"
        for file in files:
            written = json.loads(file.read_text(encoding="utf-8"))
            for error in validator.iter_errors(written):
                yield f"{file.relative_to(ROOT)}: {error.json_path}: {error.message}"
        for name in WRONG.get(kind, []):
            file = ROOT / "tests" / "errors" / f"{name}.json"
            if validator.is_valid(json.loads(file.read_text(encoding="utf-8"))):
                yield f"{file.relative_to(ROOT)}: allowed by the schema, refused by the program"


if __name__ == "__main__":
    try:
        import jsonschema
    except ImportError:
        print("skipped: python3-jsonschema is not installed")
        sys.exit(77)
    found = list(problems(sys.argv[1]))
    print("\n".join(found) or "all shipped files are as their schemas say")
    sys.exit(1 if found else 0)
