"""Tests faults in copies of the project's parts, which its own checks find."""

import os
import subprocess

from own import ROOT
from real_faults import CELLS, LIBRARY, FaultCase

# Has the names of the project's libraries, which the project's own checks ask for.
LIBRARIES = """// swift-tools-version:6.1
import PackageDescription
let package = Package(
    name: "Made", products: [.library(name: "PusherChannels", targets: ["PusherChannels"]), .library(name: "TestSupport", targets: ["TestSupport"])],
    targets: [.target(name: "PusherChannels"), .target(name: "TestSupport", path: "TestSupport")])
"""
ASAN = """
[[cell]]
id = "asan"
what = "tests with the address sanitizer"
flags = ["--sanitize=address"]
env = { ASAN_OPTIONS = "detect_leaks=1:exitcode=0:log_path={project}/.ci/cells/asan/reports/report" }
steps = [
    "build",
    { name = "folder", kind = "setup", run = "rm -rf {folder}/reports && mkdir -p {folder}/reports" },
    { use = "test", tests = "--disable-xctest" },
    { name = "leaks", run = "ROOT/ci/tools/leaks {folder}/reports" },
]
"""


class ProjectFaults(FaultCase):
    def copy(self, *parts):
        for part in parts:
            target = self.project / part
            target.parent.mkdir(parents=True, exist_ok=True)
            subprocess.run(["cp", "-R", ROOT / part, target], check=True)

    def git(self, *arguments):
        identity = ["-c", "user.name=Ann", "-c", "user.email=ann@example.com", "-c", "commit.gpgsign=false", "-c", "tag.gpgsign=false"]
        subprocess.run(["git", *identity, *arguments], cwd=self.project, check=True, capture_output=True)

    def libraries(self, client):
        self.write("Package.swift", LIBRARIES)
        self.write("Sources/PusherChannels/Made.swift", client)
        self.write("TestSupport/Made.swift", LIBRARY)
        self.write("Sources/PusherChannels/Support/LibraryVersion.swift", 'let libraryVersion = "1.0.1"\n')

    def test_api_break(self):
        self.libraries(LIBRARY)
        self.copy("ci/tools/api-breakage")
        self.cells('[[cell]]\nid = "api"\nwhat = "b"\nrequires = ["git-tag"]\nrun = "ci/tools/api-breakage"\n')
        self.git("init", "-q")
        self.git("add", "Package.swift", "Sources/PusherChannels", "TestSupport")
        self.git("commit", "-qm", "One")
        self.assertEqual(self.run_cell("api"), (5, "0 passed, 0 failed, 1 skipped"), self.said)
        self.assertIn("there is no tag to compare with yet", self.said)
        self.git("tag", "1.0.0")
        self.assertEqual(self.run_cell("api"), (0, "1 passed, 0 failed, 0 skipped"), self.said)
        for file in ("Sources/PusherChannels/Made.swift", "TestSupport/Made.swift"):
            self.write(file, LIBRARY.replace("next", "following"))
            self.assertEqual(self.run_cell("api"), (1, "0 passed, 1 failed, 0 skipped"), self.said)
            self.assertRegex(self.said, r"next\(_:\) has been removed|has been renamed to .*following")
            self.write(file, LIBRARY)

    def test_undocumented_public_symbol(self):
        """Checks the symbols of a small library with the name of a real one."""
        self.libraries(LIBRARY + "public struct Silent { public var word = 1 }\n")
        self.copy("ci/docs")
        steps = '{ run = "ci/docs symbols {folder}/docs", kind = "build", name = "symbols" }, { run = "ci/docs documented {folder}/docs", name = "documented" }'
        self.cells(f'[[cell]]\nid = "docs"\nwhat = "b"\nsteps = [{steps}]\n')
        self.assertEqual(self.run_cell("docs"), (1, "0 passed, 1 failed, 0 skipped"), self.said)
        for name in ("Silent", "Silent.word"):
            self.assertIn(f"Sources/PusherChannels/Made.swift:3: error: no doc comment: {name}\n", self.said)
        self.assertNotIn("next", self.said)

    def test_upward_import(self):
        """Checks the project's layers, where a low one uses an upper one and has an import that isn't allowed."""
        self.copy("ci/checks/layers", "Sources/PusherChannels")
        (self.project / "bin").mkdir(exist_ok=True)
        # The check looks for the layers' dependencies where the project built them; the layer tested here needs none.
        self.write("modules/Modules/none", "")
        self.program("swift", f"#!/bin/sh\necho {self.project}/modules\n")
        self.write("Sources/PusherChannels/Wire/Upward.swift", "import Foundation\nlet upward: ConnectionMachine? = nil\n")
        self.cells('[[cell]]\nid = "layers"\nwhat = "b"\nrun = "ci/checks/layers"\n')
        path = f"{self.programs}:{os.environ['PATH']}"
        self.assertEqual(self.run_cell("layers", PATH=path), (1, "0 passed, 1 failed, 0 skipped"), self.said)
        self.assertRegex(self.said, r"Wire/Upward\.swift:2:.*cannot find type 'ConnectionMachine' in scope")
        log = (self.project / ".ci/logs/layers/layers.log").read_text()
        self.assertIn("Sources/PusherChannels/Wire/Upward.swift: Wire may not import Foundation", log)

    def test_leak(self):
        self.cells(CELLS + ASAN.replace("ROOT", str(ROOT)))
        leak = """
final class Node { var other: Node? }
@Test func leaks() {
    for _ in 0..<100 { let (one, two) = (Node(), Node()); one.other = two; two.other = one }
}
"""
        self.assertEqual(self.ran_with(leak, "asan"), (1, "0 passed, 1 failed, 0 skipped"), self.said)
        self.assertIn("leaks: a leak", self.said)
        self.assertRegex(self.said, r"in leaks\(\) .*MadeTests\.swift:9:")
        self.assertEqual(self.ran_with("", "asan"), (0, "1 passed, 0 failed, 0 skipped"), self.said)
