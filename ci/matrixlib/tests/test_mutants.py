"""Tests where ci/tools/mutants puts its mutants, and how it judges a run, with a made-up layer and a made-up test program."""

import shutil
import subprocess
import sys
import unittest

from support import LIMIT, ROOT, ProjectCase

NEEDS_SWIFT = unittest.skipUnless(shutil.which("swiftc"), "parses Swift")

SOURCE = "func f(_ a: Int) -> Bool {\n    let b = a < 2\n    g(a)\n    return b\n}\n"

LIST = """
[[mutant]]
what = "two is less than two"
file = "Support/F.swift"
old = "a < 2"
new = "a <= 2"
kind = "expression"
tests = "FTests"

[[mutant]]
what = "three is less than two"
file = "Support/F.swift"
old = "a < 2"
new = "a < 4"
kind = "expression"
tests = "FTests"

[[mutant]]
what = "g is not called"
file = "Support/F.swift"
within = "2\\n    g(a)"
old = "g(a)"
new = ""
kind = "statement"
tests = "FTests"
"""

SWITCHED = (
    "func f(_ a: Int) -> Bool {\n    let b = (mutant(2) ? (a < 4) : ((mutant(1) ? (a <= 2) : (a < 2))))\n"
    "    if mutant(3) {\n\n} else {\ng(a)\n}\n    return b\n}\n")

# Stands in for the test program that is built; the file beside it says which mutants no test sees.
PROGRAM = """#!{python}
import os, pathlib, sys
number = os.environ["MUTANT"]
unseen = pathlib.Path(__file__).with_name("unseen").read_text().split()
if number != "0" and number not in unseen:
    print("Test f() recorded an issue at F.swift:1", flush=True)
    sys.exit(1)
print("Test run with 1 test in 1 suite passed")
"""


class Mutants(ProjectCase):
    def setUp(self):
        super().setUp()
        subprocess.run(["git", "init", "-q"], cwd=self.project, check=True)
        self.copied("ci/tools/mutants")
        self.write("Sources/PusherChannels/Support/F.swift", SOURCE)
        self.write("Tests/Mutants/Support.toml", LIST)
        self.program("swift", f'#!/bin/sh\necho "{self.programs}"\n')
        self.program("aPackageTests.xctest", PROGRAM.format(python=sys.executable))
        self.unseen()

    def write(self, path, text):
        file = self.project / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text)

    def unseen(self, *numbers):
        (self.programs / "unseen").write_text(" ".join(map(str, numbers)))

    def mutants(self, *arguments):
        """Returns the exit code and the output of ci/tools/mutants."""
        done = subprocess.run(
            [sys.executable, self.project / "ci/tools/mutants", *arguments], env=self.environment(), stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, timeout=LIMIT)
        return done.returncode, done.stdout

    def test_all_are_in_one_build(self):
        self.assertEqual(self.mutants("--build-only")[0], 0)
        self.assertEqual((self.project / ".build-mutants/Sources/PusherChannels/Support/F.swift").read_text(), SWITCHED)
        self.assertIn("func mutant(", (self.project / ".build-mutants/Sources/PusherChannels/Support/Mutant.swift").read_text())

    def test_all_are_killed(self):
        code, said = self.mutants()
        self.assertEqual(code, 0, said)
        self.assertIn("3 killed, 0 timed out, 0 survived, 0 excused", said)

    def test_one_survives(self):
        self.unseen(2)
        code, said = self.mutants()
        self.assertEqual(code, 1, said)
        self.assertIn("-    let b = a < 2\n+    let b = a < 4\n", said)
        self.assertIn("66.7% are killed", said)
        self.assertEqual(self.mutants("--only", "1")[0], 0)

    def test_an_excuse_holds_until_a_test_sees_it(self):
        self.write("Tests/Mutants/Support.toml", LIST + 'excuse = "g does nothing"\n')
        self.unseen(3)
        code, said = self.mutants()
        self.assertEqual(code, 0, said)
        self.assertIn("2 killed, 0 timed out, 0 survived, 1 excused", said)
        self.unseen()
        code, said = self.mutants()
        self.assertEqual(code, 1, said)
        self.assertIn("needs no excuse", said)

    def test_what_is_wrong_with_a_list(self):
        for old, new, problem in (
            ('old = "a < 2"\nnew = "a <= 2"', 'old = "a < 3"\nnew = "a <= 2"', "is there 0 times instead of once"),
            ('old = "a < 2"\nnew = "a <= 2"', 'old = "a"\nnew = "b"', "is there 3 times instead of once"),
            ('old = "a < 2"\nnew = "a <= 2"', 'old = "b = a < 2"\nnew = "b = true"', "overlaps with another"),
            ("F.swift", "G.swift", "there is no file"),
            ('kind = "statement"', 'kind = "sentence"', "is a sentence"),
            ('within = "2\\n    g(a)"\nold = "g(a)"', 'old = "let b = a < 2"', "means something else"),
            ('what = "g is not called"', 'who = "g"', "unexpected keyword argument 'who'"),
        ):
            with self.subTest(problem):
                self.write("Tests/Mutants/Support.toml", LIST.replace(old, new))
                code, said = self.mutants()
                self.assertEqual(code, 1, said)
                self.assertIn(problem, said)

    @NEEDS_SWIFT
    def test_a_part_cannot_be_switched(self):
        self.assertEqual(self.mutants("places"), (0, ""))
        for old, new in (('"a < 2"', '"= a < 2"'), ('"g(a)"', '"g("')):
            with self.subTest(new):
                self.write("Tests/Mutants/Support.toml", LIST.replace(f"old = {old}", f"old = {new}"))
                code, said = self.mutants("places")
                self.assertEqual(code, 1, said)
                self.assertIn("Sources/PusherChannels/Support/F.swift:", said)
                self.assertIn("only a part", said)


class Lists(unittest.TestCase):
    @NEEDS_SWIFT
    def test_each_mutant_has_its_place(self):
        done = subprocess.run(
            [sys.executable, ROOT / "ci/tools/mutants", "places"], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT, text=True, timeout=LIMIT)
        self.assertEqual(done.returncode, 0, done.stdout)
