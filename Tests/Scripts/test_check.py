"""Tests ci/checks/matrix itself, which runs these tests."""

import os
import signal
import subprocess

from own import ROOT, ProjectCase

# A test that hangs, and whose child process has its outputs.
HANGS = """
import subprocess, time
child = subprocess.Popen(["sleep", "1000"], start_new_session=True)
with open("pids", "w") as file:
    print(child.pid, file=file)
print("it hangs", flush=True)
time.sleep(1000)
"""


class CheckCase(ProjectCase):
    def checked(self, **files):
        """Returns the exit code and the output of the check for such test files, with a shorter watchdog."""
        self.tests = self.project / "ci/matrixlib/tests"
        self.tests.mkdir(parents=True)
        for name, text in files.items():
            (self.tests / f"test_{name}.py").write_text(text)
        check = self.project / "ci/checks/matrix"
        check.parent.mkdir()
        text = (ROOT / "ci/checks/matrix").read_text()
        check.write_text(text.replace(" 300 ", " 10 "))
        self.assertNotEqual(check.read_text(), text)
        with (self.project / "said").open("w") as said:
            process = subprocess.Popen(["bash", check], stdin=subprocess.DEVNULL, stdout=said, stderr=subprocess.STDOUT)
        self.addCleanup(process.wait)
        self.addCleanup(process.kill)
        return process.wait(50), (self.project / "said").read_text()

    def test_its_limit_holds_where_a_child_keeps_an_output_open(self):
        self.addCleanup(lambda: os.kill(int((self.tests / "pids").read_text()), signal.SIGKILL))
        code, said = self.checked(hangs=HANGS)
        self.assertEqual((code > 0, said), (True, "it hangs\n"))

    def test_what_failed_is_shown(self):
        green = "import unittest\nclass A(unittest.TestCase):\n    def test(self):\n        pass\n"
        code, said = self.checked(red="raise Exception('✘ made up')\n", green=green)
        self.assertGreater(code, 0)
        self.assertIn("Exception: ✘ made up", said)
        self.assertNotIn("OK", said)
