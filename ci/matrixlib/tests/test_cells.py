"""Tests what cells.toml may contain, and which cells are selected."""

import resource
import subprocess
import sys

from support import MATRIX, PACKAGE, ProjectCase, environment

TWO = """
[axes]
language = ["6", "5"]
[[cell]]
id = "one"
what = "first"
labels = ["smoke"]
run = "true"
[[cell]]
id = "two.five"
what = "second"
axes = { language = "5" }
run = "true"
"""


class CellsCase(ProjectCase):
    def refused(self, text, why):
        self.cells(text)
        code, said = self.matrix("list")
        self.assertEqual(code, 2, said)
        self.assertEqual(said, f"matrix: cells.toml: {why}\n")

    def test_mistakes_are_named_with_the_place(self):
        cell = '[[cell]]\nid = "a"\nwhat = "b"\n'
        self.refused(cell + 'run = "true"\nlable = "x"', "cell 'a': there is no key 'lable': did you mean labels?; known: axes, build, env, exclude, exclusive, flags, id, inputs, "
                     "job, labels, needs, optional, requires, retries, run, runner, shards, steps, timeout, what")
        self.refused(cell, "cell 'a': needs either 'run' or 'steps'")
        self.refused(cell + 'run = "true"\nsteps = ["build"]', "cell 'a': has both 'run' and 'steps'")
        self.refused(cell + 'run = "true"\nenv = { A = "1", B = 2 }', "cell 'a': the value of 'B' in 'env' is not a string")
        self.refused(cell + 'steps = ["biuld"]', "cell 'a': there is no step 'biuld'; known: ; a command of one word: { run = \"biuld\" }")
        self.refused(cell + 'steps = ["echo {nope}"]', "cell 'a': there is no placeholder {nope}; known: {flags}, {folder}, {report}, {tests}; "
                     "braces of the shell's have a space or a $")
        self.refused(cell + 'steps = ["swift build", "swift test"]', "cell 'a': two steps are called 'swift': { name = \"…\", run = \"…\" } gives one a name")
        self.refused(cell + 'run = "true"\nenv = { PATH = "{project}/bin:$PATH" }',
                     "cell 'a': 'PATH' is taken as it stands, and $PATH in it is no variable's value: export it in the command")
        self.refused(cell + 'run = "true"\nenv = { TMPDIR = "/x", CI_CELL = "y" }', "cell 'a': 'CI_CELL' is set by the matrix")
        self.refused(cell + 'run = "true"\nlabels = ["fast"]', "cell 'a': there is no label 'fast'; known: smoke, full, nightly")
        self.refused(cell + 'run = "true"\naxes = { x = "1" }', "cell 'a': there is no axis 'x'; known: ")
        self.refused('[axes]\ny = ["1", "2"]\n' + cell + 'run = "true"\naxes = { y = "3" }', "cell 'a': there is no value of the axis 'y' called '3'; known: 1, 2")
        self.refused('[axes]\ny = ["1", "2"]\nz = ["3"]\n' + cell + 'run = "true"\naxes = { y = ["1", "2"], z = [] }\nexclude = [{ z = "3" }]',
                     "cell 'a': there is no value of the axis 'z' called '[]'; known: 3")
        self.refused(cell + 'run = "true"\nrunner = "mac"', "cell 'a': there is no runner 'mac'; known: linux")
        self.refused(cell + 'run = "true"\nbuild = "z"', "cell 'a': there is no cell 'z' with a build folder of its own")
        self.refused(cell + 'run = "true"\ntimeout = 1.5', "cell 'a': 'timeout' is not a whole number: write timeout = 5")
        self.refused(cell + 'steps = [{ run = 5 }]', "cell 'a': 'run' is not a text: write run = \"…\"")
        self.refused(cell + 'run = "true"\n' + cell + 'run = "true"', "cell 'a': stands there twice")
        self.refused(cell + 'steps = [{ run = "true", name = "../x" }]', "cell 'a': '../x' is no name of a step: it is one of a file, too")
        self.refused(cell + 'run = "true"\nrequires = ["rot"]',
                     "cell 'a': there is no requirement 'rot': did you mean root?; known: apt, command, debian-mirror, docker, git-tag, linux, machine, macos, namespaces, root, "
                     "setup, simulator, swift, swift-apart, swift-sdk")

    def test_what_is_required_has_no_line_break(self):
        self.refused(r'''cell = [{ id = "a", what = "b", run = "true", requires = ["command:x\ntouch ran"] }]''',
                     "cell 'a': the requirement 'command' has a line break in its name: it is said in one line")

    def test_what_a_value_of_an_axis_requires(self):
        axes, cells = '[axes]\nsize = ["small", "big"]\n', TWO.partition("[[cell]]")[2]
        for text, why in (('[requires.color]\nred = []', "requires: there is no key 'color'; known: size"),
                          ('[requires.size]\nred = []', "requires.size: there is no key 'red'; known: big, small"),
                          ('[requires.size]\nbig = ["rot"]', "requires.size: 'big': there is no requirement 'rot': did you mean root?; known: apt"),
                          ('[requires.size]\nbig = "root"', "requires.size: 'big' is not a list: write big = [\"…\"]")):
            self.cells(f"{axes}{text}\n[[cell]]{cells}")
            code, said = self.matrix("list")
            self.assertEqual(code, 2, said)
            self.assertIn(f"matrix: cells.toml: {why}", said)
        self.cells(f'{axes}[requires.size]\nsmall = ["command:none-such"]\nbig = ["command:sh"]\n'
                   '[[cell]]\nid = "a"\nwhat = "b"\nrun = "true"\nrequires = ["command:sh", "command:bash"]\n'
                   '[[cell]]\nid = "c"\nwhat = "d"\nrun = "true"\naxes = { size = "big" }\nrequires = ["command:sh", "command:bash"]\n')
        self.assertIn("[skipped here: needs the command none-such]", self.matrix("list", "a")[1])
        said = self.matrix("explain", "c")[1]
        self.assertEqual([line.split()[1] for line in said.splitlines() if "requires" in line], ["command:sh:", "command:bash:"])

    def test_tables_that_are_none_and_values_that_say_nothing(self):
        cell = '[[cell]]\nid = "a"\nwhat = "b"\n'
        self.refused(cell + "steps = []", "cell 'a': 'steps' is empty")
        self.refused(cell + 'run = " "', "cell 'a': 'run' is empty")
        self.refused(cell + 'run = "true"\nlabels = []', "cell 'a': 'labels' is empty")
        self.refused(cell + 'run = "true"\ntimeout = 0', "cell 'a': 'timeout' is less than 1")
        self.refused(cell + 'run = "true"\nretries = -1', "cell 'a': 'retries' is less than 0")
        self.refused(cell + 'run = "true"\nrequires = ["command"]', "cell 'a': the requirement 'command' needs a name: command:X")
        for requirement in ("root:x", "root:"):
            self.refused(cell + f'run = "true"\nrequires = ["{requirement}"]', "cell 'a': the requirement 'root' has no name")
        self.refused('[[cell]]\nid = "a"\nwhat = "b\\ntouch x"\nrun = "true"', "cell 'a': 'what' has a line break: it is said in one line")
        self.refused("cell = [3]", "a cell: is not a table")
        self.refused("[step]\nbuild = 3", "step 'build': is not a table")
        self.refused("[runner]\nlinux = 3", "runner 'linux': is not a table")
        self.refused('[runner.linux]\nruns_on = "x"', "runner 'linux': there is no key 'runs_on': did you mean runs-on?; known: container, runs-on")
        self.refused("", "top level: has no [[cell]]")

    def test_a_file_that_cannot_be_read(self):
        file = self.project / "ci/cells.toml"
        file.write_bytes(b"# \xff")
        self.assertEqual(self.matrix("list"), (2, "matrix: cells.toml: is not UTF-8\n"))
        file.unlink()
        file.mkdir()
        self.assertEqual(self.matrix("list"), (2, f"matrix: {file}: Is a directory\n"))

    def test_toml_that_is_none(self):
        self.cells("[[cell")
        code, said = self.matrix("list")
        self.assertEqual((code, said.count("\n")), (2, 1), said)

    def selected(self, *arguments):
        self.cells(TWO)
        code, said = self.matrix("list", *arguments)
        return code, [line.split()[0] for line in said.splitlines() if line != "matrix: nothing is selected"]

    def test_selection(self):
        self.assertEqual(self.selected(), (0, ["one", "two.five"]))
        self.assertEqual(self.selected("two.*"), (0, ["two.five"]))
        self.assertEqual(self.selected("!one"), (0, ["two.five"]))
        self.assertEqual(self.selected("-l", "smoke"), (0, ["one"]))
        self.assertEqual(self.selected("-l", "smoke,full"), (0, ["one", "two.five"]))
        self.assertEqual(self.selected("-a", "language=5"), (0, ["two.five"]))
        self.assertEqual(self.selected("-l", "nightly"), (5, []))

    def test_what_is_unknown_is_a_mistake_and_not_an_empty_selection(self):
        self.cells(TWO)
        for *arguments, named in (
                ["three", "'three'"], ["x*", "'x*'"], ["!three", "'three'"], ["-l", "quick", "'quick'"], ["-a", "language=4", "'4'"],
                ["-a", "color=red", "no axis 'color'"], ["-a", "language", "'language' is not AXIS=VALUE"]):
            code, said = self.matrix("run", *arguments)
            self.assertEqual(code, 2, said)
            self.assertIn(named, said)

    def test_explaining_takes_a_glob(self):
        self.cells(TWO)
        self.assertIn("two.five: second\n", self.matrix("explain", "two*")[1])
        said = self.matrix("explain", "*")[1]
        self.assertTrue("one: first\n" in said and "two.five: second\n" in said, said)
        for name in ("!two", "", "x"):
            self.assertEqual(self.matrix("explain", name), (2, f"matrix: there is no cell '{name}'; known: one, two.five\n"))
        self.assertIn("did you mean one?", self.matrix("explain", "on")[1])

    def test_what_a_merge_must_pass_is_what_each_commit_must_and_more(self):
        self.cells(TWO)
        labels = {name: self.matrix("list", "-l", name)[1] for name in ("smoke", "full")}
        self.assertIn("one", labels["smoke"])
        self.assertNotIn("two.five", labels["smoke"])
        self.assertTrue("one" in labels["full"] and "two.five" in labels["full"])

    def test_what_a_command_or_a_variable_can_not_have(self):
        for line, words in (
                ("run = 'swift test {reprot}'", "there is no placeholder {reprot}; known: {flags}, {folder}, {report}, {tests}"),
                ("run = 'true'\nenv = { A = '{folder}' }", "there is no placeholder {folder}; known: {project}"),
                ("run = 'true'\nenv = { SWIFTPM_BUILD_DIR = 'x' }", "'SWIFTPM_BUILD_DIR' is set by the matrix"),
                ("steps = [{ run = 'swift test', kind = 'test' }]", "a test step needs {report}, by which swift test writes how each test went; "
                 "a step without it has kind = \"check\""),
                ("steps = [{ run = 'swift test ${report}', kind = 'test' }]", "a test step needs {report}")):
            self.cells(f"[[cell]]\nid = 'a'\nwhat = 'b'\n{line}\n")
            code, said = self.matrix("list")
            self.assertEqual(code, 2, said)
            self.assertIn(words, said)
        self.cells("[[cell]]\nid = 'a'\nwhat = 'b'\nrun = 'echo ${HOME} {1..2} { x }'\n")
        self.assertEqual(self.matrix("list")[0], 0)

    def test_what_to_write_instead_is_said(self):
        cell = '[[cell]]\nid = "a"\nwhat = "b"\nrun = "true"\n'
        self.refused(cell + 'labels = "smoke"', "cell 'a': 'labels' is not a list: write labels = [\"…\"]")
        self.refused(cell.replace("[[cell]]", "[cell]"), "top level: 'cell' is not a list: write [[cell]]")
        self.refused('[axes]\nx = ["1", "1"]\n' + cell, "axis 'x': '1' stands there twice")
        self.refused(cell + 'build = "a"', "cell 'a': 'build' names another cell, and this one builds in its own folder without it")
        self.refused(cell + '\n[[cell]]\nwhat = "c"\n', "cell 2 ([[cell]] in line 6): 'id' is missing")

    def test_a_byte_order_mark_is_none_of_its_text(self):
        (self.project / "ci/cells.toml").write_text(TWO.lstrip(), encoding="utf-8-sig")
        self.assertEqual(self.matrix("list")[0], 0)

    def test_keys_without_effect_are_refused(self):
        cell = '[[cell]]\nid = "a"\nwhat = "b"\n'
        self.refused(cell + 'run = "true"\nflags = ["-x"]', "cell 'a': 'flags' has no effect: write {flags} where a command takes them")
        self.refused(cell + 'steps = [{ run = "true", tests = "x" }]', "cell 'a': 'tests' has no effect: write {tests} where the command takes them")
        self.refused('[step.s]\nrun = "true"\ntests = "x"\n' + cell + 'steps = ["s"]', "step 's': 'tests' has no effect: write {tests} where the command takes them")
        self.cells(cell + 'run = "true"\nflags = ["-x"]\n' + cell.replace('"a"', '"c"') + 'build = "a"\nrun = "true {flags}"')
        self.assertEqual(self.matrix("list")[0], 0, "another cell has them from this one")

    def test_a_folder_without_cells_is_told_what_to_do(self):
        (self.project / "ci").rmdir()
        (self.project / "Package.swift").touch()
        for folder, words in ((self.project, f"{MATRIX} --project {self.project} init writes a first one"), (self.project / "none", "there is no such folder either")):
            code, said = self.matrix("list", "--project", str(folder))
            self.assertEqual(code, 2)
            self.assertIn(words, said)
        (self.project / "ci").mkdir()
        self.cells(TWO)
        code, said = self.matrix("list", "--project", str(self.project / "ci"))
        self.assertIn(f"the nearest is {self.project}'s: {MATRIX} --project {self.project}", said)

    def test_a_steps_own_time_out_is_nearer_than_its_cells(self):
        from matrixlib.cells import load
        self.cells("[step.build]\nrun = 'true'\ntimeout = 5\n[[cell]]\nid = 'a'\nwhat = 'b'\ntimeout = 100\n"
                   "steps = ['build', 'echo 1', { name = 'own', run = 'true', timeout = 1 }, { use = 'build', name = 'other' }]\n")
        self.assertEqual([step.timeout for step in load(self.project).cells[0].steps], [100, 100, 1, 100])

    def test_cells_of_one_hosted_job_have_one_runner(self):
        cells = "[runner.linux]\n[runner.macos]\nruns-on = 'macos-26'\n"
        for name, runner in (("a", "linux"), ("b", "macos")):
            cells += f"[[cell]]\nid = '{name}'\nwhat = 'w'\nrun = 'true'\nrunner = '{runner}'\njob = 'one'\n"
        self.cells(cells)
        code, said = self.matrix("list")
        self.assertEqual((code, said), (2, "matrix: cells.toml: cell 'a': is in one hosted job with 'b', which has another runner\n"))

    def test_without_smoke_cells_it_says_which_others_there_are(self):
        self.cells("[[cell]]\nid = 'a'\nwhat = 'b'\nrun = 'true'\n")
        code, said = self.matrix("run")
        self.assertEqual(code, 5)
        self.assertIn("no cell has the label smoke, which run alone means; by name or label: a\n", said)

    def test_without_a_word_the_smoke_cells_run(self):
        self.cells(TWO)
        code, said = self.matrix("run")
        self.assertEqual((code, self.statuses()), (0, {"one": "passed"}), said)


