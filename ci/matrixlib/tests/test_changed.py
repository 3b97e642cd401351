"""Tests what `--changed` takes for a change: everything that a cell's result depends on, and everything that can't be known."""

import os
import pathlib
import shutil
import subprocess
import tempfile
import time
import tracemalloc
import unittest

from support import ProjectCase
from test_run import cell
from test_tests import CELL

AS_SOMEBODY = ["git", "-c", "user.name=nobody", "-c", "user.email=nobody@example.com", "-c", "protocol.file.allow=always"]


class ChangingCase(ProjectCase):
    def setUp(self):
        super().setUp()
        self.git("init", "-q")
        (self.project / ".gitignore").write_text(".ci/\nPackage.resolved\nbeside/\nthere\n")
        self.cells(cell("a"))

    def git(self, *arguments, folder="."):
        subprocess.run([*AS_SOMEBODY, *arguments], cwd=self.project / folder, check=True, capture_output=True)

    def ran(self):
        """Runs the cell; returns its status."""
        code, said = self.matrix("run", "a", "--changed")
        self.assertEqual(code, 0, said)
        return self.statuses()["a"]

    def assert_counts(self, name):
        """Asserts that another content of this file makes the cell run again, but only once."""
        self.ran()
        self.assertEqual(self.ran(), "unchanged")
        (self.project / name).write_text(f"another than {time.monotonic()}\n")
        self.assertEqual([self.ran(), self.ran()], ["passed", "unchanged"])

    def repository(self, name):
        """Makes a separate repository with a file."""
        (self.project / name).mkdir()
        (self.project / name / "A.swift").touch()
        self.git("init", "-q", folder=name)
        self.git("add", ".", folder=name)
        self.git("commit", "-qm", "x", folder=name)


