"""Tests that a file in whose place a command puts a pipe or a device holds nothing up: it is read or written as a file, or told."""

import os

from support import LIMIT, ProjectCase, last_line


class ReplacedCase(ProjectCase):
    def replaced(self, name, run="true"):
        file = self.project / ".ci/logs/a" / name
        self.cells(f"[[cell]]\nid = 'a'\nwhat = 'b'\nsteps = [{{ name = 'test', run = '{run}; rm -f {file}; mkfifo {file}' }}]\n")
        return self.ended("run", "a", "-v")

    def ended(self, *arguments):
        """Runs ci/matrix in a process of its own, which a hang doesn't outlive."""
        process = self.start(*arguments, FAKE_TESTS="one=pass")
        said, _ = process.communicate(timeout=LIMIT)
        return process.returncode, said

    def test_a_pipe_in_the_place_of_the_metrics(self):
        code, said = self.replaced("metrics")
        self.assertEqual((code, last_line(said)), (4, "0 passed, 1 failed, 0 skipped"))
        self.assertIn(f" {self.project}/.ci/logs/a/metrics: is no regular file\n", said)

    def test_a_pipe_in_the_place_of_the_report(self):
        code, said = self.replaced("test.events", "swift test {report}")
        self.assertEqual((code, last_line(said)), (1, "0 passed, 1 failed, 0 skipped"))
        self.assertIn(f"test: {self.project}/.ci/logs/a/test.events: is no regular file; exit 0\n", said)

    def test_a_pipe_in_the_place_of_the_log(self):
        code, said = self.replaced("test.log", "swift test {report}")
        self.assertEqual((code, last_line(said)), (1, "0 passed, 1 failed, 0 skipped"))
        self.assertIn("test.log: is no regular file", said)

    def test_pipes_in_the_places_of_what_a_run_leaves_for_the_next(self):
        self.cells("[[cell]]\nid = 'a'\nwhat = 'b'\nrun = 'true'\n")
        for name in ("locks/a", "cells/a/temporary", "results/history.json", "results/history.lock", "flakes.jsonl"):
            pipe = self.project / ".ci" / name
            pipe.parent.mkdir(parents=True, exist_ok=True)
            pipe.unlink(missing_ok=True)
            os.mkfifo(pipe)
            for verb in ("explain", "run"):
                self.assertEqual(self.ended(verb, "a")[0], 0, name)
            self.assertFalse(pipe.is_fifo())

    def test_a_device_without_an_end_in_the_place_of_the_metrics(self):
        self.cells("[[cell]]\nid = 'a'\nwhat = 'b'\nrun = 'ln -sf /dev/zero $CI_METRICS'\n")
        code, said = self.ended("run", "a")
        self.assertEqual(code, 4, said)
        self.assertIn("is no regular file", said)
