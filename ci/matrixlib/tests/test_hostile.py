"""Tests that any input is answered in one line: no tracebacks, no replaced files of others. Everything is in the project's own folder."""

import os
import pathlib
import subprocess
import unittest.mock

from support import LIMIT, ProjectCase

NESTED = "[" * 100_000
OTHERS = ("[]", "null", '"text"', '{"a": [1]}', '{"a": {"seconds": "x", "times": [{}]}}', NESTED, "\0\1")
NO_REPORTS = (NESTED, '{"version": 1, "cells": [{"id": 1, "status": 2}]}', *(
    f'{{"version": 1, "cells": [{{"id": "a", "status": "passed", {more}}}]}}' for more in (
        '"seconds": "x"', '"seconds": NaN', '"axes": null', '"metrics": {"x": "y"}', '"steps": [{"name": "s", "kind": "t", "status": "failed", "tests": [], "notes": [1]}]')))


class HostileCase(ProjectCase):
    def setUp(self):
        super().setUp()
        self.cells("[[cell]]\nid = 'a'\nwhat = 'b'\nrun = 'true'\n")

    def answered(self, code, words, *arguments):
        found, said = self.matrix(*arguments)
        self.assertEqual(found, code, said)
        self.assertIn(words, said)
        self.assertNotIn("Traceback", said)

    def test_cells_that_can_not_be_read(self):
        file = self.project / "ci/cells.toml"
        for content, words in ((b"", "has no [[cell]]"), (b"\xff\xfe", "is not UTF-8"), (f"a = {NESTED}".encode(), "too many brackets")):
            file.write_bytes(content)
            self.answered(2, words, "list")
        file.unlink()
        file.mkdir()
        self.answered(2, "Is a directory", "run")

    def test_values_that_nothing_can_be_called_or_that_no_command_can_have(self):
        for line, words in (
                ("run = 'true'\naxes = { language = 5 }", "there is no value of the axis 'language' called '5'; known: 6"),
                ("run = 'true'\naxes = { language = [] }", "there is no value of the axis 'language' called '[]'; known: 6"),
                ("steps = [{ use = 5 }]", "there is no step '5'; known: "), ("steps = [{ use = {} }]", "there is no step '{}'; known: "),
                ("run = 'true'\nenv = { 'A=B' = 'x' }", "'A=B' is no name of a variable"), ("run = 'true'\nenv = { '' = 'x' }", "'' is no name of a variable"),
                ("run = 'true'\nenv = { A = \"x\\u0000\" }", "'env' has a zero byte"), ("run = \"true\\u0000\"", "'run' has a zero byte"),
                ("run = 'true'\nflags = [\"\\u0000\"]", "'flags' has a zero byte"),
                ("steps = [{ run = 'true', tests = \"\\u0000\" }]", "'tests' has a zero byte")):
            self.cells(f"[axes]\nlanguage = ['6']\n[[cell]]\nid = 'a'\nwhat = 'b'\n{line}\n")
            self.answered(2, f"cell 'a': {words}", "run", "a")

    def test_a_time_out_beyond_all_numbers(self):
        self.answered(0, "1 passed", "run", "a", "--timeout-factor", "1e306")

    def test_a_history_of_another_shape_is_forgotten(self):
        file = self.project / ".ci/results/history.json"
        file.parent.mkdir(parents=True)
        for text in OTHERS:
            file.write_text(text)
            for verb in ("list", "explain", "run"):
                self.answered(0, "a", verb, "a")

    def test_a_history_that_is_a_folder(self):
        (self.project / ".ci/results/history.json").mkdir(parents=True)
        self.answered(0, "a", "list")
        self.answered(0, "1 passed", "run", "a")

    def test_a_damaged_file_of_an_earlier_run_is_in_no_later_ones_way(self):
        self.answered(0, "1 passed", "run", "a")
        for place in ("cells/a/temporary", "locks/a", "locks", "logs/a", "logs", "cells/a", "results/history.json", "results/history.lock",
                      "results/latest.json", "results/junit.xml", "results", "logs/a/result.json", "flakes.jsonl"):
            file = self.project / ".ci" / place
            for damage in (lambda: file.write_bytes(b"/tmp/ci-matrix.\0\n\xff"), lambda: (file / "x").mkdir(parents=True), lambda: file.symlink_to("gone")):
                subprocess.run(["rm", "-rf", str(file)], check=True)
                damage()
                self.answered(0, "1 passed", "run", "a")

    def test_a_history_with_times_without_end(self):
        file = self.project / ".ci/results/history.json"
        file.parent.mkdir(parents=True)
        file.write_text('{"a": {"status": "passed", "time": 1, "seconds": 1e999, "times": [1e999, NaN, 1e999, 1e999, 1e999]}}')
        for verb in ("list", "run", "explain"):
            self.answered(0, "a", verb, "a")

    def test_what_is_no_report(self):
        file = self.project / "no.json"
        for text in NO_REPORTS:
            file.write_text(text)
            self.answered(2, "is no report of ci/matrix", "report", str(file), "--html", str(self.project / "page.html"))

    def test_a_history_with_a_time_that_is_none(self):
        file = self.project / ".ci/results/history.json"
        file.parent.mkdir(parents=True)
        file.write_text('{"a": {"status": "passed", "time": 1, "seconds": NaN}}')
        self.answered(0, "a", "list")

    def test_needs_that_only_another_project_can_have(self):
        self.cells("[[cell]]\nid = 'a'\nwhat = 'b'\nrun = 'true'\nrequires = ['setup']\n")
        for verb in ("list", "run"):
            self.answered(0, "a", verb, "a")

    def test_a_mistake_of_its_own_loses_no_other_cells_result(self):
        self.cells("[[cell]]\nid = 'a'\nwhat = 'b'\nrun = 'true'\n[[cell]]\nid = 'c'\nwhat = 'd'\nrun = 'true'\nrequires = ['command:x']\n")
        with unittest.mock.patch("matrixlib.requirements.shutil.which", side_effect=AttributeError("made up")):
            self.answered(4, "ci/matrix itself failed: AttributeError('made up')", "run", "*")
        self.assertEqual(self.statuses(), {"a": "passed", "c": "failed"})

    def test_a_report_below_a_file(self):
        self.answered(4, "the results could not be written", "run", "a", "--report", str(self.project / "ci/cells.toml/report"))

    def test_a_pipe_that_a_report_goes_to_is_written_into_and_not_replaced(self):
        pipe, link = self.project / "pipe", self.project / "link"
        os.mkfifo(pipe)
        link.symlink_to(pipe)
        reading = os.open(pipe, os.O_RDWR)
        self.addCleanup(os.close, reading)
        self.answered(0, "1 passed", "run", "a", "--report", str(link))
        self.assertTrue(pipe.is_fifo() and link.is_symlink())
        self.assertTrue(os.read(reading, 1 << 16).startswith(b"{"))

    def test_a_file_behind_a_link_is_replaced_and_not_the_link(self):
        (self.project / "link").symlink_to("real.json")
        self.answered(0, "1 passed", "run", "a", "--report", str(self.project / "link"))
        self.assertTrue((self.project / "link").is_symlink() and (self.project / "real.json").is_file())

    def test_nobody_reads(self):
        for verb in (["run", "a"], ["run", "a", "-v"], ["list"], ["explain", "a"], ["report"], ["--help"]):
            for redirected in (">&-", "| true"):
                shell = ["bash", "-c", f'"$@" {redirected}', "bash", *self.command(*verb)]
                done = subprocess.run(shell, env=self.environment(), stderr=subprocess.PIPE, text=True, timeout=LIMIT)
                self.assertEqual((done.returncode, done.stderr), (0, ""), (verb, redirected))
        self.assertTrue(pathlib.Path(os.devnull).is_char_device())
