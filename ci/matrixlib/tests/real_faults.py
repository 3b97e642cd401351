"""Tests faults in a real package: what Swift and its tools say about them is read correctly."""

import json
import os
import subprocess

from support import ROOT, ProjectCase, environment, last_line, living

MANIFEST = """// swift-tools-version:6.1
import PackageDescription
let package = Package(
    name: "Made", products: [.library(name: "Made", targets: ["Made"])],
    targets: [.target(name: "Made"), .testTarget(name: "MadeTests", dependencies: ["Made"])])
"""
# Has the names of the project's libraries, which the project's own checks ask for.
LIBRARIES = """// swift-tools-version:6.1
import PackageDescription
let package = Package(
    name: "Made", products: [.library(name: "PusherChannels", targets: ["PusherChannels"]), .library(name: "TestSupport", targets: ["TestSupport"])],
    targets: [.target(name: "PusherChannels"), .target(name: "TestSupport", path: "TestSupport")])
"""
LIBRARY = "/// One more.\npublic func next(_ number: Int) -> Int { number + 1 }\n"
TESTS = "import Foundation\nimport Made\nimport Testing\n\n@Test func passes() { #expect(next(1) == 2) }\n"
CELLS = """
[step.build]
kind = "build"
run = "swift build --build-tests {flags}"
[step.test]
kind = "test"
run = "swift test --skip-build {flags} {report} {tests}"
timeout = 120
[[cell]]
id = "plain"
what = "tests"
steps = ["build", "test"]
[[cell]]
id = "hasty"
what = "tests with little time"
build = "plain"
steps = ["build", { use = "test", timeout = 20 }]
[[cell]]
id = "tsan"
what = "tests with the thread sanitizer"
flags = ["--sanitize=thread"]
steps = ["build", "test"]
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


class FaultCase(ProjectCase):
    def environment(self, **values):
        return environment(**values)  # with the real Swift

    def setUp(self):
        super().setUp()
        self.cells(CELLS.replace("ROOT", str(ROOT)))
        self.write("Package.swift", MANIFEST)
        self.write("Sources/Made/Made.swift", LIBRARY)
        self.write("Tests/MadeTests/MadeTests.swift", TESTS)

    def write(self, name, text):
        file = self.project / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text)

    def ran_with(self, test, cell="plain", library=""):
        self.write("Tests/MadeTests/MadeTests.swift", TESTS + test)
        self.write("Sources/Made/Made.swift", LIBRARY + library)
        return self.run_cell(cell)

    def run_cell(self, *arguments, **values):
        code, self.said = self.matrix("run", *arguments, **values)
        return code, last_line(self.said)


class RealFaults(FaultCase):
    def test_none_then_a_failing_test_then_a_compile_error(self):
        """Runs them one after the other in one folder: each run after a fault works."""
        self.assertEqual(self.ran_with(""), (0, "1 passed, 0 failed, 0 skipped"), self.said)
        self.assertIn("1 test\n", self.said)
        self.assertEqual(self.ran_with("@Test func fails() { #expect(next(1) == 3) }\n"), (1, "0 passed, 1 failed, 0 skipped"), self.said)
        self.assertIn("test: failed 3 times: MadeTests.fails()", self.said)
        self.assertRegex(self.said, r"MadeTests\.fails\(\) at .*/MadeTests\.swift:6\n.*Expectation failed: .*next\(1\).* == 3")
        self.assertEqual(self.ran_with("", library="let wrong: Int = \"text\"\n"), (3, "0 passed, 1 failed, 0 skipped"), self.said)
        self.assertRegex(self.said, r"build: does not compile: .*Made\.swift:3: cannot convert value")

    def test_flaky(self):
        self.assertEqual(self.ran_with(self.fails_once("failsOnce")), (0, "0 passed, 0 failed, 0 skipped, 1 flaky"), self.said)
        self.assertIn("1 flaky: plain", self.said)
        self.assertIn("Expectation failed: there", self.said)
        (line,) = (self.project / ".ci/flakes.jsonl").read_text().splitlines()
        self.assertEqual(json.loads(line)["test"], "MadeTests.failsOnce()")

    def fails_once(self, name):
        marker = self.project / name
        return f"""
@Test func {name}() throws {{
    let there = FileManager.default.fileExists(atPath: "{marker}")
    try Data().write(to: URL(fileURLWithPath: "{marker}"))
    #expect(there)
}}
"""

    def test_a_failure_that_lasts_beside_a_test_that_passes_alone(self):
        ends_with_3 = self.fails_once("one") + "@Test func endsWith3() { atexit { _exit(3) } }\n"
        self.assertEqual(self.ran_with(ends_with_3), (1, "0 passed, 1 failed, 0 skipped"), self.said)
        self.assertIn("test: failed: MadeTests.one(), which passed alone; all tests again: exit 1\n", self.said)
        in_order = """
