#!/usr/bin/env python3
"""Asks what of random plans is answered: shipped models on shipped clusters, degrees and choices that each fit by themselves.

usage: random_plans.py PROGRAM [COUNT [SEED]]

Prints the share that is answered, by fidelity and as exports, and the reasons of the others, the most frequent first. What real
software refuses as well is not asked: degrees that divide no heads, number formats that a chip has not, more tokens than learned
positions. Exits with 1 where one of the questions ends in a defect.
"""
import collections
import concurrent.futures
import json
import math
import os
import pathlib
import random
import re
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parent.parent
QUESTIONS = ["closed", "closed", "event", "network", "network", "export"]
SECONDS = 60
MOST_EXPORTED = 128  # devices


def read(folder, name):
    return json.loads((ROOT / folder / f"{name}.json").read_text(encoding="utf-8"))


def with_base(base, own):
    """What a file says otherwise than the one that it is as."""
    inherited = {key: value for key, value in base.items() if key not in own}
    return {**inherited, **{key: with_base(base[key], value) if isinstance(value, dict) and isinstance(base.get(key), dict) else value
                            for key, value in own.items()}}


def read_derived(folder, name):
    file = read(folder, name)
    return with_base(read_derived(folder, file["base"]), file) if "base" in file else file


def names(folder):
    return sorted(path.stem for path in (ROOT / folder).glob("*.json"))


def formats(chip):
    """The number formats of a chip's products."""
    found = read_derived("configs/chips", chip).get("matrix", {})
    return [kind for kind in ("bf16", "fp16", "fp32", "fp8") if found.get(kind)]


def slices(cluster):
    """Numbers of chips that a torus is handed out in; empty: any."""
    topology = cluster.get("node", {}).get("fabric", {}).get("topology", "")
    if not topology.startswith("tpu") or "network" in cluster:
        return []
    torus = read("topologies", topology)
    if "slice" in cluster:
        return [math.prod(cluster["slice"])]
    parts = torus.get("slices", {})
    found = {math.prod(torus["dimensions"])} | {math.prod(shape) for shape in parts.get("shapes", [])}
    if "cubes" in parts:
        cube = parts["cubes"] ** len(torus["dimensions"])
        found |= {cube << power for power in range(6)}
    return sorted(found)


class Plans:
    """Random scenarios, each valid in what real software looks at."""

    def __init__(self, seed):
        self.random = random.Random(seed)
        self.models = {name: read("models", name) for name in names("models")}
        self.clusters = {name: read_derived("configs/clusters", name) for name in names("configs/clusters")}

    def one_of(self, *values):
        return self.random.choice(values)

    def at_most(self, share):
        return self.random.random() < share

    def dividing(self, number, *values):
        return self.one_of(*[value for value in values if number % value == 0])

    def next(self):
        model = self.one_of(*self.models)
        cluster = self.one_of(*self.clusters)
        file = self.models[model]
        plan = self.degrees(file) if isinstance(file.get("layers"), int) else {"data": self.one_of(1, 2, 4, 8, 16, 64)}
        self.fit_slice(plan, slices(self.clusters[cluster]))
        self.add_sharding(plan)
        training = self.training(file, cluster, plan)
        if self.at_most(0.06):
            plan["offload"] = {self.one_of("optimizer", "weights", "activations"): "host"}
        return {"model": model, "cluster": cluster, "plan": plan, "training": training}

    def degrees(self, file):
        plan = {"data": self.one_of(1, 2, 4, 8, 16, 32), "micro_batch": self.one_of(1, 1, 2, 4),
                "recompute": self.one_of("none", "selective", "full"), "sequence_parallel": self.at_most(0.5)}
        heads = math.gcd(file.get("heads", 1), file.get("mixer", {}).get("key_heads", 0) or file.get("heads", 1))
        plan["tensor"] = self.dividing(heads, 1, 1, 2, 4, 8, 16)
        if self.at_most(0.25):
            plan["context"] = self.one_of(2, 4)
            ulysses = file.get("heads", 1) % (plan["tensor"] * plan["context"]) == 0
            plan["context_method"] = self.one_of("ring", "all-gather", "ulysses" if ulysses else "ring")
        plan["pipeline"] = self.one_of(*[p for p in (1, 1, 2, 4, 8, 16) if 4 * p <= file["layers"]] or [1])
        if plan["pipeline"] > 1:
            plan["schedule"] = self.one_of("1f1b", "1f1b", "1f1b", "gpipe", "zb-h1", "zb-v", "dualpipe", "breadth-first")
            if plan["schedule"] == "1f1b" and self.at_most(0.4):
                plan["virtual_stages"] = 2
        if "experts" in file:
            ranks = plan["tensor"] * plan["data"] * plan.get("context", 1)
            plan["expert"] = self.one_of(*[e for e in (1, 2, 4, 8, 16, 32) if file["experts"]["count"] % e == 0 and ranks % e == 0])
            plan["expert_tensor"] = 1
        return plan

    def fit_slice(self, plan, chips):
        if not chips:
            return
        others = plan.get("tensor", 1) * plan.get("pipeline", 1) * plan.get("context", 1)
        fitting = [number for number in chips if number % others == 0]
        if not fitting:
            plan.update({key: 1 for key in ("tensor", "pipeline", "context") if key in plan})
            for key in ("schedule", "virtual_stages", "context_method"):
                plan.pop(key, None)
            others, fitting = 1, chips
        if plan.get("schedule") == "dualpipe":
            plan["schedule"] = "1f1b"
        plan["data"] = min(fitting, key=lambda number: abs(number - 64)) // others
        ranks = plan.get("tensor", 1) * plan["data"] * plan.get("context", 1)
        plan.update({"expert": math.gcd(plan["expert"], ranks)} if "expert" in plan else {})

    def add_sharding(self, plan):
        replicas = plan["data"] * plan.get("context", 1)
        plan["sharding"] = self.one_of("none", "none", "zero1", "zero1", "zero2", "zero3", "zero3", "hsdp")
        if plan["sharding"] == "hsdp":
            plan["shard"] = self.one_of(*[n for n in (2, 4, 8, replicas) if replicas % n == 0])
        if plan.get("schedule") == "dualpipe" and plan["sharding"] not in ("none", "zero1"):
            plan["sharding"] = "zero1"
            plan.pop("shard", None)

    def training(self, file, cluster, plan):
        batch = plan.get("micro_batch", 1) * plan["data"] * 2 * plan.get("pipeline", 1)
        training = {"global_batch": batch * self.one_of(1, 2, 4)}
        chip = self.clusters[cluster]["chip"]
        training["precision"] = self.one_of(*formats(chip))
        training["optimizer"] = self.one_of("adam", "adam", "adam", "adam", "sgd", "adafactor", "adam-8bit", "lion", "muon")
        if isinstance(file.get("layers"), int):
            limit = file.get("max_sequence", 4096) if file.get("positions") == "learned" else 8192
            training["sequence"] = min(limit, self.one_of(2048, 4096, 8192))
            if self.at_most(0.05) and "experts" not in file:
                training["adapters"] = {"rank": 16}
        if training["optimizer"] == "muon" and ("sequence" not in training or "bf16" not in formats(chip)):
            training["optimizer"] = "adam"
        return training


