#!/usr/bin/env python3
"""Tests scripts/check_readme.py: what it finds on pages that are wrong, and that it finds nothing
on those that are right. `echo` and `false` stand for the program's output and exit code.
"""
import importlib.util
import pathlib
import sys
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent


def load():
    spec = importlib.util.spec_from_file_location(
        "check_readme", ROOT / "scripts" / "check_readme.py")
    module = importlib.util.module_from_spec(spec)
    sys.dont_write_bytecode = True
    spec.loader.exec_module(module)
    return module


class CheckReadmeTest(unittest.TestCase):
    module = load()

    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)
        self.program = self.folder / "titer"
        self.program.write_text("#!/bin/sh\necho first\necho second\necho third\nexit ${1:-0}\n")
        self.program.chmod(0o755)

    def page(self, *lines, name="page.md"):
        page = self.folder / name
        page.write_text("\n".join(lines) + "\n", encoding="utf-8")
        return page

    def problems(self, *lines, update=False):
        checked = self.module.Checked()
        checked.run_file(self.page(*lines), self.program, update)
        return checked.problems

    def test_a_command_must_exit_as_it_says(self):
        self.assertEqual(self.problems("```sh", "titer", "titer 1  # exit 1", "```"), [])
        self.assertEqual(len(self.problems("```sh", "titer 1", "titer  # exit 2", "```")), 2)

    def test_what_is_no_command_is_left_alone(self):
        self.assertEqual(self.problems("```sh", "make", "```", "```text", "titer 1", "```"), [])

    def test_a_script_must_be_there(self):
        self.assertEqual(self.problems("```sh", "scripts/run.sh", "```"), [])
        self.assertEqual(len(self.problems("```sh", "scripts/nowhere.sh", "```")), 1)

    def test_a_command_that_a_test_asks_is_not_asked_again(self):
        def asked_by(test, command):
            return self.problems(f"<!-- asked by {test} -->", "```sh", command, "```", "```sh",
                                 "titer", "```")
        tasks = "tests/tasks/planner_test.cpp"
        self.assertEqual(asked_by(tasks, "titer report llama3-70b-10t-tokens --out a.html"), [])
        self.assertEqual(len(asked_by(tasks, "titer report no-such-questions")), 1)
        self.assertEqual(len(asked_by("tests/no_test.cpp", "titer report")), 1)
        below = ("<!-- asked by a page above -->", "", "```sh", "titer 1", "```")
        self.assertEqual(len(self.problems(*below)), 1)

    def test_an_output_must_be_what_is_shown(self):
        shown = ("first", "second", "third")
        for output in (shown, ("…",), ("first", "…"), ("…", "third"), ("first", "…", "third"),
                       ("…", "second", "…"), ("first  ", "second", "third", "")):
            with self.subTest(output=output):
                self.assertEqual(self.problems("```console", "$ titer", *output, "```"), [])
        for output in ((), shown[:2], (*shown, "more"), ("first", "other", "third"),
                       ("…", "second"), ("third", "…"), ("…", "third", "…", "first")):
            with self.subTest(output=output):
                self.assertEqual(len(self.problems("```console", "$ titer", *output, "```")), 1)

    def test_update_writes_down_what_is_printed(self):
        self.assertEqual(self.problems("a", "```console", "$ titer", "other", "…", "x", "$ titer",
                                       "old", "```", "b", update=True), [])
        self.assertEqual((self.folder / "page.md").read_text(encoding="utf-8").splitlines(),
                         ["a", "```console", "$ titer", "first", "…", "third", "$ titer", "first",
                          "second", "third", "```", "b"])

    def test_a_table_must_be_what_its_command_prints(self):
        comment = "<!-- $ titer -->"
        self.assertEqual(self.problems(comment, "first", "second", "third", "", "after"), [])
        self.assertEqual(len(self.problems(comment, "first", "", "second", "third")), 1)
        self.assertEqual(self.problems("```text", comment, "```"), [])
        self.assertEqual(self.problems("a", comment, "old", "", "```console", "$ titer", "old",
                                       "```", update=True), [])
        self.assertEqual((self.folder / "page.md").read_text(encoding="utf-8").splitlines(),
                         ["a", comment, "first", "second", "third", "", "```console", "$ titer",
                          "first", "second", "third", "```"])

    def test_links_must_lead_somewhere(self):
        other = self.page("# Over `all`, in all", "", "```sh", "# no heading", "```", name="b.md")
        right = self.page("# Own", "[a](b.md) [b](b.md#over-all-in-all) [c](#own) `[d](e)`",
                          "[e](https://example.org/x)", "```text", "[f](g)", "```")
        self.assertEqual(self.module.broken_links([right, other]), [])
        wrong = self.page("[a](c.md)", "![b](b.md#no-heading)", "[c](#none)")
        self.assertEqual(len(self.module.broken_links([wrong])), 3)

    def test_every_page_of_docs_is_linked(self):
        pages = self.module.all_pages()
        self.assertIn(ROOT / "docs" / "README.md", pages)
        self.assertEqual(self.module.orphans(ROOT / "README.md", pages), [])
        lonely = ROOT / "docs" / "lonely.md"
        self.assertEqual(len(self.module.orphans(ROOT / "README.md", [lonely])), 1)


if __name__ == "__main__":
    unittest.main()
