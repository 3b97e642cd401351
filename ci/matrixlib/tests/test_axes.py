"""Tests cells that list values of axes: one for each combination, here and as hosted jobs."""

import json

from support import ProjectCase

CELLS = """
[axes]
swift = ["6.1", "6.2", "6.3"]
image = ["bookworm", "noble"]
[runner]
linux = {{ runs-on = "ubuntu-24.04", container = "swift:{{swift}}-{{image}}" }}
[[cell]]
id = "debug"
what = "b"
axes = {{ swift = ["6.2", "6.3"], image = ["bookworm", "noble"] }}
exclude = [{exclude}]
requires = ["swift:{{swift}}"]
run = "touch $CI_CELL.ran"
"""


class AxesCase(ProjectCase):
    def setUp(self):
        super().setUp()
        self.program("swift", "#!/bin/sh\necho 'Swift version 6.3.1 (swift-6.3.1-RELEASE)'\n")
        self.cells(CELLS.format(exclude="{ swift = '6.2', image = 'noble' }"))

    def test_each_combination_is_a_hosted_job_without_those_that_are_excluded(self):
        jobs = json.loads(self.matrix("github")[1].partition("=")[2])["include"]
        self.assertEqual([(job["job"], job["container"]) for job in jobs], [
            ("debug-6.2-bookworm", "swift:6.2-bookworm"), ("debug-6.3-bookworm", "swift:6.3-bookworm"), ("debug-6.3-noble", "swift:6.3-noble")])

    def test_what_is_installed_runs_here_and_the_rest_is_skipped(self):
        code, said = self.matrix("run", "-l", "full")
        self.assertEqual((code, self.statuses()), (0, {"debug-6.2-bookworm": "skipped", "debug-6.3-bookworm": "passed", "debug-6.3-noble": "passed"}))
        self.assertIn("needs Swift 6.2, this is 6.3.1", said)
        self.assertEqual(self.matrix("list", "-a", "swift=6.2")[1].split()[0], "debug-6.2-bookworm")

    def test_a_value_that_the_cell_does_not_have_is_excluded_from_nothing(self):
        for rule, words in (("{ swift = '6.1' }", "no value of the axis 'swift' in the cell called '6.1'"), ("{ other = 'x' }", "no key 'other'"), ("'x'", "is not a table")):
            self.cells(CELLS.format(exclude=rule))
            code, said = self.matrix("list")
            self.assertEqual((code, words in said), (2, True), said)

    def test_a_shared_job_has_one_image(self):
        self.cells(CELLS.format(exclude="") + "[[cell]]\nid = 'a'\nwhat = 'b'\njob = 'x'\nrun = 'true'\n[[cell]]\nid = 'c'\nwhat = 'b'\njob = 'x'\nrun = 'true'\naxes = { swift = '6.2' }\n")
        self.assertIn("which has another runner", self.matrix("list")[1])
