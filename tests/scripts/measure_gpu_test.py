#!/usr/bin/env python3
"""Tests scripts/measure_gpu.py as far as it goes without a GPU: its list of shapes, its files and
what it refuses. Nothing is measured, and PyTorch is not needed.
"""
import argparse
import contextlib
import importlib.util
import json
import os
import pathlib
import subprocess
import sys
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
SCRIPT = ROOT / "scripts" / "measure_gpu.py"
MEASURED = [folder for folder in (ROOT / "tests" / "data" / "measured",
                                  ROOT.parent / "shared" / "measured") if folder.is_dir()]


def load():
    spec = importlib.util.spec_from_file_location("measure_gpu", SCRIPT)
    module = importlib.util.module_from_spec(spec)
    sys.modules["measure_gpu"] = module  # dataclasses look their module up
    sys.dont_write_bytecode = True
    spec.loader.exec_module(module)
    return module


def run(*arguments, **environment):
    return subprocess.run([sys.executable, "-B", str(SCRIPT), *arguments], text=True, timeout=60,
                          stdout=subprocess.PIPE, stderr=subprocess.PIPE, check=False,
                          env={**os.environ, **environment})


class MeasureGpuTest(unittest.TestCase):
    module = load()

    def test_help_names_every_table(self):
        done = run("--help")
        self.assertEqual(done.returncode, 0)
        for table in self.module.HEADERS:
            self.assertIn(f"\n  {table} ", done.stdout)

    def test_dry_run_lists_the_shapes_of_every_table_without_pytorch(self):
        with self.without_pytorch() as path:
            done = run("--dry-run", "--grid", "quick", PYTHONPATH=path)
        self.assertEqual(done.returncode, 0, done.stderr)
        lines = done.stdout.splitlines()
        self.assertEqual(len(lines), len(set(lines)) if lines else 1)
        for table in set(self.module.HEADERS) - {"sustained"}:
            self.assertTrue([line for line in lines if line.startswith(f"{table}: ")], table)
        self.assertIn("gemm: dtype=bf16 m=4097 n=50304 k=1024", lines)

    def test_without_pytorch_it_says_so_and_exits_with_2(self):
        with self.without_pytorch() as path, tempfile.TemporaryDirectory() as out:
            done = run("--out", out, PYTHONPATH=path)
            self.assertEqual(os.listdir(out), [])
        self.assertEqual(done.returncode, 2)
        self.assertIn("PyTorch is needed to measure", done.stderr)
        self.assertEqual(len(done.stderr.splitlines()), 1)

    def test_mistakes_are_refused(self):
        for arguments in ((), ("--out", "x", "--only", "gem"), ("--out", "x", "--dtypes", "fp9"),
                          ("--out", "x", "--repeats", "0"), ("--out", "x", "--only", "sustained")):
            self.assertEqual(run(*arguments).returncode, 2, arguments)

    def test_headers_are_those_of_the_corpus(self):
        if not MEASURED:
            self.skipTest("no folder with measured figures here")
        for folder in MEASURED:
            for pattern, table in (("kernels/*_gemm.csv", "gemm"), ("kernels/*_attention.csv", "attention"),
                                   ("collectives/all*.csv", "collectives")):
                for path in folder.glob(pattern):
                    with path.open(encoding="utf-8") as file:
                        self.assertEqual(file.readline().rstrip(), self.module.HEADERS[table], path)

    def test_backward_attention_adds_the_pass(self):
        headers = self.module.HEADERS
        self.assertEqual(headers["attention_backward"], headers["attention"] + ",pass")

    def test_bus_bandwidth_follows_nccl_tests(self):
        self.assertEqual(self.module.bus_share("all_reduce", 8), 2 * 7 / 8)
        self.assertEqual(self.module.bus_share("alltoall", 4), 3 / 4)
        self.assertEqual(self.module.bus_share("sendrecv", 2), 1)

    def test_a_table_is_written_whole_and_known_again(self):
        with tempfile.TemporaryDirectory() as out:
            options = argparse.Namespace(repeats=3, warm_up=1, min_time=1, flush_l2=False, graphs=True,
                                         grid="quick")
            folder = self.module.Folder(pathlib.Path(out))
            folder.begin({"device": "a", "torch": "2", "cuda": "12"}, options)
            row = {"dtype": "bf16", "m": 1, "n": 2, "k": 3, "time_us": 1234.56789}
            folder.save("gemm", [row], [], {"rows": 1})
            self.assertEqual(pathlib.Path(out, "gemm.csv").read_text(encoding="utf-8"),
                             "dtype,m,n,k,time_us,kernel,software\nbf16,1,2,3,1234.6,,\n")
            self.assertEqual(sorted(os.listdir(out)), ["conditions.json", "gemm.csv", "spread.csv"])
            again = self.module.Folder(pathlib.Path(out))
            self.assertTrue(again.has("gemm"))
            self.assertFalse(again.has("memory"))
            with self.assertRaises(self.module.UserError):  # of another device
                again.begin({"device": "b", "torch": "2", "cuda": "12"}, options)
            self.assertEqual(json.loads(pathlib.Path(out, "conditions.json").read_text(
                encoding="utf-8"))["device"], "a")
            self.assertEqual(run("--out", out, "--only", "gemm").returncode, 2)

    @contextlib.contextmanager
    def without_pytorch(self):
        with tempfile.TemporaryDirectory() as folder:
            pathlib.Path(folder, "torch.py").write_text("raise ImportError('hidden')\n", encoding="utf-8")
            yield folder


if __name__ == "__main__":
    unittest.main()