class ChangedCase(ChangingCase):
    def test_what_is_unchanged_keeps_what_its_last_run_said(self):
        self.cells(CELL.format(retries=0, timeout=30) + cell("b"))
        tests = {"FAKE_TESTS": "one=pass two=pass"}
        self.matrix("run", "a", **tests)
        ran = self.results()[0]
        self.matrix("run", "b", **tests)
        code, said = self.matrix("run", "*", "--changed", **tests)
        self.assertEqual((code, self.statuses()), (0, {"a": "unchanged", "b": "unchanged"}), said)
        self.assertEqual([self.results()[0][key] for key in ("steps", "seconds")], [ran[key] for key in ("steps", "seconds")])
        self.assertIn('name="two()"', (self.project / ".ci/results/junit.xml").read_text())
        self.assertRegex(self.matrix("report")[1], r"\| a \| unchanged \| \d:\d\d \| 2 \|")
        self.assertNotIn("::group::", self.matrix("run", "a", "--changed", GITHUB_ACTIONS="true", **tests)[1])
        (self.project / ".ci/logs/a/result.json").unlink()
        self.assertEqual(self.matrix("run", "a", "--changed", **tests)[0], 0)
        self.assertEqual((self.statuses(), self.results()[0]["steps"]), ({"a": "unchanged"}, []))

    def test_a_file_that_can_not_be_read_stops_no_run(self):
        (self.project / "memory").symlink_to("/proc/self/mem")
        self.assertEqual([self.ran(), self.ran()], ["passed", "unchanged"])

    def test_large_files_are_read_in_pieces(self):
        from matrixlib.inputs import files
        with (self.project / "large").open("wb") as file:
            file.truncate(64 << 20)
        tracemalloc.start()
        self.addCleanup(tracemalloc.stop)
        self.assertIn("large", files(str(self.project)))
        self.assertLess(tracemalloc.get_traced_memory()[1], 8 << 20)

    def test_a_script_that_no_longer_runs_has_changed(self):
        script = self.project / "script"
        script.touch(0o755)
        self.assertEqual([self.ran(), self.ran()], ["passed", "unchanged"])
        script.chmod(0o644)
        self.assertEqual([self.ran(), self.ran()], ["passed", "unchanged"])

    def test_a_link_that_leads_elsewhere_has_changed(self):
        for name in ("one", "two"):
            (self.project / name).mkdir()
        (self.project / "link").symlink_to("one")
        self.assertEqual([self.ran(), self.ran()], ["passed", "unchanged"])
        (self.project / "link").unlink()
        (self.project / "link").symlink_to("two")
        self.assertEqual([self.ran(), self.ran()], ["passed", "unchanged"])

    def test_a_cell_whose_files_are_not_there_has_changed(self):
        (self.project / "A.swift").touch()
        for globs, expected in ((["*.swift"], "unchanged"), (["*.swfit"], "passed"), (["*.swift", "*.swfit"], "passed")):
            self.cells(cell("a", inputs=globs))
            self.assertEqual([self.ran(), self.ran()], ["passed", expected], globs)

    def test_globs_go_down_into_folders_and_up_to_none(self):
        (self.project / "Sources/A").mkdir(parents=True)
        for name in ("Sources/a.swift", "Sources/A/b.swift"):
            (self.project / name).touch()
        for glob in ("Sources/**/*.swift", "Sources/", "**/*.swift"):
            self.cells(cell("a", inputs=[glob]))
            for name in ("Sources/a.swift", "Sources/A/b.swift"):
                (self.project / name).write_text(glob)
                self.assertEqual([self.ran(), self.ran()], ["passed", "unchanged"], (glob, name))

    def test_it_says_which_glob_fits_nothing(self):
        self.cells(cell("a", inputs=["Sourecs/*"]))
        self.assertIn("a: no file below the project's folder fits 'Sourecs/*' of its inputs", self.matrix("run", "a", "--changed")[1])

    def test_the_packages_that_a_first_build_resolves_are_no_change(self):
        self.cells(cell("a", "echo 1 > Package.resolved"))
        self.assertEqual([self.ran(), self.ran()], ["passed", "unchanged"])
        (self.project / "Package.resolved").write_text("2")
        self.assertEqual(self.ran(), "passed", "other packages")

    def test_what_a_run_writes_is_no_change(self):
        (self.project / ".gitignore").write_text("")
        report = str(self.project / "report.json")
        for expected in ("passed", "unchanged", "unchanged"):
            self.matrix("run", "a", "--changed", "--report", report)
            self.assertEqual(self.statuses()["a"], expected)

    def test_versions_of_packages_count_though_git_ignores_them(self):
        self.assert_counts("Package.resolved")
        (self.project / "nested").mkdir()
        (self.project / "nested/Package.swift").touch()
        self.assert_counts("nested/Package.resolved")

    def test_what_is_in_a_submodule_counts(self):
        self.repository("beside")
        self.git("submodule", "add", str(self.project / "beside"), "sub")
        self.assert_counts("sub/A.swift")

    def test_the_format_that_a_folder_above_the_package_has_counts(self):
        self.project /= "Ex"
        (self.project / "ci").mkdir(parents=True)
        self.cells(cell("a"))
        for _ in range(2):
            self.assert_counts("../.swift-format")
        (self.project / "../.swift-format").unlink()
        self.assertEqual([self.ran(), self.ran()], ["passed", "unchanged"])

    def test_packages_of_the_system_count(self):
        self.program("dpkg-query", f"#!/bin/sh\ncat {self.project}/there\n")
        self.assert_counts("there")


