"""Tests the jobs of hosted runners, the workflow that `init` writes for them, and what reads workflows in these tests."""

import json
import re

from support import PACKAGE, ProjectCase
from workflow import parse

WORKFLOW = PACKAGE / "first/workflow.yml"


class HostedCase(ProjectCase):
    def test_a_job_has_time_for_its_steps(self):
        self.cells('[[cell]]\nid = "a"\nwhat = "b"\nrun = "true"\ntimeout = 1200\n[[cell]]\nid = "c"\nwhat = "d"\nrun = "true"\njob = "a"\ntimeout = 600\n')
        _, said = self.matrix("github")
        self.assertEqual(json.loads(said.partition("=")[2])["include"][0]["minutes"], 40)

    def test_a_job_has_time_for_retries_and_for_one_build(self):
        build = '{ run = "build", kind = "build", timeout = 600 }'
        self.cells(f'[[cell]]\nid = "a"\nwhat = "b"\nsteps = [{build}, {{ run = "test {{report}}", timeout = 60 }}]\nretries = 3\n'
                   f'[[cell]]\nid = "c"\nwhat = "d"\nbuild = "a"\nsteps = [{build.replace("600", "60")}, {{ run = "true", timeout = 120 }}]\n')
        _, said = self.matrix("github")
        self.assertEqual(json.loads(said.partition("=")[2])["include"][0]["minutes"], 10 + 10 + 5 + 2)

    def test_the_last_job_runs_in_a_run_that_is_canceled(self):
        """A merge that waits for this job would take a skipped one for one that passed."""
        self.assertEqual(parse(WORKFLOW.read_text())["jobs"]["report"]["if"], "${{ always() }}")

    def test_actions_are_pinned(self):
        for file in (WORKFLOW, PACKAGE / "action.yml"):
            for line in file.read_text().splitlines():
                if re.match(r" *-? *uses:", line):
                    self.assertRegex(line, r"uses: [\w/.-]+@[0-9a-f]{40} # v\d+\.\d+\.\d+$")

    def test_a_job_may_use_the_action_twice_if_it_names_what_each_leaves(self):
        """No two artifacts of a run may have the same name, and one that isn't named has that of the job."""
        action = parse((PACKAGE / "action.yml").read_text())
        self.assertEqual(action["inputs"]["artifact"]["default"], "")
        (name,) = [step["with"]["name"] for step in action["runs"]["steps"] if "upload-artifact" in step.get("uses", "")]
        self.assertEqual(name, "${{ inputs.artifact || format('results-{0}-{1}', github.job, strategy.job-index) }}")

    def test_a_clone_is_shallow_unless_a_cell_needs_tags(self):
        self.cells('[[cell]]\nid = "a"\nwhat = "b"\nrun = "true"\n[[cell]]\nid = "c"\nwhat = "d"\nrun = "true"\nrequires = ["git-tag"]\n')
        self.assertEqual([job["depth"] for job in json.loads(self.matrix("github")[1].partition("=")[2])["include"]], [1, 0])


class YAMLCase(ProjectCase):
    def test_the_part_of_yaml_that_is_understood(self):
        text = 'a: 1 # x\n"b": \'x: y\'\nc:\n  - d: e\n    f: |\n      one\n        two\n\n      three\n  - [g, "h"]\ni: {}\n'
        self.assertEqual(parse(text), {"a": "1", "b": "x: y", "c": [{"d": "e", "f": "one\n  two\n\nthree\n"}, ["g", "h"]], "i": {}})

    def test_what_is_no_yaml_is_refused(self):
        for text in ("a: b\n c: d\n", "a:\n\tb: c\n", "a: b: c\n", "a: 1\na: 2\n", "a: [b\n", "- a\nb: c\n", "a: 'b\n", "just words\n"):
            with self.assertRaises(ValueError, msg=text):
                parse(text)