nonisolated(unsafe) private var ran = false
@Suite(.serialized) struct Ordered {
    @Test func a() { ran = true }
    @Test func b() { #expect(!ran) }
}
"""
        self.assertEqual(self.ran_with(in_order), (1, "0 passed, 1 failed, 0 skipped"), self.said)
        self.assertIn("which passed alone; all tests again: failed: MadeTests.Ordered/b()\n", self.said)

    def test_tests_that_never_run(self):
        self.write("Tests/MadeTests/Old.swift", """import XCTest
final class First: XCTestCase {
    override class func tearDown() { exit(0) }
    func testA() {}
}
final class Second: XCTestCase { func testB() {} }
""")
        self.assertEqual(self.ran_with(""), (1, "0 passed, 1 failed, 0 skipped"), self.said)
        self.assertIn("test: XCTest did not run to its end, so tests may be missing; exit 0\n", self.said)
        self.write("Tests/MadeTests/Old.swift", "import XCTest\nfinal class First: XCTestCase { func testA() {} }\n")
        early = "struct Early: TestTrait { init() { exit(0) } }\n@Test(Early()) func early() {}\n"
        self.assertEqual(self.ran_with(early), (1, "0 passed, 1 failed, 0 skipped"), self.said)
        self.assertRegex(self.said, "test: Swift Testing (reported nothing|did not run to its end).*; exit 0\n")  # It may have begun a report.
        self.assertEqual(self.ran_with(""), (0, "1 passed, 0 failed, 0 skipped"), self.said)

    def test_crash_and_hang(self):
        crash = "@Suite struct Group { @Test func traps() { let none: [Int] = []; print(none[next(0)]) } }\n"
        self.assertEqual(self.ran_with(crash), (1, "0 passed, 1 failed, 0 skipped"), self.said)
        self.assertRegex(self.said, r"test: crashed(; running:| in) MadeTests\.Group/traps\(\)")
        self.assertIn("Fatal error: Index out of range", self.said)
        self.assertIn("running when its process ended", (self.project / ".ci/results/junit.xml").read_text())
        pids = self.project / "pids"
        hang = f"""
@Test func hangs() throws {{
    let child = Process()
    child.executableURL = URL(fileURLWithPath: "/bin/sleep")
    child.arguments = ["1000"]
    try child.run()
    try Data("\\(ProcessInfo.processInfo.processIdentifier) \\(child.processIdentifier)\\n".utf8).write(to: URL(fileURLWithPath: "{pids}"))
    while true {{ sleep(1) }}
}}
"""
        self.assertEqual(self.ran_with(hang, "hasty"), (124, "0 passed, 1 failed, 0 skipped"), self.said)
        self.assertIn("not finished within 20 s; running: MadeTests.hangs()", self.said)
        self.assertEqual([pid for pid in map(int, pids.read_text().split()) if living(pid)], [])
        self.assertEqual(self.ran_with(""), (0, "1 passed, 0 failed, 0 skipped"), self.said)

    def test_data_race(self):
        race = """
final class Counter: @unchecked Sendable { var count = 0 }
@Test func races() {
    let counter = Counter()
    let done = DispatchSemaphore(value: 0)
    let threads = (0..<2).map { _ in Thread { counter.count += 1; done.signal() } }
    for thread in threads { thread.start() }
    for _ in threads { done.wait() }
    #expect(counter.count > 0)
}
"""
        self.assertEqual(self.ran_with(race, "tsan"), (1, "0 passed, 1 failed, 0 skipped"), self.said)
        self.assertRegex(self.said, r"test: a data race at Tests/MadeTests/\w+\.swift:\d+")
        self.assertRegex(self.said, r"\| WARNING: ThreadSanitizer: .*race")
        self.assertEqual(self.ran_with("", "tsan"), (0, "1 passed, 0 failed, 0 skipped"), self.said)

    def test_leak(self):
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

    def test_missing_requirement(self):
        self.cells('[[cell]]\nid = "a"\nwhat = "b"\nrequires = ["swift-sdk:of-nowhere"]\nsteps = [{ run = "swift build", kind = "build" }]\n')
        self.assertEqual(self.run_cell("a"), (5, "0 passed, 0 failed, 1 skipped"), self.said)
        self.assertEqual(self.run_cell("a", CI="1"), (4, "0 passed, 1 failed, 0 skipped"), self.said)
        self.assertIn("needs a Swift SDK for of-nowhere", self.said)


class ProjectFaults(FaultCase):
    """Tests faults in copies of the project's parts, which its own checks find."""

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

    def test_a_fresh_package_has_cells_that_pass(self):
        """Runs what `swift package init` and `ci/matrix init` write, without any edit, and before there is a repository."""
        self.project /= "a fresh one"
        self.project.mkdir()
        subprocess.run(["swift", "package", "init", "--name", "Fresh"], cwd=self.project, check=True, capture_output=True)
        code, said = self.matrix("init")
        self.assertEqual(code, 0, said)
        code, said = self.matrix("run", "-l", "full")
        self.assertEqual((code, last_line(said)), (0, "6 passed, 0 failed, 0 skipped"), said)

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
