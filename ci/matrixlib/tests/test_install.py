"""Tests how packages are installed: no service starts meanwhile, and nothing is left behind, however the installation ends."""

import signal
import subprocess
import sys
import unittest.mock

from support import LIMIT, MATRIX, ProjectCase, interruptible
from test_run import cell

# Uses another file that forbids services, so that the system isn't touched.
APART = """
import pathlib, sys
from matrixlib import packages
from matrixlib.cli import main
packages.POLICY = pathlib.Path(sys.argv[1])
sys.exit(main(sys.argv[2:]))
"""
# The signal comes when apt-get is running, but before this process knows that.
EARLY = """
import os, signal, subprocess, time
class Early(subprocess.Popen):
    def __init__(self, command, **options):
        super().__init__(command, **options)
        if "apt-get" in command:
            while not os.path.exists("began"):
                time.sleep(0.01)
            os.kill(os.getpid(), signal.SIGTERM)
subprocess.Popen = Early
""" + APART
# Ends as the real apt-get does: not before its current work is done.
SLOW = """
trap 'sleep 0.3; test -x policy && echo yes > policy.there; exit 100' TERM
echo $$ > began
for i in $(seq 500); do sleep 0.01; done
"""


class InstallCase(ProjectCase):
    def setUp(self):
        super().setUp()
        self.policy = self.project / "policy"
        self.cells(cell("a", requires=["apt:made-up"]))

    def packages(self, apt_get, *there):
        super().packages(apt_get, *there)
        for name in ("install", "rm"):
            (self.programs / name).unlink()

    def start_apart(self, program=APART):
        process = subprocess.Popen(
            [sys.executable, "-c", program, str(self.policy), "--project", str(self.project), "run", "a", "--install"], cwd=self.project,
            stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
            env=self.environment(PYTHONPATH=str(MATRIX.parent)), start_new_session=True, preexec_fn=interruptible)
        self.addCleanup(self.end, process)
        return process

    def test_what_ends_it_ends_apt_get_first_and_leaves_nothing(self):
        for number in (signal.SIGTERM, signal.SIGHUP):
            with self.subTest(number):
                self.packages(SLOW)
                for name in ("began", "policy.there"):
                    (self.project / name).unlink(missing_ok=True)
                process = self.start_apart()
                pid = int(self.wait_for("began"))
                self.assertEqual(self.policy.read_text(), "#!/bin/sh\nexit 101\n")
                code, said = self.interrupted(process, number)
                self.assertEqual((code, said), (130, "installing made-up\nmatrix: interrupted\n"))
                self.assertTrue((self.project / "policy.there").exists(), "services could start before apt-get had ended")
                self.assertFalse(self.policy.exists())
                self.assert_ended(pid)

    def test_what_ends_it_while_apt_get_is_being_started(self):
        self.packages(SLOW)
        process = self.start_apart(EARLY)
        said, _ = process.communicate(timeout=LIMIT)
        self.assertEqual((process.returncode, said), (130, "installing made-up\nmatrix: interrupted\n"))
        self.assertTrue((self.project / "policy.there").exists(), "services could start before apt-get had ended")
        self.assertFalse(self.policy.exists())

    def test_nothing_is_left_when_it_is_installed(self):
        self.packages("[ -x policy ] && echo installed made-up > there")
        process = self.start_apart()
        said, _ = process.communicate(timeout=30)
        self.assertEqual((process.returncode, self.policy.exists()), (0, False), said)

    def refused(self, sudo):
        """Returns the exit code and the output if root's rights are needed and not given."""
        from matrixlib import packages
        self.packages("exit 100")
        self.program("sudo", sudo)
        with unittest.mock.patch("os.geteuid", return_value=1000), unittest.mock.patch.object(packages, "POLICY", self.policy):
            return self.matrix("run", "a", "--install")

    def test_a_sudo_that_refuses(self):
        why = f"matrix: Debian packages could not be installed: {self.policy} could not be written\n"
        self.assertEqual(self.refused("#!/bin/sh\nexit 1\n"), (4, f"installing made-up\n{why}"))
        self.policy.write_text("#!/bin/sh\nexit 101\n")
        self.policy.chmod(0o755)
        why = "matrix: Debian packages could not be installed: apt-get update failed\n"
        self.assertEqual(self.refused("#!/bin/sh\nexit 1\n"), (4, f"installing made-up\n{why}"))
        self.assertTrue(self.policy.exists(), "it was there before")

    def test_a_sudo_that_refuses_only_to_remove_the_file_again(self):
        why = "matrix: Debian packages could not be installed: apt-get update failed\n"
        self.assertEqual(self.refused('#!/bin/sh\n[ "$1" != rm ] && exec "$@"\n'), (4, f"installing made-up\n{why}"))
