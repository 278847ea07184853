#!/usr/bin/env python3
"""The library in WebAssembly answers as the program does: shipped runs, a search, what is refused.

usage: page_answers_test.py PROGRAM MODULE.js

Figures may differ in what the C libraries' functions round otherwise, beyond the twelfth digit. Exit code 77: no Node.js here, no
such module, or one of another version than the program.
"""
import json
import pathlib
import shutil
import subprocess
import sys

NODE = """
const fs = require('fs');
const lines = fs.readFileSync(0, 'utf8').split('\\n').filter((line) => line);
require(process.argv[1])().then((module) => {
  for (const line of lines) {
    console.log(module.ccall('titer_answer', 'string', ['string', 'number'], [line, 60]));
  }
});
"""


def differences(a, b, where=""):
    """Where two answers differ, but for the last digits of numbers."""
    if isinstance(a, dict) and isinstance(b, dict):
        if list(a) != list(b):
            return [f"{where}: keys"]
        return [line for key in a for line in differences(a[key], b[key], f"{where}.{key}")]
    if isinstance(a, list) and isinstance(b, list):
        if len(a) != len(b):
            return [f"{where}: {len(a)} and {len(b)}"]
        return [line for i, (x, y) in enumerate(zip(a, b)) for line in differences(x, y, f"{where}[{i}]")]
    if isinstance(a, float) and isinstance(b, (int, float)):
        return [] if abs(a - b) <= 1e-12 * max(abs(a), abs(b)) else [f"{where}: {a!r} and {b!r}"]
    return [] if a == b else [f"{where}: {str(a)[:80]!r} and {str(b)[:80]!r}"]


def answer_of(program, question):
    asked = subprocess.run([program, "ask", "--no-files"], input=json.dumps(question), capture_output=True, text=True)
    return json.loads(asked.stdout)


def main():
    program, module = sys.argv[1], pathlib.Path(sys.argv[2]).resolve()
    node = shutil.which("node")
    if not node or not module.exists():
        print("no Node.js here" if not node else f"no {module}: scripts/build_web_page.sh makes it")
        return 77
    folder = pathlib.Path(__file__).parents[2] / "configs/runs"
    runs = {path.stem: json.loads(path.read_text()) for path in sorted(folder.glob("*.json"))}
    llama = runs["llama3-70b-64xh100"]
    questions = [{"question": "choices"}]
    questions += [{"question": "run", "scenario": run} for run in runs.values()]
    questions += [{"question": "run", "scenario": {**llama, "plan": {"tensor": 3}}},
                  {"question": "search", "search": {"scenario": llama, "top": 3}},
                  {"question": "export", "scenario": llama, "format": "megatron"},
                  {"question": "timeline", "schedule": "1f1b", "pipeline": 4, "micro_batches": 8},
                  {"question": "no such"}]
    text = "\n".join(json.dumps(question) for question in questions)
    out = subprocess.run([node, "-e", NODE, str(module)], input=text, capture_output=True, text=True, check=True).stdout
    answers = [json.loads(line) for line in out.splitlines()]
    made_of, version = answers[0]["version"], answer_of(program, questions[0])["version"]
    if made_of != version:
        print(f"the module is of {made_of}, the program of {version}: scripts/build_web_page.sh makes it anew")
        return 77
    if len(answers) != len(questions):
        print(f"{len(answers)} answers to {len(questions)} questions")
        return 1
    failed = 0
    for question, answer in zip(questions, answers):
        for line in differences(answer_of(program, question), answer)[:5]:
            print(json.dumps(question)[:100] + line)
            failed = 1
    print(f"{len(questions)} questions")
    return failed


if __name__ == "__main__":
    sys.exit(main())
