#!/usr/bin/env python3
"""Tests the Python module and its type hints, beside the program.

The environment says where they are: PYTHONPATH the module, TITER_PROGRAM the program, TITER_BUILD the
build folder (to install from). NumPy and pandas are used where they are there.
"""
import ast
import contextlib
import csv
import importlib.util
import inspect
import io
import json
import os
import pathlib
import pickle
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time
import unittest
import warnings
from collections import OrderedDict, UserDict

import titer

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
STUB = ast.parse((ROOT / "src" / "python" / "titer.pyi").read_text(encoding="utf-8"))

RUN = {
    "model": "llama3-8b",
    "cluster": "dgx-h100",
    "plan": {"pipeline": 2, "tensor": 2, "data": 2},
    "training": {"global_batch": 16, "sequence": 2048, "precision": "bf16"},
}
# Some fit, some do not, some are invalid: 32 heads are not shared out among 3.
SWEEP = {
    "scenario": RUN,
    "axes": {"plan.micro_batch": [1, 4], "plan.tensor": [2, 1, 3], "plan.recompute": ["none", "full"]},
}
# Columns before the axes that say which question a row belongs to: the same in all rows.
QUESTION = ["sweep", "model", "cluster", "stack"]


def program(*arguments):
    """What the program prints."""
    done = subprocess.run([os.environ["TITER_PROGRAM"], *arguments], text=True, check=False,
                          stdout=subprocess.PIPE, stderr=subprocess.PIPE, timeout=60)
    if done.returncode != 0:
        raise AssertionError(done.stderr)
    return done.stdout


def swept(*arguments):
    """The program's CSV of SWEEP."""
    with tempfile.TemporaryDirectory() as folder:
        path = pathlib.Path(folder) / "sweep.json"
        path.write_text(json.dumps(SWEEP), encoding="utf-8")
        return program("sweep", str(path), *arguments)


class WholeNumber:
    """An integer of somebody else's, as NumPy's are."""

    def __init__(self, value):
        self.value = value

    def __index__(self):
        return self.value


class RealNumber:
    def __init__(self, value):
        self.value = value

    def __float__(self):
        return self.value


class ArrayLike:
    def __init__(self, values):
        self.values = values

    def tolist(self):
        return self.values


