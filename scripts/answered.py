#!/usr/bin/env python3
"""Writes docs/reference/answered.md: which kinds of model run on which machines, by what is sharded and at which
fidelity, tried one by one.

usage: answered.py [--check] PROGRAM

With --check nothing is written; exits with 1 where the page is another than the program's answers.
"""
import collections
import concurrent.futures
import json
import pathlib
import re
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parent.parent
PAGE = ROOT / "docs" / "reference" / "answered.md"

# A kind of model, one of it, and the plan that it is tried with on eight devices or chips.
LAYERS = {"pipeline": 2, "tensor": 2, "data": 2}
EXPERTS = {"pipeline": 2, "data": 4, "expert": 4}
DATA = {"data": 8}
MODELS = [
    ("dense", "llama3.2-3b", LAYERS),
    ("experts", "qwen3-30b-a3b", EXPERTS),
    ("latent attention", "deepseek-v2-lite", EXPERTS),
    ("state space", "mamba2-2.7b", {"pipeline": 2, "data": 4}),
    ("hybrid", "nemotron-h-8b", LAYERS),
    ("encoder and decoder", "t5-11b", LAYERS),
    ("convolutions", "resnet-50", DATA),
    ("recommendation", "dlrm-criteo-kaggle", DATA),
]
MACHINES = [
    ("NVSwitch", "dgx-h100"),
    ("hypercube", "dgx1-v100-32gb"),
    ("wired pairs", "mi300x-8"),
    ("PCIe", "rtx-4090-8"),
    ("rack of 72", "gb200-nvl72"),
    ("4D torus node", "trainium2-16"),
    ("pod, a torus", "tpu-v5p-pod"),
]
SHARDINGS = [
    ("none", {"sharding": "none"}),
    ("zero1", {"sharding": "zero1"}),
    ("zero2", {"sharding": "zero2"}),
    ("zero3", {"sharding": "zero3"}),
    ("hsdp", {"sharding": "hsdp", "shard": 2}),
    ("parameter-server", {"sharding": "parameter-server", "servers": 1}),
    ("data-parallel-root", {"sharding": "data-parallel-root"}),
    ("offload", {"offload": {"optimizer": "host"}}),
]
FIDELITIES = ["closed", "event", "network"]
PRECISIONS = ["bf16", "fp16", "fp32"]

HEAD = """# What is answered

*Which kinds of model run on which machines, sharded how, at which fidelity?*

Tried one by one by `scripts/answered.py`, which writes this page; a test compares it. A step of eight devices: two pipeline
stages of two tensor-parallel ranks and two replicas, with experts two stages of four expert-parallel replicas, eight replicas
of what has no layers of its own kind to split. `c`: in closed form; `e`: by events; `n`: on the links of the network; `x`: as
an export of all that is sent. A dash: not in this way. What is not answered is refused with its reason, listed below.
"""


def scenario_of(model, plan, cluster, sharding, precision):
    plan = {**plan, **sharding}
    if plan.get("sharding") in ("parameter-server", "data-parallel-root"):
        plan = {**sharding, "data": 8}
    training = {"global_batch": 16, "precision": precision}
    if model not in ("resnet-50", "dlrm-criteo-kaggle"):
        training["sequence"] = 512
    return {"model": model, "cluster": cluster, "plan": plan, "training": training}


def reason_of(row):
    """Why a point of a sweep has no answer, the first of its reasons; None where it has one."""
    if row["status"] == "defect":
        raise SystemExit(f"a defect: {json.dumps(row)}")
    return None if row["status"] in ("ok", "out-of-memory") else row["reason"].split("; ")[0]


def swept(program, fidelity, scenarios):
    """For each scenario why it has no answer, or None: one after the other in one process."""
    axes = {key: [scenario[key] for scenario in scenarios] for key in ("cluster", "model", "plan", "training")}
    sweep = json.dumps({"scenario": scenarios[0], "axes": {"zip": axes}})
    with tempfile.TemporaryDirectory() as folder:
        path = pathlib.Path(folder) / "sweep.json"
        path.write_text(sweep, encoding="utf-8")
        done = subprocess.run([program, "sweep", str(path), "--fidelity", fidelity, "--format", "jsonl"],
                              capture_output=True, text=True, check=True)
    return [reason_of(json.loads(line)) for line in done.stdout.splitlines()]


