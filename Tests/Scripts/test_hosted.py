"""Tests the hosted workflow: every cell is in exactly one job, actions are pinned, and it runs nothing but ci/matrix."""

import json
import re
import subprocess
import sys

from own import ROOT, ProjectCase, own_cell
from support import MATRIX, environment
from workflow import parse

WORKFLOWS = sorted((ROOT / ".github/workflows").glob("*.y*ml"))


def jobs(*arguments):
    said = subprocess.run([sys.executable, MATRIX, "github", *arguments], check=True, capture_output=True, text=True, env=environment()).stdout
    assert said.startswith("matrix=") and said.count("\n") == 1
    return json.loads(said.removeprefix("matrix="))["include"]


class HostedCase(ProjectCase):
    def test_every_cell_is_in_exactly_one_job(self):
        from matrixlib.cells import load
        named = [cell for job in jobs() for cell in job["cells"].split()]
        self.assertEqual(sorted(named), sorted(cell.id for cell in load(ROOT).cells))
        names = [job["job"] for job in jobs()]
        self.assertEqual(len(names), len(set(names)))

    def test_cells_of_a_job_are_of_one_runner(self):
        for job in jobs():
            self.assertEqual(len({own_cell(name).runner for name in job["cells"].split()}), 1, job["job"])

    def test_every_job_has_the_time_that_it_needs(self):
        """Hosted runners end a job after six hours; cells that need more together name jobs of their own."""
        for job in jobs("-l", "smoke,full,nightly"):
            self.assertLess(job["minutes"], 360, f"{job['job']}: {job['cells']}")

    def test_workflows_are_yaml_and_run_nothing_but_the_matrix(self):
        self.assertTrue(WORKFLOWS)
        for file in WORKFLOWS:
            workflow = parse(file.read_text())
            self.assertLessEqual({"name", "jobs"}, set(workflow), file.name)
            for name, job in workflow["jobs"].items():
                for step in job["steps"]:
                    self.assertNotIn("swift ", step.get("run", ""), f"{file.name}: {name} has a command of its own")
            text = file.read_text()
            if file.name in ("documentation.yml", "matrix-release.yml"):
                continue  # They publish the site and the matrix, and have their own commands for that.
            self.assertIn("ci/matrix github", text)
            self.assertRegex(text, r"ci/matrix run .*\$\{\{ matrix\.cells \}\}|ci/matrix run .*\$CELLS")

    def test_a_cell_that_fails_fails_the_workflow(self):
        """An optional cell may be skipped if a requirement is missing, but not fail unnoticed."""
        for file in WORKFLOWS:
            for name, job in parse(file.read_text())["jobs"].items():
                for part in (job, *job["steps"]):
                    self.assertNotIn("continue-on-error", part, f"{file.name}: {name}")

    def test_the_last_job_runs_in_a_run_that_is_canceled(self):
        """A merge that waits for this job would take a skipped one for one that passed."""
        self.assertEqual(parse((ROOT / ".github/workflows/ci.yml").read_text())["jobs"]["report"]["if"], "${{ always() }}")

    def test_every_cell_is_asked_for_by_the_workflow(self):
        """The labels that it chooses by event cover all cells."""
        text = "".join(file.read_text() for file in WORKFLOWS)
        labels = {label for found in re.findall(r"smoke,full(?:,nightly)?", text) for label in found.split(",")}
        self.assertEqual(labels, {"smoke", "full", "nightly"})

    def test_actions_are_pinned(self):
        for file in WORKFLOWS:
            for line in file.read_text().splitlines():
                if "uses:" in line:
                    self.assertRegex(line, r"uses: [\w/.-]+@[0-9a-f]{40} # v\d+\.\d+\.\d+$")

    def test_pull_requests_can_write_nothing(self):
        for file in WORKFLOWS:
            self.assertEqual(parse(file.read_text())["permissions"], {"contents": "read"})

    def test_pyyaml_agrees_where_it_is_there(self):
        try:
            import yaml
        except ImportError:
            self.skipTest("PyYAML is not there")
        for file in WORKFLOWS:
            self.assertEqual(parse(file.read_text()), yaml.load(file.read_text(), yaml.BaseLoader))
