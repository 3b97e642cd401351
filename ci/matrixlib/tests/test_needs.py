"""Tests cells that need others: here, where those that they need run before them, and as hosted jobs."""

import json

from support import PACKAGE, ProjectCase
from test_changed import ChangingCase
from workflow import parse


def cell(name, *needs, run="echo $CI_CELL >> ran", **keys):
    lines = [f"{key} = {json.dumps(value)}\n" for key, value in ({"id": name, "what": "b", "run": run, "needs": needs} | keys).items()]
    return "[[cell]]\n" + "".join(lines)


class NeedsCase(ProjectCase):
    def ran(self, *arguments, **values):
        code, said = self.matrix("run", *(arguments or ("-l", "full")), **values)
        self.said = said
        return code, said.rstrip("\n").rpartition("\n")[2]

    def order(self):
        return (self.project / "ran").read_text().split()

    def test_what_a_cell_needs_runs_before_it(self):
        self.cells(cell("a", "b") + cell("b", "c", "d") + cell("c") + cell("d", exclusive=True) + cell("e", build="a"))
        for jobs in ("1", "4"):
            (self.project / "ran").unlink(missing_ok=True)
            self.assertEqual(self.ran("-l", "full", "-j", jobs), (0, "5 passed, 0 failed, 0 skipped"), self.said)
            order = [name for name in self.order() if name != "e"]
            self.assertEqual((order[-2:], sorted(order[:2])), (["b", "a"], ["c", "d"]))
            self.assertEqual(list(self.statuses()), ["a", "b", "c", "d", "e"])
        said = self.matrix("run", "--dry-run", "-l", "full")[1]
        self.assertLess(said.index("# b: "), said.index("# a: "))
        self.assertLess(said.index("# d: "), said.index("# b: "))
        self.assertEqual([line.split()[1] for line in self.matrix("explain", "a")[1].splitlines() if "needs  " in line], ["c", "d", "b"])

    def test_two_that_share_a_build_may_need_what_needs_a_third(self):
        self.cells(cell("a") + cell("c", "b", build="a") + cell("b", "a"))
        self.assertEqual((self.ran(), self.order()), ((0, "3 passed, 0 failed, 0 skipped"), ["a", "b", "c"]))

    def test_a_cell_that_needs_one_that_failed_is_not_run(self):
        self.cells(cell("a", run="exit 1") + cell("b", "a") + cell("c", "b") + cell("d"))
        for values in ({}, {"CI": "1"}):
            self.assertEqual(self.ran(**values), (1, "1 passed, 1 failed, 2 skipped"))
            for name in ("b", "c"):
                self.assertRegex(self.said, rf"skipped +{name} +not run, because it needs a, which failed\n")
            self.assertIn("| b | skipped |  |  |  | not run, because it needs a, which failed |", self.matrix("report")[1])

    def test_a_cell_that_needs_one_that_was_skipped_is_not_run(self):
        self.cells(cell("a", requires=["command:none-such"], optional=True) + cell("b", "a"))
        self.assertEqual(self.ran(), (5, "0 passed, 0 failed, 2 skipped"))
        self.assertRegex(self.said, r"skipped +b +needs a, which was skipped: needs the command none-such\n")
        self.assertEqual(self.ran(CI="1"), (4, "0 passed, 1 failed, 1 skipped"), "as for any other requirement")
        self.assertIn("missing requirement: needs a, which was skipped: needs the command none-such", self.said)

    def test_a_cell_alone_runs_whatever_became_of_those_that_it_needs(self):
        self.cells(cell("a", run="exit 1") + cell("b", "a"))
        self.ran()
        self.assertEqual((self.ran("b"), self.order()), ((0, "1 passed, 0 failed, 0 skipped"), ["b"]))

    def test_after_a_failure_those_that_need_it_are_run_too(self):
        self.cells(cell("a", run="test -f mended") + cell("b", "a") + cell("c"))
        self.ran()
        (self.project / "mended").touch()
        self.assertEqual(self.ran("--last-failed"), (0, "2 passed, 0 failed, 0 skipped"))
        self.assertEqual(self.order(), ["c", "b"])

    def test_mistakes_are_named_with_the_key(self):
        for text, why in (
                (cell("a", "x") + cell("ab"), "cell 'a': 'needs': there is no cell 'x'; known: a, ab"),
                (cell("a", "a"), "cell 'a': 'needs' goes in a circle: a needs a"),
                (cell("z", "a") + cell("a", "b") + cell("b", "c") + cell("c", "a"), "cell 'a': 'needs' goes in a circle: a needs b needs c needs a")):
            self.cells(text)
            self.assertEqual(self.matrix("list"), (2, f"matrix: cells.toml: {why}\n"))

    def test_cells_that_need_many_others_in_many_ways_take_no_time(self):
        """Each way through these would be a matter of years, and so would be a run that looked at all pairs of a thousand."""
        layers = [[f"x{layer}-{number}" for number in range(4)] for layer in range(40)]
        self.cells("".join(cell(name, *above) for above, names in zip([[], *layers], layers) for name in names))
        self.assertEqual(self.matrix("list", "x39-*")[1].count("\n"), 4)
        self.cells("".join(cell(f"y{number}", f"y{number - 1}") for number in range(1, 1200)) + cell("y0"))
        self.assertEqual(self.matrix("list", "y1199")[0], 0)

    def test_a_glob_or_the_value_of_an_axis_names_cells(self):
        axes = '[axes]\nswift = ["6.2", "6.3"]\n'
        both = 'axes = { swift = ["6.2", "6.3"] }\n'
        self.cells(axes + cell("debug") + both + cell("docs", "debug-{swift}") + both + cell("site", "docs-*"))
        from matrixlib.cells import load
        self.assertEqual({cell.id: cell.needs for cell in load(self.project).cells}, {
            "debug-6.2": (), "debug-6.3": (), "docs-6.2": ("debug-6.2",), "docs-6.3": ("debug-6.3",),
            "site": ("debug-6.2", "docs-6.2", "debug-6.3", "docs-6.3")})