class TestRun(unittest.TestCase):
    def test_answers_as_the_program_does(self):
        for fidelity in ["closed", "event", "network"]:
            with self.subTest(fidelity):
                expected = json.loads(program("run", "llama3-70b-64xh100", "--fidelity", fidelity,
                                              "--format", "json"))
                got = titer.run("llama3-70b-64xh100", fidelity=fidelity)
                self.assertEqual(got, expected)
                self.assertEqual(list(got), list(expected))

    def test_takes_a_dict_a_file_or_a_path(self):
        expected = titer.run(RUN)
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder) / "run.json"
            path.write_text(json.dumps(RUN), encoding="utf-8")
            self.assertEqual(titer.run(str(path)), expected)
            self.assertEqual(titer.run(path), expected)
            self.assertEqual(json.loads(program("run", str(path), "--format", "json")), expected)
        self.assertEqual(titer.run(ROOT / "configs" / "runs" / "gpt3-175b-64xa100.json"),
                         titer.run("gpt3-175b-64xa100"))

    def test_sets_values_at_paths(self):
        changes = {"plan.tensor": 4, "plan.data": 1,
                   "cluster.chip.memory.bandwidth": "3 TB/s", "plan.sequence_parallel": True}
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder) / "run.json"
            path.write_text(json.dumps(RUN), encoding="utf-8")
            expected = program("run", str(path), "--format", "json", "--set", "plan.tensor=4", "--set",
                               "plan.data=1", "--set", "cluster.chip.memory.bandwidth=3 TB/s", "--set",
                               "plan.sequence_parallel=true")
        self.assertEqual(titer.run(RUN, changes), json.loads(expected))

    def test_advises_where_the_plan_does_not_fit(self):
        result = titer.run("llama3-70b-64xh100", {"plan.tensor": 2, "plan.data": 8})
        self.assertFalse(result["memory"]["fits"])
        advice = result["memory"]["advice"][0]
        self.assertTrue(titer.run("llama3-70b-64xh100", {"plan.tensor": 2, "plan.data": 8,
                                                         **advice["change"]})["memory"]["fits"])

    def test_follows_events_where_devices_differ(self):
        slow = {"conditions": {"devices": [{"devices": "0-1", "speed": 0.5}]}}
        self.assertIn("ranks", titer.run(RUN, slow))
        self.assertNotIn("ranks", titer.run(RUN))
        with self.assertRaisesRegex(titer.InputError, "expected the fidelity event"):
            titer.run(RUN, slow, "closed")

    def test_takes_numbers_and_containers_of_other_kinds(self):
        plan = {"pipeline": WholeNumber(2), "tensor": ArrayLike(2), "data": True + True,
                "micro_batch": 2, "batch_shares": (1, 3)}
        wanted = {**RUN, "plan": {"pipeline": 2, "tensor": 2, "data": 2, "micro_batch": 2,
                                  "batch_shares": [1, 3]}}
        self.assertEqual(titer.run(UserDict({**RUN, "plan": OrderedDict(plan)})), titer.run(wanted))
        for shares in [ArrayLike([1, 3]), range(1, 4, 2)]:
            self.assertEqual(titer.run(wanted, {"plan.batch_shares": shares}), titer.run(wanted))
        e7 = {"formula": {"name": "e7", "utilization": 0.5}}
        self.assertEqual(titer.run(RUN, {**e7, "formula.utilization": RealNumber(0.5)}),
                         titer.run(RUN, e7))

    @unittest.skipUnless(importlib.util.find_spec("numpy"), "NumPy is not installed")
    def test_takes_numbers_of_numpy(self):
        import numpy
        changes = {"plan.tensor": numpy.int64(4), "plan.data": numpy.array(1),
                   "plan.sequence_parallel": numpy.bool_(True),
                   "formula": {"name": numpy.str_("e7"), "utilization": numpy.float32(0.5)}}
        self.assertEqual(titer.run(RUN, changes),
                         titer.run(RUN, {"plan.tensor": 4, "plan.data": 1,
                                         "plan.sequence_parallel": True,
                                         "formula": {"name": "e7", "utilization": 0.5}}))

    def test_others_run_meanwhile(self):
        threads = [threading.Thread(target=titer.run, args=(RUN,)) for _ in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()


class TestAnswer(unittest.TestCase):
    """An answer is a dict, and all that the program writes of it."""

    def test_is_what_the_program_writes(self):
        answer = titer.run("llama3-70b-64xh100")
        self.assertIsInstance(answer, titer.Answer)
        self.assertEqual(answer, json.loads(program("run", "llama3-70b-64xh100", "--format", "json")))
        self.assertEqual(answer.text(), program("run", "llama3-70b-64xh100"))
        self.assertEqual(answer.csv(), program("run", "llama3-70b-64xh100", "--format", "csv"))
        self.assertTrue(answer.html().startswith("<!DOCTYPE html>"))

    def test_shows_itself_in_a_frame_of_its_own(self):
        shown = titer.search("llama3-70b-64xh100", {"top": 1, "space.pipeline": [4]})._repr_html_()
        self.assertTrue(shown.startswith('<iframe srcdoc="&lt;!DOCTYPE html&gt;'))
        self.assertEqual(shown.count('"'), 4)

    def test_is_kept_as_a_dict(self):
        answer = titer.run(RUN)
        self.assertEqual(pickle.loads(pickle.dumps(answer)), dict(answer))
        self.assertEqual(json.loads(json.dumps(answer)), answer)


class TestErrors(unittest.TestCase):
    def lines(self, function, *arguments, **named):
        with self.assertRaises(titer.InputError) as caught:
            function(*arguments, **named)
        self.assertEqual(str(caught.exception), "\n".join(caught.exception.lines))
        return caught.exception.lines

    def test_tells_every_mistake_with_its_path(self):
        wrong = {**RUN, "plan": {"pipelin": 2, "tensor": 0}}
        lines = self.lines(titer.run, wrong)
        self.assertEqual(len(lines), 2)
        self.assertRegex(lines[0], r"^scenario: plan\.tensor: 0: expected ")
        self.assertRegex(lines[1], r"^scenario: plan\.pipelin: .*did you mean \"pipeline\"\?")

    def test_tells_what_was_set(self):
        self.assertRegex(self.lines(titer.run, RUN, {"plan.tensor": "many"})[0],
                         r"^set plan.tensor=many: plan\.tensor: .*expected ")
        self.assertRegex(self.lines(titer.run, RUN, ["plan.tensor"])[0],
                         "^--set plan.tensor: expected path=value")
        self.assertEqual(titer.run(RUN, ["plan.micro_batch=2"]),
                         titer.run(RUN, {"plan.micro_batch": 2}))

    def test_refuses_what_json_cannot_hold(self):
        itself = {}
        itself["plan"] = itself
        for value, problem in [({1, 2}, "model: expected what JSON can hold .*, not set"),
                               (b"llama3-8b", "model: .*, not bytes"),
                               (float("nan"), "model: expected a finite number, not nan"),
                               ({"layers": [1, {2: 3}]},
                                r"model\.layers\.1: expected keys that are text, not int"),
                               (10 ** 400, "model: this number is too large"),
                               (itself, "expected at most 200 values inside one another")]:
            with self.subTest(problem):
                self.assertRegex(self.lines(titer.run, {**RUN, "model": value})[0],
                                 "^scenario: .*" + problem)

    def test_refuses_other_arguments(self):
        self.assertEqual(self.lines(titer.run, RUN, fidelity="evnt"),
                         ['fidelity: evnt: expected closed, event, network; '
                          'did you mean "event"?'])
        self.assertIn("models", self.lines(titer.names, "model")[0])
        self.assertRegex(self.lines(titer.sweep, SWEEP, jobs=-1)[0], "^jobs: -1: expected ")
        self.assertRegex(self.lines(titer.run, None)[0], "missing; expected a run file")
        self.assertRegex(self.lines(titer.run, [RUN])[0], "^scenario: .*expected a name")
        self.assertRegex(self.lines(titer.capacity, 3)[0], "^capacity: 3: expected a name")
        self.assertRegex(self.lines(titer.tune, RUN, measured=3)[0], "^measured: 3: expected a text")
        self.assertRegex(self.lines(titer.run, "gpt3-175b-64xa10")[0], "did you mean")
        self.assertRegex(self.lines(titer.run, "nowhere.json")[0], "nowhere.json")

    def test_errors_are_values_that_travel(self):
        with self.assertRaises(ValueError) as caught:
            titer.run({})
        there = pickle.loads(pickle.dumps(caught.exception))
        self.assertIsInstance(there, titer.InputError)
        self.assertEqual(there.lines, caught.exception.lines)

    def test_errors_of_python_come_through(self):
        class Broken:
            def tolist(self):
                raise KeyError("broken")
        with self.assertRaisesRegex(KeyError, "broken"):
            titer.run({"model": Broken()})


class TestCheck(unittest.TestCase):
    def test_nothing_is_wrong_with_a_plan_that_fits(self):
        self.assertEqual(titer.check("gpt3-175b-64xa100"), [])

    def test_lists_every_mistake(self):
        lines = titer.check("gpt3-175b-64xa100", {"plan.tensor": 5})
        self.assertGreater(len(lines), 1)
        self.assertTrue(lines[0].startswith("set plan.tensor=5: plan.tensor: 5: "))

    def test_says_how_much_memory_is_missing(self):
        lines = titer.check("llama3-70b-64xh100", {"plan.tensor": 2, "plan.data": 8})
        self.assertRegex("\n".join(lines), r"^does not fit: stage 0 needs [0-9.]+ GiB of 80 GiB: .*$")


class TestSweep(unittest.TestCase):
    def test_has_the_rows_of_the_program(self):
        rows = titer.sweep(SWEEP)
        table = list(csv.DictReader(io.StringIO(swept())))
        self.assertEqual(len(rows), 2 * 3 * 2)
        self.assertEqual({row["status"] for row in rows}, {"ok", "out-of-memory", "invalid"})
        self.assertEqual([QUESTION + list(row) for row in rows], [list(row) for row in table])
        for row, cells in zip(rows, table):
            for column, value in row.items():
                if isinstance(value, bool):
                    self.assertEqual(cells[column], str(value).lower())
                elif isinstance(value, (int, float)):
                    self.assertEqual(float(cells[column]), value, column)
                else:
                    self.assertEqual(cells[column], value or "", column)

    def test_values_have_types_of_python(self):
        row = titer.sweep(SWEEP)[0]
        types = {"plan.micro_batch": int, "plan.recompute": str, "status": str,
                 "iteration_time_s": float, "memory_peak_bytes": int, "fits": bool,
                 "peak_stage": int, "grade": str, "reason": type(None)}
        self.assertEqual({key: type(row[key]) for key in types}, types)

    def test_points_without_a_result_say_why(self):
        invalid = [row for row in titer.sweep(SWEEP) if row["status"] == "invalid"]
        self.assertEqual({row["plan.tensor"] for row in invalid}, {3})
        self.assertEqual({row["iteration_time_s"] for row in invalid}, {None})
        self.assertTrue(all("plan.tensor: 3" in row["reason"] for row in invalid))

    def test_rows_are_those_of_single_runs(self):
        for row in titer.sweep(SWEEP):
            if row["status"] != "invalid":
                inputs = {path: row[path] for path in SWEEP["axes"]}
                result = titer.run(RUN, inputs)
                self.assertEqual(result["iteration_time_s"], row["iteration_time_s"])
                self.assertEqual(result["memory"]["peak_bytes"], row["memory_peak_bytes"])

    def test_threads_and_fidelity(self):
        rows = titer.sweep(SWEEP, jobs=1)
        self.assertEqual(titer.sweep(SWEEP, jobs=3), rows)
        events = titer.sweep(SWEEP, fidelity="event")
        self.assertEqual([row["status"] for row in events], [row["status"] for row in rows])
        self.assertEqual(titer.run(RUN, {"plan.recompute": "none"}, "event")["iteration_time_s"],
                         events[0]["iteration_time_s"])

    def test_devices_that_differ_take_events(self):
        shares = {"plan.batch_shares": [[1, 1], [1, 3]]}
        scenario = dict(RUN, plan={"data": 2, "micro_batch": 2})
        for row in titer.sweep({"scenario": scenario, "axes": shares}):
            self.assertIn(row["status"], ("ok", "out-of-memory"), row["reason"])
            result = titer.run(scenario, {"plan.batch_shares": row["plan.batch_shares"]})
            self.assertEqual(result["iteration_time_s"], row["iteration_time_s"])

    def test_takes_names_files_and_ranges(self):
        rows = titer.sweep("gpt3-175b-network")
        self.assertEqual(titer.sweep(ROOT / "configs" / "sweeps" / "gpt3-175b-network.json"), rows)
        batches = titer.sweep({"scenario": "gpt3-175b-64xa100",
                               "axes": {"training.global_batch": range(64, 257, 64)}})
        self.assertEqual([row["training.global_batch"] for row in batches], [64, 128, 192, 256])

    def test_says_what_asks_of_a_run_that_is_given_in_its_place(self):
        run = {"model": "llama3-8b", "cluster": "dgx-h100", "training": {"global_batch": 8}}
        for ask in [titer.sweep, titer.course]:
            with self.assertRaisesRegex(titer.InputError, r'^\w+: this is a run; .*"scenario": \{…\}, '):
                ask(run)

    def test_refuses_a_wrong_sweep_as_a_whole(self):
        with self.assertRaises(titer.InputError) as caught:
            titer.sweep({"scenario": RUN, "axis": {}})
        self.assertTrue(all(line.startswith("sweep: ") for line in caught.exception.lines))

    def test_answers_as_the_program_does(self):
        run = "gpt3-175b-64xa100"
        two = {"plan.micro_batch": 2}
        for found, *words in [
                (titer.explain(run, two), "explain", run, "--set", "plan.micro_batch=2"),
                (titer.diff(run, "llama3-70b-64xh100", two), "diff", run, "llama3-70b-64xh100", "--set",
                 "plan.micro_batch=2"),
                (titer.sensitivity(run, reach="12s"), "sensitivity", run, "--reach", "12s"),
                (titer.search("llama3-70b-64xh100", {"top": 2}), "search", "llama3-70b-64xh100", "--top", "2"),
                (titer.capacity(run, {"tokens": "1T"}), "capacity", run, "--tokens", "1T"),
                (titer.course("federated", fidelity="event"), "course", "federated", "--fidelity", "event")]:
            with self.subTest(words[0]):
                self.assertEqual(found, json.loads(program(*words, "--format", "json")))
        self.assertEqual(titer.course("federated", {"rounds.clients": 50})["title"],
                         "federated with set rounds.clients=50")
        with self.assertRaises(titer.InputError) as caught:
            titer.search({"scenario": "llama3-70b-64xh100", "objectiv": "mfu"})
        self.assertIn("objectiv", str(caught.exception))
        self.assertIn("search", caught.exception.lines[0])

    def test_questions_are_asked_as_documents(self):
        scenario = {"question": "run", "scenario": RUN, "set": {"plan.micro_batch": 1}, "fidelity": "event"}
        self.assertEqual(titer.ask(scenario), titer.run(RUN, {"plan.micro_batch": 1}, fidelity="event"))
        self.assertEqual(titer.ask({"question": "search", "search": "llama3-70b-64xh100", "top": 1}),
                         titer.search("llama3-70b-64xh100", {"top": 1}))
        made = titer.ask({"question": "new", "model": "llama3-8b", "cluster": "dgx-h100", "devices": 8,
                          "batch": 64, "sequence": 4096})
        self.assertEqual(titer.check(made["run"]), [])

    def test_tells_how_far_it_is(self):
        table = {"models": ["llama3-8b"], "clusters": ["dgx-h100"], "tokens": "1T", "deadlines": ["30d", "60d"]}
        for asked in (lambda progress: titer.compare(table, progress=progress),
                      lambda progress: titer.sweep(SWEEP, progress=progress),
                      lambda progress: titer.ask({"question": "capacity", "capacity": "llama3-405b"}, progress=progress)):
            told = []
            asked(lambda done, of: told.append((done, of)))
            self.assertTrue(told)
            self.assertEqual(told[-1][0], told[-1][1])
            self.assertTrue(all(0 < done <= of for done, of in told))
        line = io.StringIO()
        with contextlib.redirect_stderr(line):
            titer.compare(table, progress=True)
        self.assertTrue(line.getvalue().endswith("\r2 of 2\n"), line.getvalue())
        with self.assertRaises(ZeroDivisionError):
            titer.compare(table, progress=lambda done, of: 1 // 0)
        with self.assertRaises(titer.InputError):
            titer.compare(table, progress="bar")

    def test_a_search_can_be_interrupted(self):
        before = signal.signal(signal.SIGINT, signal.default_int_handler)
        interrupt = threading.Timer(0.1, lambda: signal.raise_signal(signal.SIGINT))
        try:
            begin = time.monotonic()
            interrupt.start()
            with self.assertRaises(KeyboardInterrupt):
                titer.search("gpt3-175b-4096xa100", {"any_software": True, "top": 1000, "space.schedule": None})
            self.assertLess(time.monotonic() - begin, 20.0)
        finally:
            interrupt.cancel()
            signal.signal(signal.SIGINT, before)

    def test_can_be_interrupted(self):
        # A million points; the thread that interrupts gets its turn because the sweep lets others run.
        hundred = list(range(1, 101))
        endless = {"scenario": RUN, "axes": {"plan.micro_batch": hundred, "plan.data": hundred,
                                             "training.global_batch": hundred}}
        before = signal.signal(signal.SIGINT, signal.default_int_handler)
        interrupt = threading.Timer(0.1, lambda: signal.raise_signal(signal.SIGINT))
        try:
            begin = time.monotonic()
            interrupt.start()
            with self.assertRaises(KeyboardInterrupt):
                titer.sweep(endless)
            self.assertLess(time.monotonic() - begin, 10.0)
        finally:
            interrupt.cancel()
            signal.signal(signal.SIGINT, before)


def declared(kind):
    return [node for node in STUB.body if isinstance(node, kind)]


def typed_dicts():
    """The keys of each TypedDict by its name, and those that may be absent."""
    dicts = {}
    for node in declared(ast.ClassDef):
        if [ast.unparse(base) for base in node.bases] == ["TypedDict"]:
            keys = {item.target.id: ast.unparse(item.annotation) for item in node.body
                    if isinstance(item, ast.AnnAssign)}
            dicts[node.name] = keys
    return dicts


NARROW_RAILS = {"name": "rails", "title": "rails", "family": "rails", "nodes": 8, "rails": 8,
                "nodes_per_group": 4, "spines": 1, "oversubscription": 8, "bandwidth": "400 Gbps"}
# Events differ from the closed form here.
OVERLAPPING = {
    "model": "llama2-13b", "cluster": "polaris", "stack": "nemo",
    "plan": {"pipeline": 8, "tensor": 1, "data": 4, "virtual_stages": 5},
    "training": {"global_batch": 32, "sequence": 1024, "precision": "bf16"}}


class TestHints(unittest.TestCase):
    """titer.pyi says what the module has."""

    def test_names_what_there_is(self):
        runtime = {node.name for node in declared(ast.FunctionDef)}
        runtime |= {node.target.id for node in declared(ast.AnnAssign)}
        runtime |= {"Answer", "InputError"}
        self.assertEqual({name for name in vars(titer) if not name.startswith("_")} | {"__version__"},
                         runtime)
        self.assertEqual(program("--version").split(), ["titer", titer.__version__])
        self.assertTrue(issubclass(titer.InputError, ValueError))

    def test_methods_of_answers(self):
        stub = next(node for node in declared(ast.ClassDef) if node.name == "Answer")
        for node in stub.body:
            if isinstance(node, ast.FunctionDef):
                self.assertTrue(callable(getattr(titer.Answer, node.name)), node.name)

    def test_signatures(self):
        for node in declared(ast.FunctionDef):
            with self.subTest(node.name):
                names = [argument.arg for argument in node.args.args]
                names += [node.args.kwarg.arg] if node.args.kwarg else []
                defaults = [ast.literal_eval(value) for value in node.args.defaults]
                found = inspect.signature(getattr(titer, node.name)).parameters.values()
                self.assertEqual([one.name for one in found], names)
                self.assertEqual([one.default for one in found if one.default is not one.empty],
                                 defaults)
                self.assertTrue(inspect.getdoc(getattr(titer, node.name)))

    def test_defaults_are_those_of_the_module(self):
        self.assertEqual(titer.run(RUN), titer.run(scenario=RUN, set=None, fidelity=None))
        self.assertEqual(titer.sweep(SWEEP), titer.sweep(sweep=SWEEP, jobs=0, fidelity=None))
        self.assertEqual(titer.check(RUN), titer.check(scenario=RUN, set=None))
        self.assertEqual(titer.names("chips"), titer.names(kind="chips"))

    def test_choices(self):
        choices = {node.targets[0].id: ast.unparse(node.value) for node in declared(ast.Assign)}
        kinds = [value.value for value in ast.walk(ast.parse(choices["_Kind"]))
                 if isinstance(value, ast.Constant)]
        with self.assertRaises(titer.InputError) as caught:
            titer.names("")
        self.assertIn("expected one of: " + ", ".join(kinds), str(caught.exception))
        self.assertTrue(all(titer.names(kind) for kind in kinds))
        with self.assertRaises(titer.InputError) as caught:
            titer.run(RUN, fidelity="")
        self.assertEqual(choices["_Fidelity"], "Literal['closed', 'event', 'network']")
        self.assertIn("expected closed, event, network", str(caught.exception))

    def test_dicts(self):
        dicts = typed_dicts()

        def compare(name, values):
            optional = {key for key, hint in dicts[name].items() if hint.startswith("NotRequired")}
            self.assertLessEqual(set(dicts[name]) - optional, set(values), name)
            self.assertLessEqual(set(values), set(dicts[name]), name)
            seen.update((name, key) for key in values)
            for key, value in values.items():
                for inner in dicts:
                    if inner in ast.unparse(ast.parse(dicts[name][key])).replace("]", "[").split("["):
                        for one in value if isinstance(value, list) else [value]:
                            compare(inner, one)

        seen = set()
        compare("Result", titer.run("llama3-70b-64xh100", fidelity="network"))
        compare("Result", titer.run("llama3-70b-64xh100", {"plan.tensor": 2, "plan.data": 8}))
        compare("Result", titer.run("llama3-70b-64xh100", {"plan.overlap_grad_reduce": True}))
        compare("Result", titer.run("mixtral-8x7b-64xh100", {
            "cluster.network.topology": "dragonfly-1056"}, "network"))
        compare("Result", titer.run("mixtral-8x7b-64xh100", {
            "cluster.network.topology": NARROW_RAILS}, "network"))
        compare("Result", titer.run(OVERLAPPING, {"stack.overlap_slowdown": 1.9}))
        bar = titer.run("gpt3-175b-64xa100")["error_bar"]
        compare("ErrorBar", bar)
        everything = {(name, key) for name, keys in dicts.items() for key in keys}
        self.assertEqual(seen, everything)


class TestInstallation(unittest.TestCase):
    def test_an_installed_module_finds_its_data(self):
        with tempfile.TemporaryDirectory() as folder:
            subprocess.run([shutil.which("cmake"), "--install", os.environ["TITER_BUILD"],
                            "--prefix", folder], stdout=subprocess.DEVNULL, timeout=60, check=True)
            prefix = pathlib.Path(folder)
            chips = prefix / "share" / "titer" / "configs" / "chips"
            shutil.copy(chips / "h100-sxm5-80gb.json", chips / "my-chip.json")
            module, = prefix.glob("lib/python*/*/titer.*.so")
            hints = module.parent / "titer-stubs" / "__init__.pyi"
            self.assertEqual(hints.read_bytes(), (ROOT / "src/python/titer.pyi").read_bytes())
            environment = {**os.environ, "PYTHONPATH": str(module.parent)}
            environment.pop("TITER_DATA", None)
            done = subprocess.run([sys.executable, "-c", "import titer; print(*titer.names('chips'))"],
                                  env=environment, stdout=subprocess.PIPE, text=True, check=True,
                                  timeout=60)
            self.assertIn("my-chip", done.stdout.split())


    @unittest.skipUnless(importlib.util.find_spec("pip"), "pip is not installed")
    def test_a_wheel_brings_module_program_and_data(self):
        sys.path.insert(0, str(ROOT / "scripts"))
        import python_wheel
        with tempfile.TemporaryDirectory() as folder:
            prefix = pathlib.Path(folder, "built")
            for component in ("program", "python"):
                subprocess.run([shutil.which("cmake"), "--install", os.environ["TITER_BUILD"], "--prefix", prefix,
                                "--component", component], stdout=subprocess.DEVNULL, timeout=60, check=True)
            wheel = pathlib.Path(folder, f"titer-{python_wheel.version()}-{python_wheel.tag()}.whl")
            python_wheel.write_wheel(prefix, wheel)
            there = pathlib.Path(folder, "there")
            subprocess.run([sys.executable, "-m", "pip", "install", "--quiet", "--no-index", "--no-deps", "--prefix", there,
                            wheel], timeout=120, check=True)
            module, = there.rglob("titer.*.so")  # below local/, where Debian's Python installs
            program, = there.rglob("bin/titer")
            for loaded in prefix.rglob("lib/titer/*"):
                self.assertTrue((program.parent.parent / loaded.relative_to(prefix)).is_file(), loaded)
            environment = {**os.environ, "PYTHONPATH": str(module.parent)}
            environment.pop("TITER_DATA", None)
            said = subprocess.run([sys.executable, "-c", "import titer; print(titer.run('llama3-70b-64xh100').text())"],
                                  env=environment, stdout=subprocess.PIPE, text=True, check=True, timeout=60).stdout
            done = subprocess.run([program, "run", "llama3-70b-64xh100"], env=environment,
                                  stdout=subprocess.PIPE, text=True, check=True, timeout=60)
            self.assertEqual(said.rstrip(), done.stdout.rstrip())


class TestFiles(unittest.TestCase):
    """Measured files, and those of other programs."""

    RUNS = ROOT / "tests/data/measured/training_vtrain_single.csv"
    TRACE = ROOT / "tests/data/traces/kineto.json"

    def test_say_what_the_program_says(self):
        self.assertEqual(titer.validate(self.RUNS, by="chip"),
                         json.loads(program("validate", str(self.RUNS), "--by", "chip", "--format", "json")))
        self.assertEqual(titer.validate([str(self.RUNS)]).text(), program("validate", str(self.RUNS)))
        self.assertEqual(titer.trace([self.TRACE]).text(), program("trace", str(self.TRACE)))

    def test_refuse_what_the_program_refuses(self):
        with self.assertRaises(titer.InputError):
            titer.validate(self.RUNS, bye="chip")
        with self.assertRaises(titer.InputError):
            titer.calibrate("chips", self.RUNS, base="dgx-h100")
        with self.assertRaises(titer.InputError):
            titer.import_run("no-such-file.sh")

    def test_import_gives_what_run_takes(self):
        script = "#!/bin/sh\npython pretrain_gpt.py --num-layers 32 --hidden-size 4096 --num-attention-heads 32 " \
                 "--seq-length 4096 --max-position-embeddings 4096 --micro-batch-size 1 --global-batch-size $GB " \
                 "--tensor-model-parallel-size 2 --bf16 --vocab-size 32000\n"
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder, "pretrain.sh")
            path.write_text(script)
            with warnings.catch_warnings(record=True) as told:
                warnings.simplefilter("always")
                run = titer.import_run(path, cluster="dgx-h100", define={"GB": "64"})
            self.assertEqual(run["plan"]["tensor"], 2)
            self.assertEqual(run["training"]["global_batch"], 64)
            self.assertTrue(any("used" in str(one.message) for one in told))
            self.assertEqual(run["cluster"], "dgx-h100")


class TestPandas(unittest.TestCase):
    @unittest.skipUnless(importlib.util.find_spec("pandas"), "pandas is not installed")
    def test_has_the_rows_of_answers(self):
        found = titer.search("llama3-70b-64xh100", {"top": 3, "space.schedule": "1f1b"})
        frame = found.frame()
        self.assertEqual(len(frame), len(found["plans"]))
        self.assertEqual(list(frame["iteration_time_s"]), [plan["iteration_time_s"] for plan in found["plans"]])
        self.assertEqual(frame["rank"].dtype, int)
        errors = titer.validate(TestFiles.RUNS).frame()["ape_pct"]
        self.assertEqual(errors.dtype, float)
        self.assertGreater(errors.count(), 10)

    @unittest.skipUnless(importlib.util.find_spec("pandas"), "pandas is not installed")
    def test_reads_a_sweep(self):
        import pandas
        table = pandas.read_csv(io.StringIO(swept()), keep_default_na=False, na_values=[""])
        rows = pandas.DataFrame(titer.sweep(SWEEP))
        self.assertEqual(list(table.columns), QUESTION + list(rows.columns))
        self.assertEqual(table["iteration_time_s"].dtype, float)
        self.assertEqual(table["plan.tensor"].dtype, int)
        fits = table[table["status"] == "ok"]
        fastest = fits.loc[fits["iteration_time_s"].idxmin()]
        self.assertEqual(fastest["iteration_time_s"],
                         min(row["iteration_time_s"] for row in titer.sweep(SWEEP)
                             if row["status"] == "ok"))
        self.assertTrue((rows["iteration_time_s"].fillna(0) ==
                         table["iteration_time_s"].fillna(0)).all())


if __name__ == "__main__":
    unittest.main()
