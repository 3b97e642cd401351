"""Tests what `ci/matrix init` writes for a package, and that it is brought up to date."""

import json
import shutil
import subprocess

from support import MATRIX, PACKAGE, ProjectCase
from workflow import parse


def files(folder):
    return {str(file.relative_to(folder)): file.read_bytes() for file in folder.rglob("*") if file.is_file()}


class InitCase(ProjectCase):
    def test_a_package_gets_its_first_cells(self):
        self.assertEqual(self.matrix("init")[0], 2, "no package is there")
        (self.project / "Package.swift").touch()
        (self.project / ".gitignore").write_text("/.build")
        code, said = self.matrix("init")
        self.assertEqual((self.project / ".gitignore").read_text(), "/.build\n.ci/\n")
        self.assertEqual((code, said), (0, f"""added .ci/ to .gitignore
wrote .github/workflows/ci.yml
wrote ci/cells.toml
wrote ci/matrix.pyz
next: {self.project}/ci/matrix.pyz run
"""))
        code, said = self.matrix("list", "-l", "full")
        self.assertEqual((code, [line.split()[0] for line in said.splitlines()]), (0, ["debug", "release", "tsan", "asan", "coverage"]))
        from matrixlib.cells import load
        self.assertEqual({cell.retries for cell in load(self.project).cells if cell.id == "coverage"}, {0}, "the profile would be of the retried alone")

    def test_begun_anew_it_leaves_the_cells_and_brings_the_rest_up_to_date(self):
        (self.project / "Package.swift").touch()
        self.matrix("init")
        before = files(self.project)
        self.assertEqual(self.matrix("init")[1].splitlines()[:2], ["kept .github/workflows/ci.yml", "kept ci/matrix.pyz"])
        workflow, cells = self.project / ".github/workflows/ci.yml", self.project / "ci/cells.toml"
        workflow.write_text("\n".join(line for line in workflow.read_text().splitlines() if "cache" not in line) + "\n")
        self.assertIn("updated .github/workflows/ci.yml\n", self.matrix("init")[1])
        self.assertEqual(files(self.project), before)
        cells.write_text("# mine\n" + cells.read_text())
        self.assertEqual(self.matrix("init")[0], 0)
        self.assertTrue(cells.read_text().startswith("# mine\n"))

    def test_a_package_without_tests_has_cells_that_only_build(self):
        (self.project / "Package.swift").touch()
        self.program("swift", """#!/bin/sh
echo '{"targets": [{"type": "library"}]}'
""")
        self.matrix("init")
        self.assertEqual(self.matrix("run", "-l", "full")[1].splitlines()[-1], "2 passed, 0 failed, 0 skipped")

    def test_a_package_with_a_configuration_of_its_format_has_a_cell_for_it(self):
        (self.project / "Package.swift").touch()
        (self.project / ".swift-format").write_text("{}")
        self.matrix("init")
        self.assertEqual(self.matrix("list", "-l", "smoke")[1].split()[0], "format")

    def test_the_workflow_of_a_package_in_a_larger_repository_lies_where_it_is_looked_for(self):
        subprocess.run(["git", "init", "-q", str(self.project)], check=True)
        package, home = self.project / "packages/lib", self.project
        package.mkdir(parents=True)
        (package / "Package.swift").touch()
        code, said = self.matrix("init", "--project", str(package))
        self.assertEqual(code, 0, said)
        self.assertIn("wrote ../../.github/workflows/ci-packages-lib.yml", said)
        text = (home / ".github/workflows/ci-packages-lib.yml").read_text()
        self.assertIn("  MATRIX: python3 packages/lib/ci/matrix.pyz\n", text)
        self.assertIn("\nname: CI packages/lib\n", text)
        for words in ("\n            packages/lib/.ci/logs\n", " packages/lib/.ci/cells/*/build\n", "hashFiles('packages/lib/**/Package*.swift', 'packages/lib/**/Package.resolved')", '"MATRIX=python3.11 packages/lib/ci/matrix.pyz"'):
            self.assertIn(words, text)
        self.assertFalse((package / ".github").exists())
        for name in ("a b", "-x", "größer"):
            (self.project / name).mkdir()
            (self.project / name / "Package.swift").touch()
            self.assertEqual(self.matrix("init", "--project", str(self.project / name)), (2, (
                f"matrix: the workflow could not name the folder '{name}': ASCII letters, digits and ._-/ are what it may have, and no - comes first\n")))

    def test_what_can_not_be_written_leaves_no_part_and_is_begun_anew(self):
        (self.project / "Package.swift").touch()
        (self.project / ".gitignore").write_bytes(b"# f\xfcr\n")
        (self.project / ".github").touch()
        self.assertEqual(self.matrix("init")[0], 4)
        (self.project / ".github").unlink()
        self.assertEqual(self.matrix("init")[0], 0)
        self.assertEqual((self.project / ".gitignore").read_bytes(), b"# f\xfcr\n.ci/\n")

    def test_a_repository_that_git_does_not_read_is_one(self):
        (self.project / "package").mkdir()
        (self.project / "package/Package.swift").touch()
        (self.project / ".git").write_text("gitdir: gone\n")
        code, said = self.matrix("init", "--project", str(self.project / "package"))
        self.assertEqual((code, said.count("\n")), (2, 1), said)
        self.assertRegex(said, "git can't say which repository .*/package is in: fatal: not a git repository: .*gone")
        self.assertFalse((self.project / "package/.github").exists())

    def test_a_workflow_that_a_package_has_already_stays(self):
        (self.project / "Package.swift").touch()
        workflows = self.project / ".github/workflows"
        workflows.mkdir(parents=True)
        (workflows / "ci.yaml").write_text("name: CI\n")
        said = self.matrix("init")[1]
        self.assertIn("wrote .github/workflows/matrix.yml\n", said)
        self.assertIn("left .github/workflows/ci.yaml alone, which init didn't write\n", said)
        found = parse((workflows / "matrix.yml").read_text())
        self.assertEqual((found["name"], found["jobs"]["report"]["name"]), ("CI matrix", "CI matrix passed"))
        self.assertNotIn("github.workflow }", found["concurrency"]["group"], "it would end, or wait for, another workflow of this name")
        for name in ("ci/cells.toml", ".github/workflows/ci.yaml", ".github/workflows/matrix.yml"):
            (self.project / name).unlink()
        (workflows / "ci.yml").write_text("name: Mine\nenv:\n  MATRIX: python3 ci/matrix.pyz\n")
        code, said = self.matrix("init")
        self.assertIn("wrote .github/workflows/matrix.yml\n", said)
        self.assertTrue((workflows / "ci.yml").read_text().startswith("name: Mine\n"))
        self.assertIn("$MATRIX github", (workflows / "matrix.yml").read_text())
        self.assertIn("kept .github/workflows/matrix.yml\n", self.matrix("init")[1])

    def test_the_format_cell_reads_sources_wherever_they_lie(self):
        for name in ("Package.swift", "App/Main.swift", "a b/C.swift", ".build/D.swift"):
            (self.project / name).parent.mkdir(exist_ok=True)
            (self.project / name).touch()
        (self.project / ".swift-format").write_text("{}")
        self.program("swift", f"#!/bin/sh\nprintf '%s\\n' \"$@\" > {self.project}/asked\n")
        self.matrix("init")
        self.assertEqual(self.matrix("run", "format")[0], 0)
        asked = (self.project / "asked").read_text().splitlines()
        self.assertEqual((asked[:3], sorted(asked[3:])), (["format", "lint", "--strict"], ["./App/Main.swift", "./a b/C.swift"]))

    def test_each_package_of_a_larger_repository_has_a_workflow_of_its_own(self):
        subprocess.run(["git", "init", "-q", str(self.project)], check=True)
        for name in (".", "one", "two", "three"):
            (self.project / name).mkdir(exist_ok=True)
            (self.project / name / "Package.swift").touch()
            code, said = self.matrix("init", "--project", str(self.project / name))
            self.assertEqual(code, 0, said)
        files = {file.name: parse(file.read_text()) for file in (self.project / ".github/workflows").iterdir()}
        self.assertEqual(sorted(files), ["ci-one.yml", "ci-three.yml", "ci-two.yml", "ci.yml"])
        self.assertEqual(sorted(workflow["name"] for workflow in files.values()), ["CI", "CI one", "CI three", "CI two"])
        names = [name for workflow in files.values() for name in {job["name"] for job in workflow["jobs"].values()}]
        self.assertEqual(len(names), len(set(names)), names)

    def test_a_folder_of_packages_has_one_workflow(self):
        for name in ("Lib", "libs/other", "bare", "Lib/Examples", ".hidden"):
            (self.project / name).mkdir(parents=True)
            (self.project / name / "Package.swift").touch()
        self.program("swift", """#!/bin/sh
echo "$@" >> %s/ran
case "$*" in
*bare*describe*) echo '{"targets": [{"type": "library"}]}' ;;
*tools-version*) [ "$PWD" = %s/Lib ] || [ "$PWD" = %s/libs/other ] && echo 5.8.0 ;;
*describe*) echo '{"targets": [{"type": "test"}]}' ;;
*test*) printf "Test Suite 'All tests' started at 1\\nTest Case 'A.b' started at 1\\nTest Case 'A.b' passed (0.1 seconds)\\nTest Suite 'All tests' passed at 1\\n" ;;
esac
""" % ((self.project,) * 3))
        code, said = self.matrix("init")
        self.assertEqual(code, 0, said)
        self.assertEqual([*self.project.rglob("*.yml")], [self.project / ".github/workflows/ci.yml"])
        code, said = self.matrix("run", "-l", "full")
        names = [f"{cell}-{package}" for cell in ("debug", "release", "tsan", "asan") for package in ("lib", "libs-other")]
        self.assertEqual({name: status for name, status in self.statuses().items() if "coverage" not in name}, dict.fromkeys([*names, "build-bare"], "passed"), said)
        ran = (self.project / "ran").read_text()
        self.assertIn("build --package-path libs/other --build-tests -Xswiftc -index-ignore-system-modules --sanitize=thread\n", ran)
        self.assertIn("build --package-path bare --build-tests -Xswiftc -index-ignore-system-modules\n", ran)
        self.assertNotIn("test --package-path bare", ran)

    def test_an_image_without_apt_or_with_an_older_python_gets_what_is_missing(self):
        (step,) = (step["run"] for step in self.workflow()["jobs"]["cells"]["steps"] if "recent" in step.get("run", ""))
        for number, (there, asked) in enumerate((("apt-get", "git python3 python3.11"), ("dnf", "git python3 python3.11"), ("yum", "git python3 python3.11"))):
            programs, log = self.project / f"image{number}", self.project / f"asked{number}"
            programs.mkdir()
            for name, text in ((there, f'for word; do case $word in -* | install | update) ;; *) echo $word >> {log} ;; esac; done'), ("python3", "exit 1")):
                (programs / name).write_text(f"#!/bin/sh\n{text}\n")
                (programs / name).chmod(0o755)
            done = subprocess.run(["/bin/sh", "-e", "-c", step], env={"PATH": str(programs), "GITHUB_ENV": str(self.project / "env")}, capture_output=True, text=True)
            self.assertEqual((done.returncode, log.read_text().split()), (0, asked.split()), done.stderr)
        self.assertEqual((self.project / "env").read_text(), "MATRIX=python3.11 ci/matrix.pyz\n" * 3)

    def test_workflows_of_others_are_not_told_to_be_run(self):
        (self.project / "Package.swift").touch()
        (self.project / ".github/workflows").mkdir(parents=True)
        for name in ("ci.yml", "matrix.yml"):
            (self.project / ".github/workflows" / name).touch()
        self.assertEqual(self.matrix("init"), (2, "matrix: already there: .github/workflows/matrix.yml; move it away and begin anew\n"))

    def test_the_workflow_runs_each_change_once_at_one_commit_and_ends_in_one_job(self):
        workflow = self.workflow()
        self.assertEqual(workflow["on"], {"push": {"branches": ["main", "master"]}, "pull_request": "", "merge_group": ""})
        self.assertIn("cancel-in-progress", workflow["concurrency"])
        self.assertEqual(workflow["env"], {"MATRIX": "python3 ci/matrix.pyz"}, "what runs is in the repository, and in each fork of it")
        jobs = workflow["jobs"]
        self.assertEqual([job for job in jobs if "timeout-minutes" not in jobs[job]], [])
        (checkout,) = (step for step in jobs["cells"]["steps"] if "checkout" in step.get("uses", ""))
        self.assertEqual(checkout["with"], {"fetch-depth": "${{ matrix.depth }}"})
        self.assertEqual((jobs["report"]["name"], jobs["report"]["needs"]), ("CI passed", ["plan", "cells", "then"]))
        self.assertEqual(jobs["cells"]["steps"][-1]["with"]["path"].split(), ["results.json", ".ci/logs", ".ci/results/junit.xml"])

    def test_the_workflow_passes_where_no_cell_is_for_each_commit_and_fails_without_a_plan(self):
        jobs = self.workflow()["jobs"]
        for label, planned in (("nightly", []), ("full", ["a"])):
            self.cells(f"[[cell]]\nid = 'a'\nwhat = 'b'\nrun = 'true'\nlabels = ['{label}']\n")
            self.hosted(jobs["plan"]["steps"][-1])
            matrix = (self.project / "output").read_text().removeprefix("matrix=")
            self.assertEqual([job["job"] for job in json.loads(matrix)["include"]], planned)
            self.assertEqual(self.hosted(jobs["report"]["steps"][-1], JOBS=matrix), 1 if planned else 0)
            (self.project / "output").unlink()
        self.assertEqual(self.hosted(jobs["report"]["steps"][-1], JOBS=""), 1)

    def workflow(self):
        (self.project / "Package.swift").touch()
        self.matrix("init")
        return parse((self.project / ".github/workflows/ci.yml").read_text())

    def hosted(self, step, **values):
        """Returns the status of a step of the workflow, run as on a runner, but with this ci/matrix."""
        places = {"GITHUB_OUTPUT": str(self.project / "output"), "GITHUB_STEP_SUMMARY": str(self.project / "summary")}
        return subprocess.run(
            ["bash", "-e", "-c", step["run"]], cwd=self.project, capture_output=True,
            env=self.environment(CI="true", MATRIX=f"{MATRIX} --project .", **places, **values)).returncode

    def test_a_format_of_a_folder_above_counts_up_to_the_repository(self):
        for above, there in ((".", False), ("repo", True), ("repo/packages", True)):
            package = self.project / "repo/packages/lib"
            package.mkdir(parents=True)
            subprocess.run(["git", "init", "-q", str(self.project / "repo")], check=True)
            (package / "Package.swift").touch()
            (self.project / above / ".swift-format").touch()
            self.matrix("init", "--project", str(package))
            self.assertEqual('id = "format"' in (package / "ci/cells.toml").read_text(), there, above)
            (self.project / above / ".swift-format").unlink()
            shutil.rmtree(self.project / "repo")

    def test_the_first_cells_say_what_commands_may_have(self):
        from matrixlib.cells import OF_VALUES, PLACEHOLDERS
        head = (PACKAGE / "first/cells.toml").read_text().partition("[axes]")[0]
        for name in [f"{{{name}}}" for name in PLACEHOLDERS | OF_VALUES] + ["$CI_METRICS"]:
            self.assertIn(name, head)