def ask(program, case):
    """The question, the exit code and why there is no answer."""
    scenario, question = case
    plan = scenario["plan"]
    if question == "export" and math.prod(plan.get(key, 1) for key in ("data", "tensor", "pipeline", "context")) > MOST_EXPORTED:
        question = "event"
    with tempfile.TemporaryDirectory() as folder:
        path = pathlib.Path(folder) / "run.json"
        path.write_text(json.dumps(scenario), encoding="utf-8")
        command = [program, "run", str(path), "--fidelity", question, "--format", "json"]
        if question == "export":
            command = [program, "export", str(path), "--format", "goal", "--detail", "pass", "--out", str(path) + ".goal"]
        try:
            done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=SECONDS,
                                  env={**os.environ, "TITER_DATA": str(ROOT)})
        except subprocess.TimeoutExpired:
            return question, 124, f"longer than {SECONDS} s"
    lines = [line for line in done.stderr.splitlines() if line and not line.startswith("note:")]
    why = re.sub(r"^\S+\.json:\d+:\d+: ", "", lines[0]) if done.returncode != 0 and lines else ""
    if done.returncode == 3:
        why = f"{why}: {json.dumps(scenario)}"
    return question, done.returncode, why


def main():
    if not 2 <= len(sys.argv) <= 4:
        raise SystemExit(__doc__)
    count, seed = ([int(text) for text in sys.argv[2:]] + [700, 1][len(sys.argv) - 2:])[:2]
    plans = Plans(seed)
    cases = [(plans.next(), plans.one_of(*QUESTIONS)) for _ in range(count)]
    program = str(pathlib.Path(sys.argv[1]).resolve())
    with concurrent.futures.ThreadPoolExecutor(max_workers=2) as pool:
        answers = list(pool.map(lambda case: ask(program, case), cases))
    asked = collections.Counter(question for question, _, _ in answers)
    answered = collections.Counter(question for question, code, _ in answers if code == 0)
    print(f"{sum(answered.values())} of {count} are answered: "
          + ", ".join(f"{question} {answered[question]} of {asked[question]}" for question in sorted(asked)))
    reasons = collections.Counter(re.sub(r"\d[\d,]*", "N", why) for _, code, why in answers if code != 0)
    for reason, times in sorted(reasons.items(), key=lambda entry: (-entry[1], entry[0])):
        print(f"{times:4} {reason}")
    return 1 if any(code == 3 for _, code, _ in answers) else 0


if __name__ == "__main__":
    sys.exit(main())
