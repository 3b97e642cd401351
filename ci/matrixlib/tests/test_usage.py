"""What a mistake on the command line says: the usage of the verb that was misused."""

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
                          ["list", "a", "--", "b"], ["report", "--watch"], ["init", "x"], ["completion", "--x"]):
            said = self.said(*arguments)
            self.assertTrue(said.startswith("usage: ci/matrix ") and f" {arguments[0]} " in said.splitlines()[0], said)
            self.assertIn(f"ci/matrix {arguments[0]}: error: ", said)

    def test_the_project_is_named_before_the_verb_or_behind_it(self):
        self.cells("[[cell]]\nid = 'a'\nwhat = 'b'\nrun = 'true'\n")
        done = subprocess.run([MATRIX, "list", "--project", self.project], capture_output=True, text=True, timeout=30)
        self.assertEqual((done.returncode, done.stdout.split()[0]), (0, "a"), done.stderr)
