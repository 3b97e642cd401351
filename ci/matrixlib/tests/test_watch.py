"""Tests that cells run again when a tracked file changes: which looks count, and what a user at a terminal sees."""

import contextlib
import io
import subprocess

from support import ProjectCase


class LooksCase(ProjectCase):
    def watched(self, looks, codes):
        """Returns the lines about changes, given what is found at each look and how each run ends; asserts that every run took place."""
        from matrixlib.watch import watch
        looks, left, said = iter(looks), list(codes), io.StringIO()
        with contextlib.redirect_stdout(said):
            code = watch("made-up", lambda: left.pop(0), lambda project: next(looks), lambda seconds: None)
        self.assertEqual((code, left), (130, []))
        return [line for line in said.getvalue().splitlines() if line.startswith("changed")]

    def test_what_is_still_being_written_is_waited_for(self):
        self.assertEqual(self.watched([{"a": 1}, {"a": 1}, {"a": 2}, {"a": 2, "b": 1}, {"a": 2, "b": 1}, {}], [0, 130]), ["changed: a, b"])

    def test_a_change_that_is_taken_back_is_none(self):
        self.assertEqual(self.watched([{"a": 1}, {"a": 2}, {"a": 1}, {"a": 1}, {}, {}, {}], [1, 130]), ["changed: a"])

    def test_what_changes_while_it_runs_counts(self):
        self.assertEqual(self.watched([{"a": 1}, {"a": 2}, {"a": 2}, {}], [0, 130]), ["changed: a"])


class WatchCase(ProjectCase):
    def tracked(self, *ignored):
        (self.project / "input").write_text("one\n")
        (self.project / ".gitignore").write_text("\n".join(["bin/", "go", *ignored]))
        for words in (["init", "-q"], ["add", "input", "ci"]):
            subprocess.run(["git", *words], cwd=self.project, check=True)

    def test_until_control_c(self):
        self.cells("[[cell]]\nid = 'a'\nwhat = 'b'\nrun = 'cat input >> ran'\n")
        self.tracked("ran", ".ci/")
        process = self.start("run", "a", "--watch")
        self.assertEqual(self.wait_for("ran"), "one\n")
        (self.project / "ran").unlink()
        (self.project / "input").write_text("three\n")
        self.assertEqual(self.wait_for("ran"), "three\n")
        (self.project / "ran").unlink()
        (self.project / "ci/cells.toml").write_text("nonsense")
        while "nonsense" not in (line := process.stdout.readline()) and "matrix: cells.toml" not in line:
            self.assertTrue(line, "it ended")
        code, said = self.interrupted(process)
        self.assertEqual(code, 130)
        self.assertNotIn("Traceback", said)

    def watching(self, text, *ignored):
        """Starts a watch that has run once, and waits; `input` is a file that counts."""
        self.cells(text)
        self.tracked(*ignored)
        process = self.start("run", "a", "--watch")
        self.wait_for_line(process, "waiting for changes")
        return process

    def wait_for_line(self, process, words):
        while words not in (line := process.stdout.readline()):
            self.assertTrue(line, "it ended")
        return line

    def test_what_runs_write_starts_none_and_a_new_file_does(self):
        process = self.watching("[[cell]]\nid = 'a'\nwhat = 'b'\nrun = 'echo >> written'\n")
        subprocess.run(["git", "add", "-f", ".ci"], cwd=self.project, check=True)
        for name in ("new", "newer"):
            (self.project / name).touch()
            self.assertEqual(self.wait_for_line(process, "changed: "), f"changed: {name}\n")
            self.wait_for_line(process, "waiting for changes")
        self.assertEqual((self.project / "written").read_text(), "\n" * 3)
        self.assertEqual(self.interrupted(process)[0], 130)

    def test_what_runs_write_starts_none_wherever_it_lies(self):
        for name in ("package", "nested"):
            (self.project / name).mkdir()
            subprocess.run(["git", "init", "-q"], cwd=self.project / name, check=True)
        (self.project / "Package.swift").write_text('.package(path: "package"), .package(path: "/")')
        process = self.watching('''[[cell]]
id = 'a'
what = 'b'
run = "echo >> ran; echo >> Package.resolved; echo >> package/written; touch nested/$(wc -l < ran); rm -f *.once; touch $(wc -l < ran).once"
''', "Package.resolved", "package/")
        for text in ("three\n", "fifteen\n"):
            (self.project / "input").write_text(text)
            self.assertEqual(self.wait_for_line(process, "changed: "), "changed: input\n")
            self.wait_for_line(process, "waiting for changes")
        self.assertEqual(self.interrupted(process)[0], 130)
        self.assertEqual((self.project / "ran").read_text(), "\n" * 3)

    def test_the_format_that_a_folder_above_the_package_has_counts_even_while_it_runs(self):
        from matrixlib.inputs import untracked
        from matrixlib.watch import stamps
        subprocess.run(["git", "init", "-q"], cwd=self.project, check=True)
        package = self.project / "package"
        package.mkdir()
        self.assertNotIn("../.swift-format", stamps(package))
        (self.project / ".swift-format").touch()
        self.assertIn("../.swift-format", stamps(package))
        self.assertNotIn("../.swift-format", untracked(package))

    def test_it_ends_when_nobody_reads_that_it_runs_again(self):
        process = self.watching("[[cell]]\nid = 'a'\nwhat = 'b'\nrun = 'true'\n")
        process.stdout.close()
        (self.project / "input").write_text("three\n")
        self.assertEqual(process.wait(30), 130)

    def test_it_ends_when_nobody_reads_what_it_ran(self):
        process = self.watching("[[cell]]\nid = 'a'\nwhat = 'b'\nrun = 'grep one input || { echo >> ran; until [ -e go ]; do sleep 0.01; done; }'\n")
        (self.project / "input").write_text("three\n")
        self.wait_for("ran")
        process.stdout.close()
        (self.project / "go").touch()
        self.assertEqual(process.wait(30), 130)

    def test_what_was_missing_may_be_there_the_next_time(self):
        process = self.watching("[[cell]]\nid = 'a'\nwhat = 'b'\nrequires = ['command:made-up']\nrun = 'true'\n")
        self.program("made-up", "#!/bin/sh\n")
        (self.project / "input").write_text("three\n")
        self.assertIn("1 passed, ", self.wait_for_line(process, " passed, "))
        self.assertEqual(self.interrupted(process)[0], 130)

    def test_without_git(self):
        self.cells("[[cell]]\nid = 'a'\nwhat = 'b'\nrun = 'true'\n")
        code, said = self.matrix("run", "a", "--watch", GIT_DIR="/nowhere")
        self.assertEqual((code, said.count("\n")), (2, 1), said)
        self.assertIn(f"git can't say that of {self.project}: fatal: not a git repository: '/nowhere'", said)
