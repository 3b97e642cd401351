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
                          ["run", "--watch", "--dry-run"], ["run", "--report", "-"], ["run", "--report", "."], ["list", "a", "--", "b"], ["report", "--watch"], ["init", "x"],
                          ["completion", "--x"]):
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
        self.assertEqual(self.elsewhere("completion").stderr, "", "a shell reads it in whichever folder")

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

    def test_a_shell_completes_what_may_come_next(self):
        self.cells("[axes]\nsize = ['small', 'big', '$(touch ran)']\n[[cell]]\nid = 'one'\nwhat = 'b'\nrun = 'true'\n[[cell]]\nid = 'two.five'\nwhat = 'b'\nrun = 'make x'\n")
        (self.project / "out.json").touch()
        for name in ("folder", "large one"):
            (self.project / name).mkdir()
        script = self.matrix("completion")[1]
        for line, expected in (
                ("exp", "explain"), ("--pro", "--project"), ("--project fol", "folder"), ("--project . exp", "explain"), ("run tw", "two.five"),
                ("--project . run on", "one"), ("run --project . on", "one"), ("run --fail-", "--fail-fast --fail-on-flaky"), ("run --proj", "--project"),
                ("run -l s", "smoke"), ("run one --label n", "nightly"), ("list -a si", "size=small size=big"), ("run --step ma", "make"),
                ("run --report o", "out.json"), ("report --html o", "out.json"), ("report o", "out.json"), ("list --json on", "one"),
                ("compare o", "out.json"), ("explain o", "one"), ("report --exp", "--expect"), ("list -a size = s", "small"), ("list -a size =", "small big"),
                ("list --axis = size = b", "big"), ("list --axis = si", "size=small size=big"), ("--project = . ru", "run"),
                ("list --project = fol", "folder"), ("--project = . run --report = o", "out.json"), ("--project l", "large one"),
                ("run --report=o", "--report=out.json")):
            words = ["ci/matrix", *line.split()]
            asked = f"{script}\nCOMP_WORDS=({' '.join(words)}); COMP_CWORD={len(words) - 1}; _ci_matrix; IFS=/; echo \"${{COMPREPLY[*]}}\""
            done = subprocess.run(["bash"], input=asked, capture_output=True, text=True, timeout=30, cwd=self.project)
            self.assertEqual((done.stdout, done.stderr), (expected.replace(" ", "/").replace("large/one", "large one") + "\n", ""), line)
        self.assertFalse((self.project / "ran").exists())

    def test_a_shell_goes_on_in_a_folder(self):
        self.cells("[[cell]]\nid = 'one'\nwhat = 'b'\nrun = 'true'\n")
        script = self.matrix("completion")[1]
        for words, asked in (("--project c", "-o filenames\n"), ("report c", "-o filenames\n"), ("run --report c", "-o filenames\n"), ("run o", "")):
            asking = f"{script}\ncompopt() {{ echo $@; }}\nCOMP_WORDS=(x {words}); COMP_CWORD={len(words.split())}; _ci_matrix"
            done = subprocess.run(["bash"], input=asking, capture_output=True, text=True, timeout=30, cwd=self.project)
            self.assertEqual(done.stdout, asked, words)

    def test_the_project_is_named_before_the_verb_or_behind_it(self):
        self.cells("[[cell]]\nid = 'a'\nwhat = 'b'\nrun = 'true'\n")
        done = subprocess.run([MATRIX, "list", "--project", self.project], capture_output=True, text=True, timeout=30)
        self.assertEqual((done.returncode, done.stdout.split()[0]), (0, "a"), done.stderr)
