"""Tests which leaks ci/tools/leaks takes for leaks, on reports as the sanitizer writes them."""

import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

from own import ROOT


def block(kind, *frames):
    """Returns a leak with its stack, the allocator first."""
    stack = "\n".join(f"    #{number} 0x5581 in {frame} (/tests+0x1)" for number, frame in enumerate(("malloc", *frames)))
    return f"{kind} leak of 48 byte(s) in 1 object(s) allocated from:\n{stack}\n"


def report(*blocks):
    return "=====\n==7==ERROR: LeakSanitizer: detected memory leaks\n\n" + "\n".join(blocks) + "\nSUMMARY: AddressSanitizer: 48 byte(s)\n"


class Leaks(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = Path(folder.name)

    def said(self, *reports):
        for number, text in enumerate(reports):
            (self.folder / f"report.{number}").write_text(text)
        done = subprocess.run([sys.executable, ROOT / "ci/tools/leaks", self.folder], capture_output=True, text=True)
        return done.returncode, done.stdout.strip(), done.stderr

    def test_none(self):
        self.assertEqual(self.said(), (0, "0 programs with something to report, 0 faults, 0 excused", ""))

    def test_of_ours(self):
        code, closing, errors = self.said(report(block("Direct", "$s4Made5leaksyyF")), report(block("Direct", "swift_once_slow")))
        self.assertEqual((code, closing), (1, "2 programs with something to report, 1 faults, 1 excused"))
        self.assertIn("report.0: ERROR: LeakSanitizer: detected memory leaks: Direct leak of 48", errors)

    def test_what_hangs_from_an_excused_one_is_excused_only_where_that_is_kept_for_good(self):
        code, closing, _ = self.said(report(block("Direct", "formWeakReference"), block("Indirect", "formWeakReference")))
        self.assertEqual((code, closing), (1, "1 programs with something to report, 1 faults, 1 excused"))
        code, closing, _ = self.said(report(block("Direct", "libXCTest"), block("Indirect", "libXCTest")))
        self.assertEqual((code, closing), (0, "1 programs with something to report, 0 faults, 2 excused"))

    def test_memory_faults(self):
        code, closing, errors = self.said("==7==ERROR: AddressSanitizer: heap-use-after-free on address 0x1\n")
        self.assertEqual((code, closing), (1, "1 programs with something to report, 1 faults, 0 excused"))
        self.assertIn("ERROR: AddressSanitizer: heap-use-after-free", errors)

    def test_a_checker_that_could_not_look_is_no_success(self):
        fatal = "==7==LeakSanitizer has encountered a fatal error.\n==7==HINT: LeakSanitizer does not work under ptrace (strace, gdb, etc)\n"
        code, closing, errors = self.said(fatal, report(block("Direct", "swift_once_slow")))
        self.assertEqual((code, closing), (1, "2 programs with something to report, 1 faults, 1 excused"))
        self.assertIn("report.0: ERROR: no leaks, but: ==7==LeakSanitizer has encountered a fatal error.", errors)

    def test_a_folder_that_is_not_there_is_no_success(self):
        self.folder /= "other"
        self.assertEqual(self.said()[0], 2)
