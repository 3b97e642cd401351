"""Tests the one file matrix.pyz: alone in a folder beside a package, it does it all."""

import os
import subprocess
import sys
import unittest
import zipfile

from support import LIMIT, MATRIX, PACKAGE, ProjectCase, last_line


class ArchiveCase(ProjectCase):
    def setUp(self):
        super().setUp()
        from matrixlib.archive import packed, write
        self.file = self.project / "apart/matrix.pyz"
        write(self.file, packed())
        (self.project / "Package.swift").touch()
        (self.project / "ci").rmdir()

    def called(self, *command, cwd=None, **values):
        done = subprocess.run([*map(str, command)], cwd=cwd or self.project, env=self.environment(**values), stdin=subprocess.DEVNULL,
                              capture_output=True, text=True, timeout=LIMIT)
        self.assertEqual(done.stderr, "")
        return done.returncode, done.stdout

    def test_it_begins_a_package_and_its_copy_runs_it(self):
        code, said = self.called(self.file, "init")
        self.assertEqual((code, last_line(said)), (0, f"next: {self.project}/ci/matrix.pyz run"), said)
        copy = self.project / "ci/matrix.pyz"
        self.assertEqual(copy.read_bytes(), self.file.read_bytes())
        self.file.unlink()
        for command in ([copy], [sys.executable, copy], [sys.executable, "-P", copy]):
            code, said = self.called(*command, "run", FAKE_TESTS="one=pass two=fail")
            self.assertEqual((code, last_line(said)), (1, "0 passed, 1 failed, 0 skipped"), said)
            self.assertIn("    again: ci/matrix.pyz run debug --step build --step test -- --filter ", said)
        self.assertEqual(self.called(copy, "report", "--html", "page.html")[0], 0)
        self.assertEqual(self.called(copy, "init")[1].splitlines()[-1], "next: ci/matrix.pyz run")

    def test_what_a_step_leaves_is_ended_from_inside_the_archive(self):
        self.called(self.file, "init")
        (self.project / "ci/cells.toml").write_text("[[cell]]\nid = 'a'\nwhat = 'b'\nrun = 'sleep 1000 & echo $! > pid'\n")
        self.assertIn("left processes behind, which were ended: sleep\n", self.called(self.file, "run", "a")[1])
        self.assert_ended(int((self.project / "pid").read_text()))

    def test_it_works_on_the_nearest_package_with_cells(self):
        self.called(self.file, "init")
        (self.project / "deep/down").mkdir(parents=True)
        self.assertEqual(self.called(self.file, "list", cwd=self.project / "deep/down")[1].split()[0], "debug")

    def test_the_same_sources_are_the_same_bytes_without_tests(self):
        from matrixlib.archive import packed
        self.assertEqual(packed(), packed())
        names = zipfile.ZipFile(self.file).namelist()
        self.assertEqual([name for name in names if "test" in name], ["matrixlib/testlog.py"])
        self.assertLess(self.file.stat().st_size, 90_000)

    def test_a_python_that_looks_nowhere_by_itself_runs_it_and_the_program_beside_its_sources(self):
        for program in (self.file, MATRIX):
            self.assertEqual(self.called(program, "--version", PYTHONSAFEPATH="1"), self.called(program, "--version"))

    def test_each_key_of_the_cells_is_in_the_page(self):
        from matrixlib import requirements
        from matrixlib.cells import OF_CELL, OF_FILE, OF_RUNNER, OF_STEP, OF_VALUES, PLACEHOLDERS, STEP_KINDS
        page = (PACKAGE / "README.md").read_text()
        for name in [*OF_FILE, *OF_CELL, *OF_RUNNER, *OF_STEP, *requirements.KINDS, *STEP_KINDS, *(f"{{{name}}}" for name in PLACEHOLDERS | OF_VALUES)]:
            self.assertIn(f"`{name}", page)

    def test_the_changelog_has_this_version(self):
        from matrixlib import __version__
        self.assertIn(f"## {__version__}\n", (PACKAGE / "CHANGELOG.md").read_text())


@unittest.skipUnless(os.environ.get("PIP"), "set PIP to install it, which needs a registry for its builder")
class InstalledCase(ProjectCase):
    def test_pip_installs_a_program(self):
        import venv
        venv.create(self.project / "venv", with_pip=True)
        subprocess.run([self.project / "venv/bin/pip", "install", "-q", PACKAGE], check=True)
        (self.project / "Package.swift").touch()
        for words in (["--version"], ["init"], ["list"]):
            subprocess.run([self.project / "venv/bin/swift-cells", *words], cwd=self.project, check=True, env=self.environment(), stdout=subprocess.DEVNULL)
        self.assertTrue((self.project / "ci/matrix.pyz").exists())
