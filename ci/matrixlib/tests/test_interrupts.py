"""Tests what an interrupt, or a reader that has gone, leaves: no process, correct results, unchanged files of others."""

import os
import signal
import subprocess

from support import SpawningCase, last_line, spawning


def read(terminal):
    """Returns everything that a terminal gets, until nobody writes to it any more."""
    said = b""
    with open(terminal, "rb", buffering=0) as file:
        try:
            while part := file.read(1000):
                said += part
        except OSError:  # Linux reports the end as an error.
            pass
    return said.decode()


class InterruptsCase(SpawningCase):
    def interrupt(self, number):
        self.cells(spawning("sleep 1000") + "[[cell]]\nid = 'z'\nwhat = 'b'\nrun = 'touch ran'\n")
        process = self.start("run", "*")
        pids = self.pids()
        code, said = self.interrupted(process, number)
        self.assertEqual((code, last_line(said)), (130, "0 passed, 0 failed, 1 skipped, 1 interrupted"), said)
        self.assert_ended(*pids, within=0.5)
        self.assertFalse((self.project / "ran").exists(), "a cell was begun after the interrupt")
        self.assert_the_next_run_works()

    def test_after_control_c(self):
        self.interrupt(signal.SIGINT)

    def test_after_sigterm(self):
        self.interrupt(signal.SIGTERM)

    def test_while_it_ends_the_line_says_so(self):
        self.cells(spawning("sleep 1000"))
        terminal, inner = os.openpty()
        process = subprocess.Popen(self.command("run", "a"), stdin=inner, stdout=inner, stderr=inner, env=self.environment(), start_new_session=True)
        os.close(inner)
        pids = self.pids()
        process.send_signal(signal.SIGINT)
        said = read(terminal)
        self.assertEqual(process.wait(30), 130)
        self.assertIn("interrupted: waits for what runs to end", said)
        self.assert_ended(*pids, within=0.5)

    def test_after_the_last_cell_the_results_are_kept(self):
        self.program("git", f"#!/bin/sh\ncd {self.project}\n[ ! -e ran ] || {{ echo >> looks; until [ -e go ]; do sleep 0.01; done; }}\n")
        self.cells("[[cell]]\nid = 'a'\nwhat = 'b'\nrun = 'touch ran'\n")
        process = self.start("run", "a")
        self.wait_for("looks")
        process.send_signal(signal.SIGINT)
        (self.project / "go").touch()
        said, _ = process.communicate(timeout=30)
        self.assertEqual((process.returncode, last_line(said), self.statuses()), (0, "1 passed, 0 failed, 0 skipped", {"a": "passed"}))

    def test_after_who_reads_has_gone(self):
        """As after `ci/matrix run | head -1`, or when a terminal is closed."""
        self.cells("[[cell]]\nid = 'a'\nwhat = 'b'\nrun = 'true'\n" + spawning("sleep 1000", name="b"))
        process = self.start("run", "*")
        pids = self.pids()
        process.stdout.close()
        (self.project / "go").touch()
        process.send_signal(signal.SIGHUP)
        self.assertEqual(process.wait(30), 130)
        self.assert_ended(*pids, within=0.5)
        self.assertEqual(self.statuses(), {"a": "passed", "b": "interrupted"})

    def test_nohup_holds(self):
        self.cells("[[cell]]\nid = 'a'\nwhat = 'b'\nrun = 'echo > began; until [ -e go ]; do sleep 0.01; done; sleep 1'\n")
        process = subprocess.Popen(["nohup", *self.command("run", "a")], stdout=subprocess.PIPE, text=True, env=self.environment())
        self.addCleanup(process.stdout.close)
        self.wait_for("began")
        process.send_signal(signal.SIGHUP)
        (self.project / "go").touch()
        self.assertEqual((process.wait(30), self.statuses()), (0, {"a": "passed"}))

    def test_who_stops_reading_ends_what_runs(self):
        self.cells("[[cell]]\nid = 'a'\nwhat = 'b'\nsteps = [{ name = 'x', run = 'echo > began; until [ -e go ]; do sleep 0.01; done' },"
                   " { name = 'y', run = 'touch ran; sleep 1000' }]\n[[cell]]\nid = 'z'\nwhat = 'b'\nrun = 'touch z.ran'\n")
        process = self.start("run", "*")
        self.wait_for("began")
        process.stdout.close()
        (self.project / "go").touch()
        self.assertEqual(process.wait(30), 130)
        self.assertFalse((self.project / "z.ran").exists())

    def test_a_failure_is_told_by_the_exit_code_when_nobody_reads(self):
        self.cells("[[cell]]\nid = 'a'\nwhat = 'b'\nrun = 'until [ -e go ]; do sleep 0.01; done; false'\n")
        process = self.start("run", "*")
        self.assertIn("a: until", process.stdout.readline())
        process.stdout.close()
        (self.project / "go").touch()
        self.assertEqual((process.wait(30), self.statuses()), (1, {"a": "failed"}))

    def test_after_control_c_while_packages_are_installed(self):
        self.packages("echo installing > began\nexec sleep 1000")
        self.cells("[[cell]]\nid = 'a'\nwhat = 'b'\nrequires = ['apt:made-up']\nrun = 'true'\n")
        process = self.start("run", "a", "--install", cwd=self.project)
        self.wait_for("began")
        os.killpg(process.pid, signal.SIGINT)
        said, _ = process.communicate(timeout=30)
        self.assertEqual((process.returncode, said), (130, "installing made-up\nmatrix: interrupted\n"))

    def test_after_control_c_while_a_failing_test_is_run_again(self):
        again = "[ ! -e once ] || { echo > again; sleep 1000; }; touch once"
        self.cells(f"[[cell]]\nid = 'a'\nwhat = 'b'\nsteps = [{{ name = 'test', kind = 'test', run = '{again}; swift test {{report}} {{tests}}' }}]\n")
        process = self.start("run", "a", FAKE_TESTS="one=fail")
        self.wait_for("again")
        code, said = self.interrupted(process)
        self.assertEqual((code, self.statuses()), (130, {"a": "interrupted"}), said)

    def test_one_that_is_interrupted_while_it_waits_leaves_the_other_alone(self):
        self.cells("[[cell]]\nid = 'a'\nwhat = 'b'\nrun = '''touch $TMPDIR/mine; echo x > began; until [ -e go ]; do sleep 0.01; done; test -e $TMPDIR/mine'''\n")
        first = self.start("run", "a")
        self.wait_for("began")
        second = self.start("run", "a")
        self.assertIn("waits for another ci/matrix", second.stdout.readline())
        code, said = self.interrupted(second)
        self.assertEqual((code, last_line(said)), (130, "0 passed, 0 failed, 1 skipped"), said)
        (self.project / "go").touch()
        said, _ = first.communicate(timeout=30)
        self.assertEqual(first.returncode, 0, said)
        self.assertTrue((self.project / ".ci/logs/a/touch.log").exists())
