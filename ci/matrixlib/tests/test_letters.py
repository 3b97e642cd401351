"""Tests characters that a system or its terminal doesn't know, and bytes that aren't text: no traceback, and files are always UTF-8."""

import os
import pathlib
import subprocess

from support import LIMIT, ProjectCase
from test_run import cell

FEW = {"PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0", "LC_ALL": "C"}


class LettersCase(ProjectCase):
    def run_with_few(self, *command):
        done = subprocess.run(command, cwd=self.project, env=self.environment(**FEW), stdin=subprocess.DEVNULL, capture_output=True, timeout=LIMIT)
        self.assertNotIn(b"Traceback", done.stdout + done.stderr)
        return done

    def test_a_system_that_knows_few(self):
        (self.project / "ci/cells.toml").write_text("[[cell]]\nid = 'a'\nwhat = 'Größe ✘'\nrun = \"echo '✘ Größe'; false\"\n", encoding="utf-8")
        page = self.project / "Seite ✘.html"
        for verb, code in ((["list"], 0), (["run", "a", "-v"], 1), (["explain", "a"], 0), (["run", "--dry-run", "a"], 0), (["report"], 0),
                           (["report", "--html", page], 0), (["run", "✘"], 2)):
            done = self.run_with_few(*self.command(*verb))
            self.assertEqual(done.returncode, code, done.stdout + done.stderr)
        self.assertTrue((self.project / ".ci/logs/a/echo.log").read_text(encoding="utf-8").endswith("\n✘ Größe\n"))
        self.assertTrue(page.exists())

    def test_an_argument_that_is_no_text_gets_to_its_command(self):
        self.cells(cell("a", "printf %s"))
        done = self.run_with_few(*self.command("run", "a", "--"), b"\xff")
        self.assertEqual((done.returncode, done.stderr), (0, b""), done.stdout)
        self.assertTrue((self.project / ".ci/logs/a/printf.log").read_bytes().endswith(b"\n\xff"))

    def test_a_project_whose_name_is_no_text(self):
        self.project = pathlib.Path(os.fsdecode(bytes(self.project) + b"/\xff"))
        (self.project / "ci").mkdir(parents=True)
        self.cells(cell("a", "mkdir .ci/logs/a/metrics"))
        done = subprocess.run(
            self.command("run", "a", "--report", "report.json"), cwd=self.project, env=self.environment(GITHUB_STEP_SUMMARY=f"{self.project}/summary"),
            stdin=subprocess.DEVNULL, capture_output=True, timeout=LIMIT)
        self.assertEqual((done.returncode, done.stderr), (4, b""), done.stdout)
        self.assertIn("?/.ci/logs/a/metrics: Is a directory", (self.project / "summary").read_text())
        self.assertIn("\N{REPLACEMENT CHARACTER}/.ci/logs/a/metrics", (self.project / ".ci/results/junit.xml").read_text())
        self.assertEqual(self.run_with_few(*self.command("report", "--html", "page.html", "--junit", "junit.xml")).returncode, 0)