@unittest.skipUnless(shutil.which("swift"), "there is no Swift")
class PackageCase(ChangingCase):
    """What a package is made of is asked of the real SwiftPM, since a manifest is a program."""

    def setUp(self):
        super().setUp()
        (self.programs / "swift").unlink()
        outside = tempfile.TemporaryDirectory(prefix="matrix-tests.")
        self.addCleanup(outside.cleanup)
        self.outside = pathlib.Path(os.path.realpath(outside.name))

    def package(self, folder, *dependencies, file="Package.swift", before="", targets=""):
        """Writes a manifest, with a package that it depends on in each expression."""
        (folder / "Sources/Made").mkdir(parents=True, exist_ok=True)
        (folder / "Sources/Made/Made.swift").touch()
        (folder / file).write_text(f"""// swift-tools-version:5.9
import PackageDescription
{before}
let package = Package(name: "Made", dependencies: [{', '.join(dependencies)}], targets: [.target(name: "Made"{targets})])
""")

    def test_packages_by_path_count_and_theirs(self):
        for name in ("beside", "beside/next"):
            self.repository(name)
        self.package(self.project, '.package(name: "b", path: "beside")', '.package(path: "gone")')
        self.package(self.project / "beside", '.package(url: "https://example.com/u", from: "1.0.0")', '.package(path: "next")', '.package(path: "..")')
        for name in ("beside/A.swift", "beside/next/A.swift", "beside/next/Package.resolved"):
            self.assert_counts(name)

    def test_a_package_by_path_counts_however_the_manifest_writes_it(self):
        self.repository("beside")
        self.package(self.project, ".package(path: place)", before='let place = "beside"')
        self.assert_counts("beside/A.swift")
        self.package(self.project, ".package( // beside :)\n path: \"beside\")")
        self.assert_counts("beside/A.swift")

    def test_a_manifest_for_one_version_of_swift_counts(self):
        self.repository("beside")
        self.package(self.project)
        self.package(self.project, '.package(path: "beside")', file="Package@swift-6.swift")
        self.assert_counts("beside/A.swift")

    def test_sources_behind_a_link_and_those_that_git_ignores_count(self):
        self.package(self.project, targets=', resources: [.copy("Texts")]')
        (self.outside / "B.swift").touch()
        subprocess.run(["git", "init", "-q", str(self.outside)], check=True)
        made = self.project / "Sources/Made"
        (made / "Linked").symlink_to(self.outside)
        (made / "Texts").mkdir()
        (self.project / ".gitignore").write_text(".ci/\nIgnored.swift\nTexts/\n")
        for name in ("Ignored.swift", "Texts/text"):
            (made / name).touch()
            self.assert_counts(f"Sources/Made/{name}")
        self.assert_counts(self.outside / "B.swift")

    def test_sources_of_packages_in_a_folder_that_is_none_count(self):
        self.package(self.project / "libs/one")
        (self.project / ".gitignore").write_text(".ci/\nIgnored.swift\n")
        (self.project / "libs/one/Sources/Made/Ignored.swift").touch()
        self.assert_counts("libs/one/Sources/Made/Ignored.swift")

    def test_headers_that_git_ignores_count(self):
        self.package(self.project)
        made = self.project / "Sources/Made"
        (made / "Made.swift").rename(made / "made.c")
        (made / "include").mkdir()
        (made / "include/made.h").touch()
        (self.project / ".gitignore").write_text(".ci/\n*.h\n")
        self.assert_counts("Sources/Made/include/made.h")

    def test_what_a_link_outside_of_the_sources_leads_to_counts(self):
        (self.project / "shared").symlink_to(self.outside)
        self.assertEqual([self.ran(), self.ran()], ["passed", "passed"], "git can't say what is there")
        subprocess.run(["git", "init", "-q", str(self.outside)], check=True)
        (self.outside / "text").touch()
        self.assert_counts(self.outside / "text")

    def test_a_package_that_neither_git_nor_swiftpm_can_describe_leaves_nothing_out(self):
        self.package(self.project, '.package(path: "/")')
        self.assertEqual([self.ran(), self.ran()], ["passed", "passed"])
        self.assertIn("this fails, which says what their files are: git -C / ls-files", self.matrix("run", "a", "--changed")[1])
        self.package(self.project, before="let wrong: Int = 1.5")
        self.assertEqual([self.ran(), self.ran()], ["passed", "passed"])
        self.assertIn(f"swift package --package-path {self.project} ", self.matrix("run", "a", "--changed")[1])

    def test_what_a_run_writes_is_no_change_of_a_package_by_path_around_it(self):
        (self.project / ".gitignore").unlink()
        self.project /= "Ex"
        (self.project / "ci").mkdir(parents=True)
        self.package(self.project, '.package(path: "..")')
        self.cells(cell("a"))
        self.assert_counts("../A.swift")