def exported(program, scenario):
    """Why there is no export, or None."""
    with tempfile.TemporaryDirectory() as folder:
        path = pathlib.Path(folder) / "run.json"
        path.write_text(json.dumps(scenario), encoding="utf-8")
        command = [program, "export", str(path), "--format", "goal", "--out", str(pathlib.Path(folder) / "step.goal")]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode == 0:
        return None
    if done.returncode == 3:
        raise SystemExit(f"a defect: {' '.join(command)}\n{json.dumps(scenario)}\n{done.stderr}")
    lines = [line for line in done.stderr.splitlines() if line and not line.startswith("note:")]
    return re.sub(r"^.*run\.json:\d+:\d+: ", "", lines[0])


def answers(program, cases):
    """For each case the letters of the questions that are answered, and the reasons of others."""
    scenarios, refusals = [None] * len(cases), [None] * len(cases)
    left = list(range(len(cases)))
    for precision in PRECISIONS:
        for i in left:
            (_, model, plan), (_, cluster), (_, sharding) = cases[i]
            scenarios[i] = scenario_of(model, plan, cluster, sharding, precision)
        for i, refusal in zip(left, swept(program, "closed", [scenarios[i] for i in left])):
            refusals[i] = refusal
        left = [i for i in left if refusals[i] is not None and "precision" in refusals[i]]
        if not left:
            break
    with concurrent.futures.ThreadPoolExecutor(max_workers=2) as pool:
        exports = list(pool.map(lambda scenario: exported(program, scenario), scenarios))
    found = [refusals, *(swept(program, fidelity, scenarios) for fidelity in FIDELITIES[1:]), exports]
    letters = [question[0] for question in FIDELITIES] + ["x"]
    return [("".join("-" if why else letter for letter, why in zip(letters, whys)), [why for why in whys if why])
            for whys in zip(*found)]


def page_of(program):
    cases = [(m, c, s) for c in MACHINES for m in MODELS for s in SHARDINGS]  # sweeps read anew what changes
    found = dict(zip(((m[0], c[1], s[0]) for m, c, s in cases), answers(program, cases)))
    lines = [HEAD]
    for kind, cluster in MACHINES:
        lines += [f"## {kind}: {cluster}", ""]
        lines.append("| sharding | " + " | ".join(f"{kind_of_model} ({model})" for kind_of_model, model, _ in MODELS) + " |")
        lines.append("|---" * (len(MODELS) + 1) + "|")
        for sharding, _ in SHARDINGS:
            cells = [found[kind_of_model, cluster, sharding][0] for kind_of_model, _, _ in MODELS]
            lines.append(f"| {sharding} | " + " | ".join(f"`{cell}`" for cell in cells) + " |")
        lines.append("")
    reasons = collections.Counter(reason for _, refusals in found.values() for reason in refusals)
    asked = len(found) * (len(FIDELITIES) + 1)
    answered = asked - sum(reasons.values())
    lines += ["## Why not", "", f"Of {asked} questions {answered} are answered.", "", "| times | reason |", "|---|---|"]
    for reason, times in sorted(reasons.items(), key=lambda entry: (-entry[1], entry[0])):
        lines.append(f"| {times} | {reason.replace('|', chr(92) + '|')} |")
    return "\n".join(lines) + "\n"


def main():
    arguments = [argument for argument in sys.argv[1:] if argument != "--check"]
    if len(arguments) != 1:
        raise SystemExit(__doc__)
    page = page_of(str(pathlib.Path(arguments[0]).resolve()))
    if "--check" not in sys.argv[1:]:
        PAGE.write_text(page, encoding="utf-8")
        return 0
    if PAGE.read_text(encoding="utf-8") == page:
        print("answered: the page is as the program answers")
        return 0
    print(f"{PAGE.relative_to(ROOT)} is not what the program answers; scripts/answered.py PROGRAM writes it")
    return 1


if __name__ == "__main__":
    sys.exit(main())
