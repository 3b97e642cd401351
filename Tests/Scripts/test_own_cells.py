"""Tests this project's cells: what holds for each, and that they are those of its scripts and pages."""

import os
import re
import tomllib
import unittest.mock

from own import ROOT, ProjectCase, own_cell


class OwnCellsCase(ProjectCase):
    def test_the_groups_of_tests_are_those_of_ci_test(self):
        script = (ROOT / "ci/test").read_text()
        sockets = next(line for line in script.splitlines() if line.startswith("sockets="))[len("sockets="):]
        self.assertEqual([step.tests for step in own_cell("debug").steps], ["", f"--skip {sockets}", f"--filter {sockets}"])

    def test_the_options_of_sanitizers_hold_wherever_the_project_lies(self):
        """Reads them as sanitizers do: separated by spaces, commas or colons, which may also be in a quoted value."""
        from matrixlib.cells import load
        from matrixlib.shell import Places, own
        found = {(name, value) for cell in load(ROOT).cells for step in cell.steps
                 for name, value in own(Places("/made up:it is, here"), cell.env | step.env).items() if name.endswith("SAN_OPTIONS")}
        self.assertEqual({name for name, _ in found}, {"ASAN_OPTIONS"})
        for name, value in found:
            self.assertRegex(value, r"""^(\w+=('[^']*'|[^\s,:'"]*)($|[\s,:]))+$""", name)

    def test_what_a_retry_would_leave_is_not_measured(self):
        from matrixlib.cells import load
        self.assertEqual({cell.id: cell.retries for cell in load(ROOT).cells if "--enable-code-coverage" in cell.flags}, {"coverage": 0})

    def reasons(self, system, **values):
        """Returns why each cell can't run on a system, as pairs of the cell and the reason."""
        from matrixlib import requirements
        from matrixlib.cells import load
        self.addCleanup(requirements.forget)
        requirements.forget()
        with unittest.mock.patch.dict(os.environ, self.environment(**values)), unittest.mock.patch("platform.system", return_value=system):
            return [(cell, requirements.missing_of(cell, str(ROOT))) for cell in load(ROOT).cells]

    def test_on_another_system_nothing_runs_in_the_place_of_linux(self):
        for cell, reason in self.reasons("Darwin"):
            if cell.axes["platform"] == "linux":
                self.assertEqual(reason, "needs Linux, this is Darwin", cell.id)

    def test_without_swift_what_builds_is_skipped(self):
        for cell, reason in self.reasons("Linux", PATH="/none"):
            if any("swift" in step.run for step in cell.steps) or cell.axes["platform"] == "linux":
                self.assertRegex(reason, "needs (the command swift|macOS)", cell.id)

    def test_without_what_ci_setup_installs_what_builds_on_linux_is_skipped(self):
        self.packages("true", "curl", "python3")
        expected = "needs what ci/setup installs (libwebsockets-dev, libsodium-dev, libssl-dev, pkg-config, openssl, procps, valgrind); --install gets it"
        for cell, reason in self.reasons("Linux"):
            if cell.axes["platform"] == "linux":
                self.assertEqual(reason, expected, cell.id)

    def test_the_three_lines_of_contributing_are_a_cell(self):
        example = (ROOT / "CONTRIBUTING.md").read_text().partition("```toml\n")[2].partition("```")[0]
        self.assertEqual(example.count("\n"), 4)
        self.cells(example)
        code, said = self.matrix("list")
        self.assertEqual((code, said.split()[1]), (0, "full"), said)

    def test_every_check_is_in_a_smoke_cell(self):
        from matrixlib.cells import load
        commands = [step.run.split()[0] for cell in load(ROOT).cells if "smoke" in cell.labels for step in cell.steps]
        for check in (ROOT / "ci/checks").iterdir():
            self.assertEqual(commands.count(f"ci/checks/{check.name}"), 1, check.name)

    def test_scripts_that_are_named_are_there(self):
        for file in ("ci/cells.toml", "ci/test", "README.md", "CONTRIBUTING.md", *(str(page.relative_to(ROOT)) for page in ROOT.glob(".github/*/*"))):
            for name in set(re.findall(r"(?<![\w.])ci/[\w/-]+(?:\.\w+)?", (ROOT / file).read_text())):
                self.assertTrue((ROOT / name).exists(), f"{file}: {name}")

    def test_the_page_keeps_what_the_first_cells_require(self):
        page = (ROOT / "TestSupport/TestSupport.docc/TestingInCI.md").read_text()
        (shown,) = re.findall(r"```toml\n(.*?)```", page, re.DOTALL)
        self.assertIn("place of the table there", page)
        first = (ROOT / "ci/matrixlib/first/cells.toml").read_text()
        table = re.search(r"\[requires\.configuration\]\n(.+\n)+", first)[0]
        for value, needs in tomllib.loads(table)["requires"]["configuration"].items():
            self.assertEqual(tomllib.loads(shown)["requires"]["configuration"][value][:len(needs)], needs)
        self.cells(first.replace(table, shown))
        self.assertEqual(self.matrix("list")[0], 0)
