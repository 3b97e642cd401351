"""Tests which steps of which cells are run, and with which options."""

import shlex
import subprocess

from support import MATRIX, ProjectCase
from test_run import cell

THREE = """[[cell]]
id = "a"
what = "b"
steps = [
    { name = "one", run = "echo one {tests} >> ran", tests = "own" },
    { name = "two", run = "echo two {tests} >> ran" },
    { name = "three", run = "echo three >> ran" },
]
"""


def builds(name, what="x", then="true", timeout=60):
    """Returns a cell that builds in the folder of the cell a, and looks whether what it built is there."""
    folder = "" if name == "a" else "build = 'a'"
    return f"""[[cell]]
id = "{name}"
what = "b"
{folder}
steps = [
    {{ name = "build", kind = "build", run = "echo {what} | tee -a built > {{folder}}/last; {then}", timeout = {timeout} }},
    {{ name = "look", run = "grep {what} {{folder}}/last" }},
]
"""


class StepsCase(ProjectCase):
    def ran(self, *arguments):
        """Returns what the steps of the cell wrote."""
        file = self.project / "ran"
        file.unlink(missing_ok=True)
        code, said = self.matrix("run", "a", *arguments)
        self.assertEqual(code, 0, said)
        return file.read_text().splitlines()

    def test_several_steps_alone(self):
        self.cells(THREE)
        self.assertEqual(self.ran("--step", "three", "--step", "one"), ["one own", "three"])
        code, said = self.matrix("run", "a", "--step", "one", "--step", "tow")
        self.assertEqual((code, said), (2, "matrix: there is no step 'tow': did you mean two?; known: one, two, three\n"))

    def test_what_comes_after_two_hyphens_goes_to_the_first_step_that_chooses_tests(self):
        self.cells(THREE)
        self.assertEqual(self.ran("--", "x", "y z"), ["one x y z", "three"])
        self.assertEqual(self.ran("--step", "two", "--", "x"), ["two x"])
        self.assertEqual(self.ran("--step", "three", "--", "{x}"), ["three {x}"])

    def test_arguments_for_no_cell_in_particular_are_for_tests(self):
        formats = THREE.split("steps = [")[0].replace('id = "a"', 'id = "format"') + 'labels = ["smoke"]\nrun = "echo formatted >> ran; true"\n'
        self.cells(formats + THREE.replace('id = "a"', 'id = "a"\nlabels = ["smoke"]'))
        self.assertEqual(self.matrix("run", "--", "x")[0], 0)
        self.assertEqual((self.project / "ran").read_text().splitlines(), ["one x", "three"])

    def test_a_build_is_another_cells_only_as_long_as_it_is_the_last_in_its_folder(self):
        for between, expected in (
                (cell("b"), "x"), (builds("b"), "x"), (builds("b", "y"), "x y x"), (builds("b", "y", "exec sleep 1000", timeout=1), "x y x"),
                (cell("b", "swift build -Xswiftc -Y || :", build="a"), "x x"), (cell("b", "rm -rf .ci/cells/a"), "x x"), (cell("b", shlex.join(self.command("run", "a"))), "x x x")):
            with self.subTest(between):
                (self.project / "built").unlink(missing_ok=True)
                self.cells(builds("a") + between + builds("c"))
                _, said = self.matrix("run", "*")
                self.assertEqual((self.statuses()["c"], (self.project / "built").read_text().split()), ("passed", expected.split()), said)

    def test_a_folder_in_the_place_of_the_note_on_what_was_built(self):
        (self.project / ".ci/cells/a/built-by/x").mkdir(parents=True)
        self.cells(builds("a"))
        self.assertEqual(self.matrix("run", "a")[0], 0)

    def test_again_is_with_the_steps_before_that_build(self):
        self.cells(cell("z") + """[[cell]]
id = "a"
what = "b"
retries = 0
steps = [
    { name = "prepare", kind = "setup", run = "echo prepared >> ran" },
    { name = "build", kind = "build", run = "echo built >> ran" },
    { name = "look", run = "echo looked >> ran" },
    { name = "test", kind = "test", run = "echo tested {tests} >> ran; swift test {report} {tests}" },
    { name = "more", kind = "test", run = "echo more >> ran; swift test {report} {tests}" },
]
""")
        _, said = self.matrix("run", "*", FAKE_TESTS="one=pass two=fail")
        (again,) = {line for line in said.splitlines() if line.startswith("    again: ")}
        (self.project / "ran").unlink()
        arguments = shlex.split(again)
        self.matrix(*arguments[arguments.index("run"):], FAKE_TESTS="one=pass two=fail")
        self.assertEqual((self.project / "ran").read_text().splitlines(), ["prepared", "built", r"tested --filter ^Made\.Up/two\(\)(/|$)"])

    def test_again_is_as_it_was_asked_for(self):
        steps = '[{ name = "build", kind = "build", run = "true" }, { name = "two", run = "false {tests}" }]'
        self.cells(f'[[cell]]\nid = "a"\nwhat = "made up"\nsteps = {steps}\n' + cell("b", "true"))
        again = f"    again: {MATRIX} --project {self.project} run a"
        for arguments, words in (
                (["a", "--retries", "1", "--", "--filter", "X Y"], " --retries 1 --step build --step two -- --filter 'X Y'"),
                (["a", "--step", "two", "--timeout-factor", "2"], " --timeout-factor 2 --step two"),
                (["*", "--step", "two", "--step", "true", "--", "x"], " --step two -- x")):
            lines = self.matrix("run", *arguments)[1].splitlines()
            self.assertIn(again + words, lines)
            self.assertEqual({line for line in lines if line.startswith(again)}, {again + words}, arguments)

    def test_again_hands_what_is_for_the_tests_to_no_other_step(self):
        self.cells("""[[cell]]
id = "a"
what = "b"
steps = [{ name = "test", kind = "test", run = "swift test {report} {tests}" }, { name = "look", run = "false" }]
""")
        said = self.matrix("run", "a", "--", "--filter", "one", FAKE_TESTS="one=pass")[1]
        self.assertIn("run a --step look\n", said)

    def test_one_cell_alone_says_how_to_run_just_what_failed_again(self):
        self.cells("""[[cell]]
id = "a"
what = "b"
retries = 0
steps = [{ name = "one", run = "true" }, { name = "test", kind = "test", run = "swift test {report} {tests}" }]
""")
        said = self.matrix("run", "a", FAKE_TESTS="one=pass two=fail")[1]
        self.assertIn(r"run a --step test -- --filter '^Made\.Up/two\(\)(/|$)'" + "\n", said)

    def test_where_nothing_failed_no_step_is_unknown(self):
        self.cells(cell("a"))
        self.matrix("run", "a")
        code, said = self.matrix("run", "--last-failed", "--step", "x")
        self.assertEqual((code, said.splitlines()[0]), (5, "nothing failed when it was last run here"))

    def test_cells_are_named_on_both_sides_of_an_option(self):
        self.cells(cell("a") + cell("b") + cell("c"))
        for arguments in (("a", "-v", "b"), ("a", "-j", "2", "b"), ("*", "--fail-fast", "!c")):
            code, said = self.matrix("run", *arguments)
            self.assertEqual((code, self.statuses()), (0, {"a": "passed", "b": "passed"}), said)
        self.assertEqual(self.matrix("list", "a", "--json", "b")[1].count('"id"'), 2)

    def test_variables_of_a_cell_are_explained(self):
        self.cells("[[cell]]\nid = 'a'\nwhat = 'b'\nenv = { ONE = '{project}/x', TWO = '1' }\nsteps = [{ name = 'c', run = 'true', env = { TWO = '2' } }]\n")
        self.assertIn(f"    c: a check, 600 s at most\n      ONE={self.project}/x\n      TWO=2\n      true\n", self.matrix("explain", "a")[1])

    def test_what_is_printed_is_what_would_run_and_what_would_not_says_so(self):
        subprocess.run(["git", "init", "-q"], cwd=self.project, check=True)
        self.cells(cell("a") + cell("b", requires=["command:none-such"]))
        self.matrix("run", "a")
        said = self.matrix("run", "*", "--dry-run", "--changed")[1]
        self.assertIn("matrix: a: unchanged since it passed\n", said)
        self.assertNotIn("# a: made up\n", said)
        self.assertIn("# b: made up\n# would be skipped here: needs the command none-such\n", said)
        self.assertIn("# a: made up\n", self.matrix("run", "a", "--dry-run")[1])

    def test_what_is_the_shells_stays_the_shells(self):
        self.cells("[[cell]]\nid = 'a'\nwhat = 'b'\nenv = { X = '${project} {project}' }\n"
                   "run = 'folder=mine; tests=no; echo \"$X ${folder} ${tests:-x}\" {folder} >> ran'\n")
        self.assertEqual(self.ran(), [f"${{project}} {self.project} mine no {self.project}/.ci/cells/a"])
        self.cells("[[cell]]\nid = 'a'\nwhat = 'b'\nrun = 'tests=x; echo ${tests} >> ran'\n")
        self.assertEqual(self.ran("--", "y"), ["x y"], "it chooses no tests")