class ProjectsCellsCase(ProjectCase):
    """Tests of this project's own cells."""

    def test_listing_takes_less_than_a_second(self):
        """Measures CPU time, because the machine may be busy with something else."""
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        subprocess.run([sys.executable, MATRIX, "list"], check=True, stdout=subprocess.DEVNULL, env=environment())
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        self.assertLess(after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime, 1)

    def test_the_help_says_what_the_exit_codes_mean(self):
        said = subprocess.run([sys.executable, MATRIX, "--help"], check=True, capture_output=True, text=True).stdout
        for code in ("0", "1", "2", "3", "4", "5", "124", "130"):
            self.assertRegex(said, rf"(?m)^  {code} ")

    def test_an_old_python_gets_one_line(self):
        for file in (MATRIX, PACKAGE / "__init__.py", PACKAGE / "__main__.py"):
            self.assertNotRegex(file.read_text(), r'f"|match |:=', "an old Python could not read it")
        old = "import sys; sys.version_info = (3, 9); from matrixlib.__main__ import main; sys.exit(main())"
        done = subprocess.run([sys.executable, "-c", old], cwd=PACKAGE.parent, capture_output=True, text=True)
        self.assertEqual((done.returncode, done.stderr), (2, "matrix: needs Python 3.11 or newer, this is 3.9\n"))