class ChangedNeedsCase(ChangingCase):
    def test_what_is_unchanged_is_run_if_what_it_needs_is(self):
        self.cells(cell("a", inputs=["A/"], run="true") + cell("b", "a", inputs=["B/"], run="true"))
        for name in ("A", "B"):
            (self.project / name).mkdir()
            (self.project / name / "x").touch()
        self.matrix("run", "*")
        self.assertEqual(self.matrix("run", "*", "--changed")[1].splitlines()[-1], "0 passed, 0 failed, 0 skipped, 2 unchanged")
        (self.project / "A/x").write_text("more")
        self.assertIn("b: unchanged", self.matrix("run", "b", "--changed", "--dry-run")[1])
        self.assertNotIn("unchanged", self.matrix("run", "*", "--changed", "--dry-run")[1])
        self.assertEqual(self.matrix("run", "*", "--changed")[1].splitlines()[-1], "2 passed, 0 failed, 0 skipped")


class HostedNeedsCase(ProjectCase):
    def planned(self):
        code, said = self.matrix("github")
        self.assertEqual(code, 0, said)
        return dict(line.split("=", 1) for line in said.splitlines())

    def test_a_job_that_needs_another_is_one_of_the_second_matrix(self):
        self.cells(cell("a") + cell("b", "a") + cell("c") + cell("d", "b", job="b"))
        names = {name: [job["job"] for job in json.loads(text)["include"]] for name, text in self.planned().items()}
        self.assertEqual(names, {"matrix": ["a", "c"], "then": ["b"]})
        self.cells(cell("a") + cell("b", "a", job="a"))
        self.assertEqual(list(self.planned()), ["matrix"])

    def test_three_jobs_in_a_row_are_refused(self):
        self.cells(cell("a") + cell("b", "a") + cell("c", "b"))
        self.assertEqual(self.matrix("github"), (2, "matrix: the hosted job 'c' needs 'b', which needs 'a': give cells of two of them the same 'job'\n"))

    def test_the_second_jobs_know_what_became_of_the_first(self):
        self.cells(cell("a", run="exit 1") + cell("b", "a") + cell("c") + cell("d", "c") + cell("e") + cell("f", "e"))
        planned = self.planned()
        jobs = parse((PACKAGE / "first/workflow.yml").read_text())["jobs"]
        self.assertEqual((jobs["then"]["needs"], jobs["report"]["needs"]), (["plan", "cells"], ["plan", "cells", "then"]))
        self.assertIn("--after before.json ", jobs["then"]["steps"][-2]["run"])
        place = lambda name: str(self.project / f"{name}.json")
        for name in "ac":  # The job of e ended before it had a result.
            self.matrix("run", name, "--report", place(name), CI="1")
        self.assertEqual(self.matrix("report", "--expect", planned["matrix"], "--json", place("before"), place("a"), place("c"))[0], 1)
        for name, status in (("b", "skipped"), ("d", "passed"), ("f", "skipped")):
            code, said = self.matrix("run", name, "--after", place("before"), "--report", place(name), CI="1")
            self.assertEqual((code, self.statuses()), (0, {name: status}), said)
        self.assertEqual(self.matrix("report", "--expect", planned["matrix"], "--expect", planned["then"], *map(place, "abcd"))[1].splitlines()[-1],
                         "2 passed, 3 failed, 1 skipped")
