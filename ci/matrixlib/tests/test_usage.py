"""Tests the command line: a mistake shows the usage of the verb that was misused."""

import contextlib
import io
import subprocess

from support import MATRIX, ProjectCase


class UsageCase(ProjectCase):
    def said(self, *arguments):
        from matrixlib.cli import main
        said = io.StringIO()
        with contextlib.redirect_stderr(said), self.assertRaises(SystemExit) as ended:
            main(["--project", str(self.project), *arguments])
        self.assertEqual(ended.exception.code, 2)
        return said.getvalue()

    def test_it_is_that_of_the_verb(self):
        for arguments in (["run", "--fail-fas", "--x"], ["run", "--jobs", "0"], ["explain"], ["explain", "a", "b"], ["compare", "1"],
                          ["run", "--watch", "--dry-run"], ["run", "--report", "-"], ["run", "--report", "."], ["list", "a", "--", "b"], ["report", "--watch"], ["init", "x"]):
            said = self.said(*arguments)
            self.assertTrue(said.startswith("usage: ci/matrix ") and f" {arguments[0]} " in said.splitlines()[0], said)
            self.assertIn(f"ci/matrix {arguments[0]}: error: ", said)

    def elsewhere(self, *arguments):
        return subprocess.run([MATRIX, *arguments], cwd=self.project, capture_output=True, text=True, timeout=30, env=self.environment())

    def test_outside_of_the_project_it_says_which_one_it_works_on(self):
        done = self.elsewhere("list", "--json", "format")
        self.assertEqual((done.returncode, done.stderr), (0, f"matrix: works on {MATRIX.parents[1]}; --project DIR names another one\n"))
        self.cells("[[cell]]\nid = 'a'\nwhat = 'b'\nrun = 'true'\n")
        self.assertEqual(self.elsewhere("list", "--project", ".").stderr, "")

    def test_in_a_folder_that_is_gone(self):
        self.cells("[[cell]]\nid = 'a'\nwhat = 'b'\nrun = 'false'\n")
        gone = ["bash", "-c", 'mkdir gone && cd gone && rmdir ../gone && exec "$@"', "bash"]
        for command, code in (([MATRIX, "list", "format"], 0), (self.command("run", "a"), 1)):
            done = subprocess.run([*gone, *command], cwd=self.project, capture_output=True, text=True, timeout=30, env=self.environment(PYTHONPATH=""))
            self.assertEqual((done.returncode, done.stderr), (code, ""), done.stdout)
        self.assertIn(f"log: {self.project}/.ci/logs/a/false.log", done.stdout)

    def test_a_project_that_is_a_link_to_itself(self):
        (self.project / "loop").symlink_to("loop")
        for verb in ("list", "run", "init", "report"):
            code, said = self.matrix(verb, "--project", str(self.project / "loop"))
            self.assertEqual((code, said.count("\n")), (2, 1), said)

    def test_init_asks_for_the_project(self):
        done = self.elsewhere("init")
        self.assertEqual((done.returncode, done.stderr), (2, f"matrix: init writes into the package that --project names: {MATRIX} --project . init\n"))

    def test_the_project_is_named_before_the_verb_or_behind_it(self):
        self.cells("[[cell]]\nid = 'a'\nwhat = 'b'\nrun = 'true'\n")
        done = subprocess.run([MATRIX, "list", "--project", self.project], capture_output=True, text=True, timeout=30)
        self.assertEqual((done.returncode, done.stdout.split()[0]), (0, "a"), done.stderr)
